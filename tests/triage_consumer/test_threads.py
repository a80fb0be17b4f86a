"""What is remembered of a thread is bounded, and the same in whatever order and however often its events come."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json, msgpack

from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.signals import derive
from schemas.event import CanonicalEvent
from tests.support.triage import event
from triage.projections.thread import MAX_REFS, Moment, ThreadState, hear, notice, settle_ask, summarise

WORDS = ("Shall I go on?", "done", "I'm blocked: no key", "- idea: a bell")
SUMMARY = "## Next Steps\n- {0}\n## Blocked\n- {0}"


@st.composite
def happening(draw: st.DrawFn) -> CanonicalEvent:
    hours, number = draw(st.integers(1, 9)), draw(st.integers(0, 40))
    title = {"conversation_title": f"title {number}"} if draw(st.booleans()) else {}
    tasks = [f"TASK-BUD-{number}", f"TASK-BUD-{number + 1}"]
    match draw(st.sampled_from(["say", "answer", "call", "error", "summary", "colony"])):
        case "say":
            return event(draw(st.sampled_from(WORDS)), hours=hours, tasks=tasks, **title)
        case "answer":
            return event("yes", "user", hours=hours, workspace=f"/w{number % 3}", **title)
        case "call":
            text = '{"question": "Which paint?"}'
            return event(f"AskUserQuestion {text}", type="tool_call", hours=hours, tool_name="AskUserQuestion")
        case "error":
            return event("rate limit: 429", type="status", labels=["error"], hours=hours)
        case "summary":
            return event(SUMMARY.format(number), "system", type="summary", hours=hours)
    return event("[COLONY_SIGNAL:LAUNCHED] [c1]", type="signal", hours=hours)


def remembered(events: list[CanonicalEvent], settle_each: bool) -> ThreadState:
    state = ThreadState(provider_account_key="pi", thread_id="t1")
    for one in events:
        hear(state, one)
        for signal in [one] if one.event.type == "signal" else derive(one):
            notice(state, signal)
        if one.event.type == "summary":
            summarise(state, one)
        if settle_each:
            settle_ask(state)
    settle_ask(state)
    return state


@settings(max_examples=150, deadline=None)
@given(st.lists(happening(), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_neither_order_nor_duplicates_nor_batches_matter(events: list[CanonicalEvent], draw: random.Random):
    other = [*events, *draw.choices(events, k=5)]
    draw.shuffle(other)
    assert remembered(events, settle_each=False) == remembered(other, settle_each=True)


@pytest.mark.parametrize("count", [50, 2000])
def test_a_thread_takes_no_more_however_long_it_is(count: int):
    long = "x" * 10_000
    events = [event(f"{long}?", hours=n / 100, tasks=[f"TASK-BUD-{n}"], conversation_title=long) for n in range(count)]
    events += [event(SUMMARY.format(long) * 30, "system", type="summary")]
    state = remembered(events, settle_each=False)
    assert len(state.refs) == MAX_REFS
    assert set(state.refs) == {f"TASK-BUD-{n}" for n in range(MAX_REFS)}  # the latest: hours ago
    assert len(msgpack.encode(state)) < 16_000


def test_an_ask_tool_is_an_ask_until_its_result():
    call = event('AskUserQuestion {"question": "Which paint?"}', type="tool_call", tool_name="AskUserQuestion", hours=2)
    asked = remembered([call], settle_each=False)
    assert asked.open_ask is not None
    assert (asked.open_ask.words, asked.open_ask.kind) == ("Which paint?", "question")
    answered = remembered([call, event("green", "tool", type="tool_result", hours=1)], settle_each=False)
    assert answered.open_ask is None


def test_who_talks_in_a_chat_among_people_asks_the_operator_nothing():
    assert remembered([event("Shall we eat?", "user", provider="telegram")], settle_each=False).open_ask is None


ASKS, SAYS = {"text": "Shall I go on?"}, {"text": "done"}
FAILS, RUNS = ({"text": "429", "type": "status", "labels": labels} for labels in (["error"], []))


@pytest.mark.parametrize(
    ("before", "after", "open_ask", "broken_off"),
    [
        (ASKS, SAYS, None, None),
        (SAYS, ASKS, "Shall I go on?", None),
        (ASKS, {**ASKS, "role": "user"}, None, None),
        (ASKS, {"text": "Shall I stop?"}, "Shall I stop?", None),
        (FAILS, RUNS, None, None),
        (RUNS, FAILS, None, "429"),
    ],
)
def test_a_mended_event_takes_the_place_of_the_former(before, after, open_ask, broken_off):
    """However often both are read; what a replay gives comes behind what it mends."""
    former = event(id="e1", hours=2, **before)
    mended = event(id="e1", hours=2, **{**after, "labels": [*after.get("labels", ()), MENDED_LABEL]})
    for history in ([former, mended], [former, mended, former], [former, mended, former, mended]):
        state = remembered(history, settle_each=True)
        assert (state.open_ask and state.open_ask.words) == open_ask
        assert (state.broken_off and state.broken_off.words) == broken_off


def test_what_a_mended_event_no_longer_says_is_forgotten():
    state = remembered(
        [
            event(SUMMARY.format("the crane"), "system", type="summary", id="s1", conversation_title="Crane"),
            event("nothing", "system", type="summary", id="s1", conversation_title="Mast", labels=[MENDED_LABEL]),
        ],
        settle_each=False,
    )
    assert (state.blocked, state.next_steps, state.title) == ([], [], "Mast")


def test_a_thread_that_was_stored_before_is_still_read():
    """By a version whose moments did not say whether they were mended."""
    state = ThreadState(thread_id="t", last=Moment("2026-01-01T00:00:00.000Z", "e1"))
    raw = json.decode(json.encode(state))
    raw["last"] = raw["last"][:2]
    assert json.decode(json.encode(raw), type=ThreadState) == state
