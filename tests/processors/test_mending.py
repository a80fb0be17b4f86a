"""A replay mends: of a captured record that comes again, what now comes out otherwise passes, and nothing else."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors import drafts
from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.signals import SignalsProcessor
from ingest.processors.summaries import SummariesProcessor
from schemas.captured import CapturedRecord, Replay, encode_record
from schemas.event import CanonicalEvent, decode
from tests.support.processors import NOON_MS, MemoryState, captured, event_records, record_of, run

LATER = NOON_MS + 60_000


def record(content: CapturedRecord, offset: int, time_ms: int = NOON_MS) -> Record:
    return Record(Topic.CAPTURED, offset, f"pi/{content.thread.thread_id}", encode_record(content), time_ms)


def again(original: Record, content: CapturedRecord, offset: int, *, force: bool = False) -> Record:
    """The record as a replay appends it."""
    content.replay = Replay(original.time_ms, force)
    return record(content, offset, LATER + offset)


class Stream:
    """A normaliser with its state, and the events that it gave."""

    def __init__(self) -> None:
        self.processor, self.state = NormalizeProcessor(), MemoryState()
        self.counts: Counter[str] = Counter()

    def feed(self, *records: Record) -> list[CanonicalEvent]:
        outputs: list[NewRecord] = self.processor.process(records, self.state)
        self.counts.update(self.processor.counts())
        return [decode(output.value) for output in outputs if output.topic is Topic.EVENTS]


@pytest.fixture
def mended_roles(monkeypatch):
    """A version of the program that takes everybody for an assistant."""
    return lambda: monkeypatch.setattr(drafts, "speaker", lambda *_: ("assistant", True))


def test_what_comes_out_as_before_is_passed_over() -> None:
    stream, content = Stream(), record_of(captured("a"), captured("b"))
    first = record(content, 1)
    assert len(stream.feed(first)) == 2
    assert stream.feed(again(first, content, 2)) == []
    assert stream.counts["duplicate"] == 2
    assert stream.counts["conflicting"] == stream.counts["mended"] == 0


def test_what_comes_out_otherwise_passes_under_its_id_with_a_mark(mended_roles) -> None:
    stream, content = Stream(), record_of(captured("a"), captured("b", role="assistant"))
    first = record(content, 1)
    before = stream.feed(first)
    mended_roles()
    (now,) = stream.feed(again(first, content, 2))
    assert (now.event.id, now.event.role, now.event.labels) == (before[0].event.id, "assistant", [MENDED_LABEL])
    assert stream.counts == Counter(seen=4, emitted=3, mended=1, duplicate=1)
    assert stream.feed(again(first, content, 3)) == []


@pytest.mark.parametrize("member", ["times", "labels", "html", "model"])
def test_anything_that_comes_out_otherwise_is_mended(monkeypatch, member: str) -> None:
    """Not only words and roles: times, labels, plain text and what is told of the message."""
    stream = Stream()
    others = {"times": ["2026-03-14T13:00:00Z"], "labels": ["edited"], "html": True, "model": "m-2"}
    first = record(record_of(captured("<b>x</b>", id="x")), 1)
    stream.feed(first)
    now = record_of(captured("<b>x</b>", id="x", **{member: others[member]}))
    assert len(stream.feed(again(first, now, 2))) == 1


def test_an_ordinary_record_mends_nothing(mended_roles) -> None:
    stream, content = Stream(), record_of(captured("a"))
    stream.feed(record(content, 1))
    mended_roles()
    assert stream.feed(record(content, 2, LATER)) == []
    assert stream.counts["conflicting"] == 1


def test_the_first_of_several_versions_counts_in_a_replay_too(mended_roles) -> None:
    """However often all is replayed, and also where only the later version is."""
    stream = Stream()
    contents = [record_of(captured(text, id="x")) for text in ("kept", "other")]
    originals = [record(content, at, NOON_MS + at) for at, content in enumerate(contents, 1)]
    stream.feed(*originals)
    for at in range(3, 9, 2):
        assert (
            stream.feed(*(again(o, c, at + n) for n, (o, c) in enumerate(zip(originals, contents, strict=True)))) == []
        )
    assert stream.feed(again(originals[1], contents[1], 20)) == []
    mended_roles()
    assert [now.event.text for now in stream.feed(*map(again, originals, contents, (30, 31)))] == ["kept"]
    assert stream.feed(*map(again, originals, contents, (40, 41))) == []


def test_force_lets_pass_what_has_not_changed() -> None:
    stream, content = Stream(), record_of(captured("a"))
    first = record(content, 1)
    (before,) = stream.feed(first)
    (now,) = stream.feed(again(first, content, 2, force=True))
    assert (now.event.id, now.event.labels) == (before.event.id, [MENDED_LABEL])


def test_what_the_normaliser_never_knew_is_new() -> None:
    stream, content = Stream(), record_of(captured("a"))
    (now,) = stream.feed(again(record(content, 1), content, 2))
    assert now.event.labels == []


def test_a_mended_event_that_is_none_leaves_the_earlier_one_remembered(monkeypatch, mended_roles) -> None:
    stream, content = Stream(), record_of(captured("a"))
    first = record(content, 1)
    stream.feed(first)
    with monkeypatch.context() as patch:
        patch.setattr(drafts, "speaker", lambda *_: ("assistant", True))
        patch.setattr("ingest.processors.normalize.encode_typed", lambda _: (_ for _ in ()).throw(ValueError("none")))
        assert stream.feed(again(first, content, 2)) == []
        assert stream.counts["rejected"] == 1
    assert stream.feed(again(first, content, 3)) == []
    mended_roles()
    assert len(stream.feed(again(first, content, 4))) == 1


def test_what_a_replay_let_through_is_remembered_as_long_as_the_log_keeps_it(mended_roles) -> None:
    """Retention forgets by the first eight bytes of an entry: the time of the record whose event is in the log."""
    stream, content = Stream(), record_of(captured("a"))
    first = record(content, 1)
    stream.feed(first)
    mended_roles()
    stream.feed(again(first, content, 2))
    ((_, value),) = stream.state.scan(b"", 10)
    assert int.from_bytes(value[:8], "big") == LATER + 2


def test_no_source_can_give_the_mark() -> None:
    (found,) = Stream().feed(record(record_of(captured("a", labels=["edited", MENDED_LABEL])), 1))
    assert found.event.labels == ["edited"]


one = st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c"]))


@settings(deadline=None)
@given(st.lists(st.lists(one, min_size=1, max_size=4), min_size=1, max_size=8), st.data())
def test_replaying_any_part_in_any_batches_changes_nothing(conversations: list[list[tuple[int, str]]], data) -> None:
    """Every record has a time of its own here; equal times are for who makes the copies."""
    contents = [
        record_of(*(captured(text, id=f"id-{number}") for number, text in dict(c).items())) for c in conversations
    ]
    originals = [record(content, at, NOON_MS + at) for at, content in enumerate(contents, 1)]
    stream = Stream()
    stream.feed(*originals)
    chosen = data.draw(st.lists(st.sampled_from(range(len(originals)))))
    copies = [again(originals[n], contents[n], 100 + at) for at, n in enumerate(chosen)]
    cut = data.draw(st.integers(0, len(copies)))
    for batch in (copies[:cut], copies[cut:]):
        if batch:
            assert stream.feed(*batch) == []


def test_a_thread_does_not_hear_a_mended_event_twice() -> None:
    """Its summary is that of the events themselves."""
    stream, content = Stream(), record_of(captured("first words"), captured("last words"))
    first = record(content, 1)
    events = stream.feed(first)
    forced = stream.feed(again(first, content, 2, force=True))
    plain, state = SummariesProcessor(), MemoryState()
    run(plain, event_records(events), state)
    due = plain.tick(NOON_MS * 2, state)
    both, state = SummariesProcessor(), MemoryState()
    run(both, event_records(events + forced), state)
    assert [output.value for output in both.tick(NOON_MS * 2, state)] == [output.value for output in due] != []


def test_a_mended_event_gives_its_signals_under_their_ids() -> None:
    stream, content = Stream(), record_of(captured("We are blocked by the key", role="assistant"))
    first = record(content, 1)
    events = stream.feed(first) + stream.feed(again(first, content, 2, force=True))
    signals = [decode(output.value).event.id for output in run(SignalsProcessor(), event_records(events))]
    assert len(signals) == 2
    assert len(set(signals)) == 1
