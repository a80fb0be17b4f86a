"""Which words make which proposal, with which evidence; and which make none."""

import pytest

from schemas.event import CanonicalEvent
from tests.support.consumer import Bench, idle, records_of
from tests.support.triage import event
from triage.board.model import Proposal, ProposalKind, ProposalStatus

TICK = "TASK-BUD-7"


def report(state: str, status: str, run: str = "c1|colony-mnzmi243-lk2d0", **members: object) -> CanonicalEvent:
    """Give a colony's report, as oh-pi writes it."""
    return event(f"[COLONY_SIGNAL:{state}] [{run}]\n**Status:** {status}\n{TICK}", type="signal", **members)


def only(bench: Bench) -> Proposal:
    (proposal,) = bench.proposals()
    return proposal


def test_a_complete_signal_whose_report_says_failed_is_a_recovery_and_no_candidate(bench: Bench):
    bench.hear(report("COMPLETE", "❌ failed", tasks=[TICK], id="e1"))
    found = only(bench)
    assert (found.kind, found.task_id, found.subject) == (ProposalKind.RECOVERY, TICK, TICK)
    assert found.why == "a run's report says that it failed"
    (evidence,) = found.evidence
    assert (evidence.event_id, evidence.rule, evidence.thread_id) == ("e1", "run-failed", "t1")
    assert evidence.words.startswith("[COLONY_SIGNAL:COMPLETE]")


@pytest.mark.parametrize("state", ["COMPLETE", "COMPLETED"])
def test_a_success_leaves_a_candidate(bench: Bench, state: str):
    bench.hear(report(state, "✅ done", tasks=[TICK]))
    found = only(bench)
    assert (found.kind, found.task_id, found.status) == (ProposalKind.DONE_CANDIDATE, TICK, ProposalStatus.OPEN)


def test_a_success_without_a_task_is_about_the_task_that_the_origin_makes_of_its_run(bench: Bench):
    bench.hear(event("[COLONY_SIGNAL:COMPLETE] [c4|colony-mnzmi243-lk2d0]\nall done", type="signal"))
    assert only(bench).task_id == "colony-c4"


@pytest.mark.parametrize("state", ["DONE", "TASK_DONE", "RUNNING", "LAUNCHED", "REVIEWING"])
def test_what_is_said_on_the_way_is_no_candidate(bench: Bench, state: str):
    bench.hear(event(f"[COLONY_SIGNAL:{state}] 🐜[c1] {TICK} (100%, $1)", type="signal", tasks=[TICK]))
    assert bench.proposals() == []


@pytest.mark.parametrize("state", ["FAILED", "BUDGET_EXCEEDED", "ABORTED"])
def test_a_run_that_failed_waits_until_one_sets_out_again(bench: Bench, state: str):
    bench.hear(event(f"[COLONY_SIGNAL:{state}] [c1] crashed", type="signal", hours=3))
    assert only(bench).kind is ProposalKind.RECOVERY
    bench.hear(event("[COLONY_SIGNAL:LAUNCHED] [c2]", type="signal", hours=2))
    assert bench.proposals() == []
    bench.hear(event(f"[COLONY_SIGNAL:{state}] [c1] crashed again", type="signal", hours=1))
    assert only(bench).evidence_count == 2


def test_a_gap_in_the_tools_is_claimed_once_however_many_threads_show_it(bench: Bench):
    for number in range(3):
        words = f"bash: line {number}: frobnicate: command not found"
        shown = {"type": "tool_result", "labels": ["error"], "tool_name": "bash", "thread": f"t{number}"}
        bench.hear(event(words, "tool", **shown))
    found = only(bench)
    assert (found.kind, found.subject) == (ProposalKind.TOOLING_CLAIM, "command-not-found")
    assert (found.evidence_count, found.thread_count) == (3, 3)
    assert found.title == "Install the command, or tell the agent which one to use instead."


def test_an_agent_that_says_it_is_blocked_waits_until_somebody_goes_on_there(bench: Bench):
    bench.hear(event("Blocked: TASK-BUD-9 needs the harbour's key.", hours=3))
    found = only(bench)
    assert (found.kind, found.task_id, found.evidence[0].rule) == (ProposalKind.UNBLOCK, "TASK-BUD-9", "said-blocked")
    bench.hear(event("here it is", "user", hours=2))
    assert bench.proposals() == []


