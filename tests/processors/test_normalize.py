"""Promise: any captured record becomes strict canonical events, and normalising these changes nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.log.contract import Record, Topic
from ingest.processors.normalize import NormalizeProcessor, Normalizer
from schemas.captured import CapturedEvent, CapturedRecord, RejectedRecord, Thread, encode_record
from schemas.event import MAX_EVENT_BYTES, Attachment, CanonicalEvent, Citation, Refs, decode, encode
from tests.support.processors import (
    NOON,
    NOON_MS,
    MemoryState,
    again,
    captured,
    captured_records,
    event,
    normalized,
    record_of,
    run,
)


def test_members_go_where_the_schema_has_them() -> None:
    found = event(
        "words",
        provider=" Claude ",
        account="Ana@Example.org",
        thread_id="T",
        workspace="/w",
        channel_id="c",
        title="a \x1b[1mtitle\n",
        captured_at="2026-03-14T12:00:01Z",
        id="x-1",
        role="human",
        branch_id="b",
        labels=["image", "image"],
        author_id="ana",
        message_id="m",
        parent_message_id="p",
        raw_type="message/user",
        model="heron-2",
        tool_name="look",
        tool_call_id="t1",
        attachments=[Attachment(kind="image", name="a\tb.png", mime_type="image/png")],
        citations=[Citation(url="https://example.org", title=" t ", quote="q\0")],
    )
    assert msgspec.to_builtins(found) == {
        "schemaVersion": "1.0",
        "source": {
            "provider": "claude",
            "providerAccountKey": "claude/ana@example.org",
            "threadId": "T",
            "account": "ana@example.org",
            "workspace": "/w",
            "channelId": "c",
            "branchId": "b",
        },
        "event": {
            "id": "x-1",
            "type": "message",
            "timestampIso": NOON,
            "role": "user",
            "text": "words",
            "labels": ["image"],
        },
        "meta": {
            "authorId": "ana",
            "messageId": "m",
            "rawType": "message/user",
            "ingestedAtIso": "2026-03-14T12:00:01.000Z",
            "parentMessageId": "p",
            "conversationTitle": "a title",
            "model": "heron-2",
            "toolName": "look",
            "toolCallId": "t1",
            "attachments": [{"kind": "image", "name": "a b.png", "mimeType": "image/png"}],
            "citations": [{"url": "https://example.org", "title": "t", "quote": "q"}],
        },
    }


def test_what_is_not_there_is_left_out() -> None:
    line = encode(event("words", id="x-1"))
    assert msgspec.json.decode(line) == {
        "schemaVersion": "1.0",
        "source": {"provider": "pi", "providerAccountKey": "pi", "threadId": "t-1"},
        "event": {"id": "x-1", "type": "message", "timestampIso": NOON, "role": "user", "text": "words"},
        "meta": {},
    }


def test_an_unknown_account_is_none() -> None:
    assert event(account="Unknown").source.provider_account_key == "pi"


def test_an_unknown_role_is_labelled() -> None:
    found = event(role="gremlin")
    assert (found.event.role, found.event.labels) == ("system", ["role-unknown"])


def times_and_labels(record: CapturedRecord) -> list[tuple[str, list[str]]]:
    return [
        (found.event.timestamp_iso, found.event.labels)
        for found in Normalizer().events(record)
        if isinstance(found, CanonicalEvent)
    ]


EARLY, LATE = "2026-03-14T11:00:00.000Z", "2026-03-14T13:00:00.000Z"
INFERRED = ["time-inferred"]


@pytest.mark.parametrize(
    ("times", "nearby", "expected"),
    [
        ([["soon", 1773489600000]], [EARLY], [(NOON, [])]),
        ([[EARLY], []], [LATE], [(EARLY, []), (EARLY, INFERRED)]),
        ([[], [LATE]], ["x", EARLY, NOON], [(EARLY, INFERRED), (LATE, [])]),
        ([[], ["soon"], [LATE]], [], [(LATE, INFERRED), (LATE, INFERRED), (LATE, [])]),
        ([[NOON], [], [EARLY], []], [], [(NOON, []), (NOON, INFERRED), (EARLY, []), (EARLY, INFERRED)]),
        ([[], []], [], [("1970-01-01T00:00:00.000Z", ["time-inferred", "time-unknown"])] * 2),
    ],
)
def test_a_missing_time_comes_from_the_neighbours(
    times: list[list[Any]], nearby: list[Any], expected: list[tuple[str, list[str]]]
) -> None:
    """The event before, else what the adapter calls nearby, else the event after; never the time of import."""
    events = [captured(f"e{n}", times=raw) for n, raw in enumerate(times)]
    record = record_of(*events, nearby_times=nearby, captured_at="2026-03-20T00:00:00.000Z")
    assert times_and_labels(record) == expected


def test_a_time_of_1970_is_a_time() -> None:
    assert times_and_labels(record_of(captured(times=["1970-01-01T00:00:00.000Z"]))) == [
        ("1970-01-01T00:00:00.000Z", [])
    ]


def test_a_message_of_terminal_sequences_alone_gives_nothing_and_is_counted() -> None:
    normalizer = Normalizer()
    record = record_of(captured("\x1b[31m\x1b[0m \n"), captured("", type="tool_result", role="toolResult"))
    assert [found.event.text for found in normalizer.events(record) if isinstance(found, CanonicalEvent)] == [""]
    assert normalizer.empty == 1


def test_an_event_with_an_impossible_id_is_rejected_and_the_next_one_stands() -> None:
    outcomes = list(
        Normalizer().events(record_of(captured("a", id="has space"), captured("b", id="bad\ud800"), captured("c")))
    )
    assert [type(outcome) for outcome in outcomes] == [RejectedRecord, RejectedRecord, CanonicalEvent]
    rejected = outcomes[0]
    assert isinstance(rejected, RejectedRecord)
    assert (rejected.source, rejected.reason, rejected.stage) == ("pi", "invalid-event", "processing")
    for outcome in outcomes[:2]:
        assert isinstance(outcome, RejectedRecord)
        encode_record(outcome)


def test_processing_gives_each_event_under_the_key_of_its_thread_with_its_counts() -> None:
    processor = NormalizeProcessor()
    record = record_of(captured("a"), captured("\x1b[0m"), captured("a"), provider="Pi", account="Ana", thread_id="T")
    outputs = run(processor, captured_records([record]))
    assert [(output.topic, output.key) for output in outputs] == [(Topic.EVENTS, "pi/ana/T")]
    assert processor.counts() == {"seen": 3, "emitted": 1, "empty": 1, "duplicate": 1, "rejected": 0}
    assert processor.counts() == {}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\xff\xfe", "invalid-record"),
        (b"", "invalid-record"),
        (b"[" * 100_000, "invalid-record"),
        (b'{"thread":{"provider":"pi","threadId":"t"}}', "invalid-record"),
        (b'{"thread":{"provider":"pi","threadId":"t"},"events":[],"version":99}', "newer-version"),
        (b'{"thread":{"provider":"","threadId":"t"},"events":[]}', "invalid-record"),
    ],
)
def test_a_record_that_is_none_is_rejected_with_its_bytes(value: bytes, reason: str) -> None:
    processor = NormalizeProcessor()
    record = Record(Topic.CAPTURED, 7, "k", value, NOON_MS)
    (output,) = run(processor, [record])
    rejected = msgspec.json.decode(output.value, type=RejectedRecord)
    assert output.topic is Topic.REJECTED
    assert (rejected.reason, rejected.stage, rejected.rejected_at) == (reason, "processing", NOON)
    assert rejected.where == "offset 7"
    assert (rejected.sample, rejected.size_bytes) == (value[: 64 * 1024], len(value))
    assert processor.counts() == {"seen": 1, "rejected": 1}


def test_a_bad_event_in_a_record_costs_that_event() -> None:
    good = msgspec.json.encode(captured("good"))
    value = b'{"thread":{"provider":"pi","threadId":"t"},"events":[' + good + b',{"id":"","type":"x"},7]}'
    processor = NormalizeProcessor()
    outputs = run(processor, [Record(Topic.CAPTURED, 1, "k", value, NOON_MS)])
    assert sorted(output.topic.value for output in outputs) == [
        "conversations.events",
        "conversations.rejected",
        "conversations.rejected",
    ]
    assert processor.counts() == {"seen": 3, "emitted": 1, "rejected": 2}


words = st.text(
    st.one_of(
        st.sampled_from("\x1b[]31m\r\n\0#12TASK-a/`~🐜|c "),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)
texts = st.one_of(words, words.map("[COLONY_SIGNAL:DONE] ".__add__), words.map("```\n".__add__))
names = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8))
raw_times = st.lists(st.one_of(st.sampled_from([NOON, "soon", "2026-01-01"]), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(st.characters(exclude_categories=["Cs"]), max_size=5)), max_size=3)  # fmt: skip  # noqa: E501
captured_events = st.builds(
    CapturedEvent,
    id=st.from_regex(r"[^\x00-\x20\ud800-\udfff]{1,40}", fullmatch=True),
    type=st.sampled_from(["message", "summary", "status", "tool_call", "tool_result", "signal"]),
    role=st.one_of(st.sampled_from(["user", "assistant", "toolResult", "human", "custom"]), words),
    text=texts,
    times=raw_times,
    html=st.booleans(),
    branch_id=names,
    labels=st.lists(st.sampled_from(["error", "image", "time-inferred"]), max_size=3),
    refs=st.one_of(st.none(), st.builds(Refs, task_ids=st.lists(st.sampled_from(["TASK-1", "Seed-2"]), unique=True))),
    author_id=names,
    message_id=names,
    raw_type=st.one_of(names, st.just("ant-colony-report")),
    tool_name=st.one_of(names, st.just("ant_colony")),
    attachments=st.lists(st.builds(Attachment, kind=st.just("image"), name=names), max_size=2),
)
threads = st.builds(
    Thread,
    provider=st.sampled_from(["pi", "Claude", "telegram", " "]),
    thread_id=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    account=names,
    title=names,
)
records = st.builds(
    CapturedRecord,
    thread=threads,
    events=st.lists(captured_events, min_size=1, max_size=4),
    nearby_times=raw_times,
    captured_at=st.one_of(st.none(), words),
)


@settings(max_examples=150)
@given(records)
def test_whatever_was_captured_gives_strict_events_and_counts_add_up(record: CapturedRecord) -> None:
    processor = NormalizeProcessor()
    outputs = run(processor, captured_records([record]))
    for output in outputs:
        if output.topic is Topic.EVENTS:
            decode(output.value)
            assert len(output.value) <= MAX_EVENT_BYTES
    counts = processor.counts()
    names = ("emitted", "empty", "duplicate", "rejected")
    assert counts["seen"] == len(record.events) == sum(counts.get(name, 0) for name in names)


@settings(max_examples=150)
@given(records)
def test_normalising_what_was_normalised_changes_nothing(record: CapturedRecord) -> None:
    for found in Normalizer().events(record):
        if isinstance(found, CanonicalEvent):
            assert list(Normalizer().events(again(found))) == [found]


@given(st.binary(max_size=200))
def test_any_bytes_in_the_topic_are_taken(value: bytes) -> None:
    processor = NormalizeProcessor()
    outputs = processor.process([Record(Topic.CAPTURED, 1, "k", value, NOON_MS)], MemoryState())
    assert all(output.topic is Topic.REJECTED for output in outputs)


def test_the_same_records_give_the_same_bytes() -> None:
    batch = captured_records([record_of(captured("a"), captured("b", times=[])), record_of(captured("c"))])
    assert run(NormalizeProcessor(), batch) == run(NormalizeProcessor(), batch, batch=1)


def test_nothing_is_due_by_the_clock() -> None:
    assert NormalizeProcessor().tick(NOON_MS, MemoryState()) == []


def test_an_empty_batch_gives_nothing() -> None:
    assert NormalizeProcessor().process([], MemoryState()) == []


def test_all_events_of_a_record_come_in_its_order() -> None:
    assert [e.event.text for e in normalized(*(captured(f"e{n}") for n in range(50)))] == [f"e{n}" for n in range(50)]
