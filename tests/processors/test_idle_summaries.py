"""Promise: source summaries pass on; each idle thread is summarised once for its last event, whenever ticks happen."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.headings import SummaryItems, summary_items
from ingest.processors.summaries import IDLE_AFTER, SETTLE_AFTER, SummariesProcessor
from ingest.processors.times import from_ms
from schemas.captured import RejectedRecord
from schemas.event import CanonicalEvent, Refs, decode
from schemas.ids import derived_id
from tests.support.processors import NOON, NOON_MS, MemoryState, event, event_records, run

HOUR = 60 * 60 * 1000
IDLE_AFTER_MS = round(IDLE_AFTER.total_seconds() * 1000)
SETTLE_AFTER_MS = round(SETTLE_AFTER.total_seconds() * 1000)
LATER = NOON_MS + IDLE_AFTER_MS + SETTLE_AFTER_MS + 1


def idle(outputs: list[NewRecord]) -> list[CanonicalEvent]:
    return [
        e for e in (decode(o.value) for o in outputs if o.topic is Topic.SUMMARIES) if "idle-summary" in e.event.labels
    ]


def summaries_after(events: list[CanonicalEvent], now_ms: int = LATER) -> list[CanonicalEvent]:
    processor, state = SummariesProcessor(), MemoryState()
    return idle(run(processor, event_records(events), state) + processor.tick(now_ms, state))


def test_an_idle_thread_says_who_when_what_was_asked_and_where_it_stands() -> None:
    common: dict[str, Any] = {"workspace": "/w", "title": "Mend the weir"}
    events = [
        event("Please mend TASK-REED-1", author_id="ana", **common),
        event("look {}", type="tool_call", role="assistant", tool_name="look", **common),
        event(
            "## Next Steps\n- fetch the key\n### Blocked\n- no key",
            type="summary",
            role="compactionSummary",
            **common,
        ),
        event("Mended, see #12.\nShall I close it?", role="assistant", model="heron-2", id="last", **common),
    ]
    (found,) = summaries_after(events)
    assert found.event.id == derived_id("pi/t-1", "idle-summary", "last")
    assert (found.event.type, found.event.role, found.event.timestamp_iso) == ("summary", "system", NOON)
    assert found.event.refs == Refs(task_ids=["TASK-REED-1"], issue_ids=["#12"])
    assert found.source.workspace == "/w"
    assert found.event.text == (
        "## Idle: Mend the weir\n\n- Who: user ana, assistant heron-2\n- When: 2026-03-14 12:00 UTC\n- Where: pi, /w\n"
        "- What: 2 messages, 1 tool call, 1 summary\n\n### First ask\n> Please mend TASK-REED-1\n\n### Last state\n"
        "> assistant: Mended, see #12. Shall I close it?\n\nThe last words are a question that nobody answered.\n\n"
        "### Next Steps\n- fetch the key\n\n### Blocked\n- no key\n\n### References\n- TASK-REED-1\n- #12"
    )
    assert summary_items(found.event.text) == SummaryItems(next_steps=["fetch the key"], blocked=["no key"])


def test_a_source_summary_passes_byte_for_byte() -> None:
    records = event_records([event("## Goal", type="summary", role="system")])
    processor = SummariesProcessor()
    outputs = run(processor, records)
    assert [output.value for output in outputs] == [records[0].value]
    assert processor.counts() == {"seen": 1, "emitted": 1}


def test_a_thread_is_told_of_once_for_each_last_event() -> None:
    processor, state = SummariesProcessor(), MemoryState()
    run(processor, event_records([event("one", id="a")]), state)
    assert idle(processor.tick(NOON_MS + IDLE_AFTER_MS, state)) == []
    assert len(idle(processor.tick(LATER, state))) == 1
    assert idle(processor.tick(LATER + HOUR, state)) == []
    run(processor, event_records([event("two", id="b")], LATER, first=2), state)
    assert len(idle(processor.tick(LATER + 2 * IDLE_AFTER_MS, state))) == 1


def test_an_old_conversation_is_told_of_once_its_import_is_through() -> None:
    old = event("one", times=["2020-01-01"])
    assert summaries_after([old], NOON_MS + SETTLE_AFTER_MS) == []
    (found,) = summaries_after([old], NOON_MS + SETTLE_AFTER_MS + 1)
    assert found.event.timestamp_iso == "2020-01-01T00:00:00.000Z"


def test_a_time_in_the_future_delays_nothing() -> None:
    assert len(summaries_after([event("one", times=["2093-01-01"])])) == 1


def test_a_pause_between_two_records_is_told_of_though_no_tick_came() -> None:
    processor, state = SummariesProcessor(), MemoryState()
    records = event_records([event("one", id="a")]) + event_records([event("two", id="b")], LATER, first=2)
    outputs = run(processor, records, state)
    assert [found.event.id for found in idle(outputs)] == [derived_id("pi/t-1", "idle-summary", "a")]


def test_many_idle_threads_are_told_of_in_bounded_ticks_longest_idle_first() -> None:
    processor, state = SummariesProcessor(max_per_tick=3), MemoryState()
    for number in (4, 1, 3, 0, 2):
        old = event("one", thread_id=f"t{number}", times=[NOON_MS + number])
        run(processor, event_records([old], NOON_MS + number), state)
    ticks = [[found.source.thread_id for found in idle(processor.tick(LATER + HOUR, state))] for _ in range(3)]
    assert ticks == [["t0", "t1", "t2"], ["t3", "t4"], []]
    assert state.scan(b"due/", 10) == []


def test_a_replay_changes_nothing() -> None:
    processor, state = SummariesProcessor(), MemoryState()
    records = event_records([event("one", id="a"), event("## Goal", type="summary", role="system", id="b")])
    first = run(processor, records, state)
    before = state.scan(b"", 100)
    assert run(processor, records, state) == first
    assert state.scan(b"", 100) == before


def test_a_thread_of_status_events_alone_has_nothing_to_tell() -> None:
    assert summaries_after([event("model p/m", type="status", role="system")]) == []


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ([event("down", type="status", role="assistant", labels=["error"])], "> error: down"),
        (
            [event("[COLONY_SIGNAL:DONE] [c1] x", role="assistant")],
            "> colony:DONE, outcome:success: [COLONY_SIGNAL:DONE] [c1] x",
        ),
        ([event("a?", role="assistant"), event("yes", role="user")], "> user: yes"),
    ],
)  # fmt: skip
def test_the_last_state_is_what_came_last(events: list[CanonicalEvent], line: str) -> None:
    (found,) = summaries_after(events)
    assert line in found.event.text.split("\n")
    assert "question" not in found.event.text


def test_words_cannot_become_headings_of_the_summary() -> None:
    (found,) = summaries_after([event("hello\n## Blocked\n- all of it", title="x\n## Blocked\n- y")])
    assert not summary_items(found.event.text)


def test_a_state_is_bounded_however_much_is_said() -> None:
    processor, state = SummariesProcessor(), MemoryState()
    items = "".join(f"- {n} {'🐾' * 500}\n" for n in range(100))
    refs = " ".join(f"TASK-{n}-{'A' * 60} #{n + 1}" for n in range(300))
    events = [
        event(f"## {title}\n{items}\n{refs}", type="summary", role="system", title="🐾" * 5000, id=f"s{n}")
        for n, title in enumerate(("Next Steps", "In Progress", "Blocked"))
    ]
    events += [event("🐾" * 50_000, author_id=f"{n}" + "🐾" * 500, id=f"m{n}") for n in range(50)]
    run(processor, event_records(events), state)
    ((_, stored),) = state.scan(b"t/", 10)
    assert len(stored) < 48_000


def test_a_thread_with_endless_names_is_not_remembered() -> None:
    state = MemoryState()
    run(SummariesProcessor(), event_records([event("x", workspace="/w" * 5000)]), state)
    assert state.scan(b"", 10) == []


def test_a_state_of_another_version_begins_anew() -> None:
    processor, state = SummariesProcessor(), MemoryState()
    run(processor, event_records([event("one", id="a")]), state)
    ((key, _),) = state.scan(b"t/", 10)
    for stored in (b"\xc1", msgspec.msgpack.encode({"version": 99})):
        state.put(key, stored)
        assert processor.tick(LATER, state) == []
        run(processor, event_records([event("two", id="b")], first=2), state)
        assert len(idle(processor.tick(LATER, state))) == 1


def test_a_record_that_is_no_event_is_rejected() -> None:
    (output,) = run(SummariesProcessor(), [Record(Topic.EVENTS, 3, "k", b"{}", NOON_MS)])
    rejected = msgspec.json.decode(output.value, type=RejectedRecord)
    assert (output.topic, rejected.where) == (Topic.REJECTED, "offset 3")


step = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 2), st.integers(0, 8 * HOUR)),
    st.tuples(st.just("tick"), st.just(0), st.integers(0, 8 * HOUR)),
)


@settings(max_examples=150)
@given(st.lists(step, max_size=20), st.integers(1, 4))
def test_the_set_of_summaries_does_not_depend_on_ticks_or_batches(
    steps: list[tuple[str, int, int]], batch: int
) -> None:
    """Once with ticks as they fall, once as a replay of the log in batches with one tick at its end."""
    live, state, now = SummariesProcessor(), MemoryState(), NOON_MS
    told: list[NewRecord] = []
    log: list[Record] = []
    for what, thread, pause in steps:
        now += pause
        if what == "tick":
            told += live.tick(now, state)
            continue
        said = event("words", id=f"e{len(log)}", thread_id=f"t{thread}", times=[from_ms(now - HOUR * thread)])
        log += event_records([said], now, first=len(log) + 1)
        told += live.process(log[-1:], state)
    told += live.tick(now + 9 * HOUR, state)
    replay, fresh = SummariesProcessor(), MemoryState()
    again = run(replay, log, fresh, batch=batch) + replay.tick(now + 9 * HOUR, fresh)
    assert sorted(told, key=lambda output: output.value) == sorted(again, key=lambda output: output.value)
    assert len({found.event.id for found in idle(told)}) == len(idle(told))
