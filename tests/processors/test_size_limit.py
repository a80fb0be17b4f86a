"""Promise: no event is larger than a broker takes, and a cut is made at a character and said (E24)."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.processors.normalize import Normalizer
from ingest.processors.size import cut_to_bytes, fit
from schemas.captured import RejectedRecord
from schemas.event import MAX_EVENT_BYTES, Attachment, Citation, Refs, encode
from tests.support.processors import again, captured, event, record_of


@pytest.mark.parametrize("piece", ["a", "é", "中", "🐾", '"', "\\", "\n", "\t", "a\u2028", "e\u0301"])
def test_a_text_of_megabytes_is_cut_at_a_character(piece: str) -> None:
    said = "words" + piece * (2_000_000 // len(piece))
    found = event(said)
    assert found.event.labels == ["truncated"]
    assert said.startswith(found.event.text)
    assert MAX_EVENT_BYTES - 8 <= len(encode(found)) <= MAX_EVENT_BYTES


def test_a_text_that_just_fits_is_left_whole() -> None:
    room = MAX_EVENT_BYTES - len(encode(event("", type="status", role="system", id="x")))
    whole = event("a" * room, type="status", role="system", id="x")
    assert len(encode(whole)) == MAX_EVENT_BYTES
    assert whole.event.labels == []
    assert event("a" * (room + 1), type="status", role="system", id="x").event.labels == ["truncated"]


@pytest.mark.parametrize(
    "members",
    [
        {"title": "t" * 2_000_000},
        {"author_id": "🐾" * 900_000},
        {"labels": [f"label-{n}" for n in range(200_000)]},
        {"labels": ["l" * 2_000_000]},
        {"refs": Refs(task_ids=[f"T-{n}" for n in range(200_000)])},
        {"attachments": [Attachment(kind="file", name="n" * 300, url="u" * 300)] * 5_000},
        {"attachments": [Attachment(kind="k" * 2_000_000)]},
        {"citations": [Citation(url="u" * 9_000, title="t", quote="🐾" * 9_000)] * 500},
    ],
)
def test_other_members_are_cut_where_the_text_cannot_pay(members: dict[str, object]) -> None:
    found = event("the words stay", **members)
    assert found.event.text == "the words stay"
    assert "truncated" in found.event.labels
    assert len(encode(found)) <= MAX_EVENT_BYTES


def test_an_event_whose_identity_alone_is_too_large_is_rejected() -> None:
    (outcome,) = Normalizer().events(record_of(captured("x"), thread_id="t" * 2_000_000))
    assert isinstance(outcome, RejectedRecord)
    assert outcome.reason == "invalid-event"
    assert len(msgspec.json.encode(outcome)) < 10_000


def test_cutting_again_changes_nothing() -> None:
    found = event("é" * 2_000_000)
    assert list(Normalizer().events(again(found))) == [found]


def test_references_of_the_cut_part_are_kept() -> None:
    found = event("a " * 1_000_000 + "TASK-LATE-1")
    assert found.event.refs == Refs(task_ids=["TASK-LATE-1"])


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.integers(250, 900))
def test_any_event_fits_any_limit_that_its_identity_leaves(text: str, limit: int) -> None:
    whole = event(text, type="status", role="system", id="x")
    found = fit(whole, limit)
    assert len(encode(found)) <= limit
    assert text.startswith(found.event.text) or found == whole


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 100))
def test_a_cut_is_the_longest_that_fits(text: str, room: int) -> None:
    cut = cut_to_bytes(text, room)
    assert text.startswith(cut)
    assert len(msgspec.json.encode(cut)) - 2 <= room
    assert cut == text or len(msgspec.json.encode(text[: len(cut) + 1])) - 2 > room
