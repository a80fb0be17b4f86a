"""Whatever the order, batches and duplicates in which events come, the same is proposed, on the same evidence.

How a thread ended is the exception: it is looked at after each batch, so ends that were none for long may be among the
evidence. They have no force, and what they alone speak for is not shown. The store is also fed all of it again, in yet
another order: nothing is added.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.event import CanonicalEvent
from tests.support.consumer import ALL, Bench, idle, records_of, shape
from tests.support.log import quick_folder
from tests.support.triage import event
from triage.proposals.thread_rules import ENDED_IN_ERROR, UNANSWERED_ASK

TEXTS = (
    "- idea: a bell at the slipway",
    "Shall I cut the old mast?",
    "I'm blocked: no key for TASK-BUD-9",
    "done.",
    "yes",
)
SUMMARIES = (
    "## Next Steps\n- Paint the ferry\n## Blocked\n- the crane",
    "## Next Steps\n- paint ferry\n- Oil the winch",
    "## Blocked\n- (none)",
)
SIGNALS = (
    "[COLONY_SIGNAL:COMPLETE] [c1|colony-mnzmi243-lk2d0]\n**Status:** ❌ failed",
    "[COLONY_SIGNAL:COMPLETE] [c1|colony-mnzmi243-lk2d0]\nall done",
    "[COLONY_SIGNAL:LAUNCHED] [c2]",
    "[COLONY_SIGNAL:FAILED] [c2] crashed",
)


@st.composite
def one_event(draw: st.DrawFn) -> CanonicalEvent:
    kind = draw(st.sampled_from(["message", "summary", "signal", "tool_result", "status"]))
    thread = draw(st.sampled_from(["t1", "t2"]))
    hours = draw(st.integers(1, 6))
    match kind:
        case "message":
            role = draw(st.sampled_from(["assistant", "user"]))
            return event(draw(st.sampled_from(TEXTS)), role, hours=hours, thread=thread)
        case "summary":
            return event(draw(st.sampled_from(SUMMARIES)), "system", type="summary", hours=hours, thread=thread)
        case "signal":
            return event(draw(st.sampled_from(SIGNALS)), type="signal", hours=hours, thread=thread)
        case "tool_result":
            shown = {"type": "tool_result", "tool_name": "bash", "labels": ["error"]}
            return event("bash: x: command not found", "tool", hours=hours, thread=thread, **shown)
    return event(
        "overloaded", type="status", labels=[draw(st.sampled_from(["error", "aborted"]))], hours=hours, thread=thread
    )


def lasting(shapes: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """Leave out what the ends of threads said meanwhile, and with it the counts."""
    return {
        (*others, frozenset(one for one in evidence if one.rule not in {UNANSWERED_ASK, ENDED_IN_ERROR}))
        for *others, _, _, evidence in shapes
    }


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(one_event(), min_size=1, max_size=12))
def test_the_order_of_events_changes_nothing(data: st.DataObject, events: list[CanonicalEvent]):
    records = records_of(events) + [idle(one) for one in events[-2:]]
    outcomes = []
    with quick_folder() as folder:
        for number in range(2):
            order = data.draw(st.permutations(records + data.draw(st.lists(st.sampled_from(records), max_size=3))))
            cut = data.draw(st.integers(0, len(order)))
            (folder / str(number)).mkdir()
            bench = Bench(folder / str(number))
            bench.take(order[:cut])
            bench.take(order[cut:])
            outcomes.append((shape(bench.proposals()), shape(bench.proposals(ALL))))
            bench.take(data.draw(st.permutations(records)))
            assert (shape(bench.proposals()), shape(bench.proposals(ALL))) == outcomes[-1]
            bench.close()
    assert lasting(outcomes[0][0]) == lasting(outcomes[1][0])
