"""Promise: each event id passes once, whatever is repeated, batched or changed (E45)."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from ingest.log.contract import Topic
from ingest.processors.deduplicate import id_key, id_keys
from ingest.processors.normalize import NormalizeProcessor
from schemas.event import decode
from schemas.ids import event_id
from tests.support.processors import NOON_MS, MemoryState, captured, captured_records, normalize_all, record_of, run

one_event = st.tuples(st.integers(0, 12), st.sampled_from(["a", "b"]))


@given(st.lists(st.lists(one_event, min_size=1, max_size=5), max_size=12), st.integers(1, 5))
def test_the_first_of_each_id_passes_in_any_batching(conversations: list[list[tuple[int, str]]], batch: int) -> None:
    records = captured_records(
        record_of(*(captured(text, id=event_id("x", number)) for number, text in conversation))
        for conversation in conversations
    )
    first: dict[str, str] = {}
    for conversation in conversations:
        for number, text in conversation:
            first.setdefault(event_id("x", number), text)
    passed = normalize_all(records, batch=batch)
    assert {found.event.id: found.event.text for found in passed} == first
    assert len(passed) == len(first)


def test_the_same_id_with_other_words_keeps_the_first_and_is_counted() -> None:
    processor, state = NormalizeProcessor(), MemoryState()
    records = captured_records(record_of(captured(text, id="x")) for text in ("kept", "other", "kept"))
    outputs = run(processor, records, state)
    assert [decode(output.value).event.text for output in outputs] == ["kept"]
    assert processor.counts() == {
        "seen": 3, "emitted": 1, "duplicate": 2, "conflicting": 1, "rejected": 0
    }  # fmt: skip


def test_a_cut_event_and_the_whole_one_do_not_conflict() -> None:
    processor, state = NormalizeProcessor(), MemoryState()
    run(processor, captured_records([record_of(captured("a" * 2_000_000, id="x"))]), state)
    run(processor, captured_records([record_of(captured("a" * 900_000, id="x"))]), state)
    assert processor.counts().get("conflicting", 0) == 0


def test_an_id_that_was_rejected_may_come_again() -> None:
    processor, state = NormalizeProcessor(), MemoryState()
    too_large = record_of(captured("x", id="x"), thread_id="t" * 2_000_000)
    outputs = run(processor, captured_records([too_large, record_of(captured("x", id="x"))]), state, batch=1)
    assert [output.topic for output in outputs] == [Topic.REJECTED, Topic.EVENTS]


def test_a_state_entry_is_the_time_and_a_digest_under_the_bytes_of_the_id() -> None:
    state, name = MemoryState(), event_id("x")
    run(NormalizeProcessor(), captured_records([record_of(captured("a", id=name))]), state)
    ((key, value),) = state.scan(b"", 10)
    assert key == uuid.UUID(name).bytes
    assert value[:8] == NOON_MS.to_bytes(8, "big")
    assert len(value) == 16


@given(st.uuids())
def test_a_uuid_is_its_own_key(name: uuid.UUID) -> None:
    assert id_key(str(name)) == name.bytes


@given(st.text(min_size=1), st.text(min_size=1))
def test_ids_of_other_forms_have_keys_of_their_own(one: str, other: str) -> None:
    assert len(id_key(one)) == 16
    assert (id_key(one) == id_key(other)) == (one == other)


NAME = "0b9af3c2-1a5e-5f0c-9d4e-2f9f5e3b7aaa"
FORMS = [
    NAME,
    NAME.upper(),
    NAME.replace("0b9a", "zzzz"),
    NAME.replace("0b9a", "0b9é"),
    NAME.replace("-", "+"),
    NAME.replace("0b9a", "  9a"),
    NAME.replace("7aaa", "----"),
    NAME.replace("f3c2-", "-f3c2"),
    NAME[:-1],
    "plain",
]


@given(st.lists(st.uuids().map(str) | st.sampled_from(FORMS) | st.text(max_size=40), max_size=5))
def test_several_ids_have_the_keys_of_each(ids: list[str]) -> None:
    assert id_keys(ids) == [id_key(each) for each in ids]


def test_forms_that_only_look_like_a_uuid_are_other_ids() -> None:
    assert len({id_key(form) for form in FORMS}) == len(FORMS)