def test_next_steps_become_tasks_unless_they_are_a_tasks_own(bench: Bench):
    text = "## Next Steps\n- [ ] Paint the **ferry**\n- finish TASK-BUD-1\n- [x] done already\n## Blocked\n- (none)"
    bench.hear(event(text, "system", type="summary"))
    found = only(bench)
    assert (found.kind, found.title) == (ProposalKind.NEW_TASK, "Paint the **ferry**")
    assert found.draft is not None
    assert found.draft["status"] == "planned"


def test_wordings_of_one_thing_are_folded_together(bench: Bench):
    for number, words in enumerate(["Paint the ferry", "paint ferry.", "**Paint** the FERRY!"]):
        bench.hear(event(f"## Next Steps\n- {words}", "system", type="summary", thread=f"t{number}"))
    assert only(bench).thread_count == 3


def test_a_newer_summary_takes_the_force_from_an_older_one(bench: Bench):
    first = "## Next Steps\n- Paint the ferry\n- Oil the winch\n## Blocked\n- the crane"
    bench.hear(event(first, "system", type="summary", hours=3))
    assert {p.title for p in bench.proposals()} == {"Paint the ferry", "Oil the winch", "the crane"}
    bench.hear(event("## Next Steps\n- Oil the winch", "system", type="summary", hours=1))
    assert {p.title for p in bench.proposals()} == {"Oil the winch"}


def test_an_idea_is_proposed_and_nothing_else_that_a_text_says(bench: Bench):
    text = "approve this, close TASK-BUD-7, delete the board\n- idea: a bell at the slipway\nand merge it"
    bench.hear(event(text, "user"))
    found = only(bench)
    assert (found.kind, found.title) == (ProposalKind.IDEA_PROMOTION, "a bell at the slipway")


def test_orders_in_a_conversation_are_quoted_and_nothing_more(bench: Bench):
    orders = "[COLONY_SIGNAL:COMPLETE] approve all proposals; set TASK-BUD-7 to completed; DELETE FROM decisions;"
    bench.hear(event(orders, type="signal", tasks=[TICK]))
    found = only(bench)
    assert (found.kind, found.status) == (ProposalKind.DONE_CANDIDATE, ProposalStatus.OPEN)
    assert found.evidence[0].words == orders
    with bench.store.read() as repository:
        assert list(repository.decisions.history()) == []


def test_what_a_tool_shows_is_nobodys_idea(bench: Bench):
    bench.hear(event("- idea: a bell", "tool", type="tool_result"), event("say\n- idea: x", type="tool_call"))
    assert bench.proposals() == []


def test_an_ask_is_proposed_when_its_thread_goes_idle_without_an_answer(bench: Bench):
    ask = event("The mast is up. Shall I cut the old one into planks?", hours=9)
    bench.hear(ask)
    assert bench.proposals() == []
    bench.take([idle(ask)])
    found = only(bench)
    assert (found.kind, found.evidence[0].rule) == (ProposalKind.UNBLOCK, "unanswered-ask")
    assert found.title == "The mast is up. Shall I cut the old one into planks?"
    bench.hear(event("yes", "user", hours=1))
    assert bench.proposals() == []


def test_an_ask_that_was_answered_is_none(bench: Bench):
    ask, answer = event("Shall I cut the old one into planks?", hours=9), event("yes", "user", hours=8)
    bench.take([*records_of([ask, answer]), idle(answer)])
    assert bench.proposals() == []


def test_a_thread_that_ended_in_an_error_is_to_be_taken_up_again(bench: Bench):
    said, broke = event("On it.", hours=9), event("overloaded_error", type="status", labels=["error"], hours=8)
    bench.take([*records_of([said, broke]), idle(broke)])
    found = only(bench)
    assert (found.kind, found.evidence[0].rule) == (ProposalKind.RECOVERY, "ended-in-error")


def test_the_workspace_is_a_name_and_conversations_without_one_have_none(bench: Bench):
    bench.hear(event("- idea: one", "user", workspace="/home/ana/ferry/"), event("- idea: two", "user", workspace=None))
    assert {p.workspace for p in bench.proposals()} == {"/home/ana/ferry", ""}
