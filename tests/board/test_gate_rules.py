"""The gate lets through what its rules allow, names what it refuses, and changes nothing else of a task."""

from itertools import product
from typing import Any

import pytest

from tests.support.board import ADDS, ANA, BOT, START_MS, task, verification, view, words
from triage.board.changes import mark_of
from triage.board.gate import judge
from triage.board.model import (
    SYSTEM,
    Action,
    Actor,
    Decision,
    Proposal,
    ProposalKind,
    ProposalStatus,
    TaskStatus,
    proposal_id,
)
from triage.board.packet import Blocker
from triage.board.refusals import Refusal, RefusedError
from triage.board.request import Request

WORKSPACE = "/home/ana/ferry"
T = TaskStatus

WAYS = {
    (T.PLANNED, T.IN_PROGRESS), (T.PLANNED, T.CANCELLED),
    (T.IN_PROGRESS, T.BLOCKED), (T.IN_PROGRESS, T.PLANNED), (T.IN_PROGRESS, T.CANCELLED),
    (T.BLOCKED, T.IN_PROGRESS), (T.BLOCKED, T.PLANNED), (T.BLOCKED, T.CANCELLED),
}  # fmt: skip
"""Formats page 1.7, without `completed`; an operator may give up what is pending."""


def proposal(kind: ProposalKind, **members: Any) -> Proposal:
    whole: dict[str, Any] = {"title": "Paint the gate", "why": "it rusts", "created_ms": 1, "updated_ms": 1}
    return Proposal(
        id=proposal_id(WORKSPACE, kind, "s", 1),
        workspace=members.pop("workspace", WORKSPACE),
        kind=kind,
        subject="s",
        proposed_by=BOT,
        **{**whole, **members},
    )


def decided(board: Any, action: Action, actor: Actor = ANA, **members: Any) -> Decision:
    return judge(actor, Request(action=action, **members), board, START_MS)


def refused(board: Any, action: Action, actor: Actor = ANA, **members: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        decided(board, action, actor, **members)
    return caught.value


@pytest.mark.parametrize(("before", "after"), list(product(T, T)))
def test_tasks_go_only_where_there_is_a_way(before: TaskStatus, after: TaskStatus) -> None:
    """Every pair of statuses: those of the origin, giving up, and nothing else; never `completed`."""
    board = view(task("T", before))
    if (before, after) in WAYS:
        decision = decided(board, Action.MOVE, task_id="T", to=after)
        assert decision.task_after is not None
        assert decision.task_after["status"] == after
    else:
        reason = Refusal.NOT_VERIFIED if after is T.COMPLETED else Refusal.NO_TRANSITION
        assert refused(board, Action.MOVE, task_id="T", to=after).reason is reason


@pytest.mark.parametrize("status", T)
def test_only_what_is_finished_is_reopened(status: TaskStatus) -> None:
    """A reopened task is planned, and no longer names the verification that closed it."""
    board = view(task("T", status, verification="VER"), verifications=[verification("VER", "T")])
    if status in {T.COMPLETED, T.CANCELLED}:
        after = decided(board, Action.REOPEN, task_id="T").task_after
        assert after is not None
        assert after["status"] == "planned"
        assert "verification" not in after
    else:
        assert refused(board, Action.REOPEN, task_id="T").reason is Refusal.NO_TRANSITION


def test_a_completion_names_a_passed_verification_with_evidence() -> None:
    board = view(task("T", "in-progress", zzz={"kept": [1]}), verifications=[verification("VER", "T", "Passed")])
    decision = decided(board, Action.COMPLETE, task_id="T", verification="VER", evidence_text="212 passed")
    assert (decision.verification, decision.verification_status, decision.method) == ("VER", "passed", "command")
    after = dict(decision.task_after or {})
    notes = after.pop("notes")
    assert after == task("T", "completed", zzz={"kept": [1]}, verification="VER")
    assert mark_of(decision.id) in notes
    assert "by ana" in notes


@pytest.mark.parametrize(
    ("linked", "verifications", "named", "blockers", "says"),
    [
        (None, [], None, [Blocker.MISSING_EVIDENCE], "no verification speaks of this task"),
        (None, [], "VER", [Blocker.LINKED_NOT_FOUND], "there is no verification VER"),
        ("GONE", [], None, [Blocker.LINKED_NOT_FOUND], "does not have"),
        (None, [verification("VER", "T", "failed")], None, [Blocker.NONE_PASSED], "has passed"),
        (None, [verification("VER", "T", "failed")], "VER", [Blocker.NONE_PASSED], "VER is failed, not passed"),
        ("VER", [verification("VER", "T", "partial")], "VER", [Blocker.NONE_PASSED], "VER is partial"),
        (None, [verification("VER", "U"), verification("OWN", "T")], "VER", [], "VER is about U, not about T"),
        (None, [verification("VER", "T")], None, [], "name one that passed: VER"),
    ],
)  # fmt: skip
def test_a_completion_without_one_is_refused_with_the_packets_blockers(
    linked: str | None, verifications: list[dict[str, Any]], named: str | None, blockers: list[Blocker], says: str
) -> None:
    members = {"verification": linked} if linked else {}
    board = view(task("T", "in-progress", **members), verifications=verifications)
    error = refused(board, Action.COMPLETE, task_id="T", verification=named, evidence_text="seen")
    assert error.reason is Refusal.NOT_VERIFIED
    assert list(error.blockers) == blockers
    assert says in str(error)


def test_a_verification_of_something_else_counts_when_the_task_names_it() -> None:
    """Real boards verify a phase and link its tasks to that."""
    board = view(task("T", "in-progress", verification="VER"), verifications=[verification("VER", "phase-2")])
    decision = decided(board, Action.COMPLETE, task_id="T", verification="VER", evidence_text="seen")
    assert decision.verification == "VER"


@pytest.mark.parametrize("evidence", [None, "", "  \n"])
def test_a_completion_without_evidence_is_refused(evidence: str | None) -> None:
    board = view(task("T", "in-progress"), verifications=[verification("VER", "T")])
    error = refused(board, Action.COMPLETE, task_id="T", verification="VER", evidence_text=evidence)
    assert error.reason is Refusal.NEEDS_EVIDENCE


def test_a_completion_says_how_it_was_verified() -> None:
    """The method stands in the verification; where it does not, the operator says it."""
    board = view(task("T", "in-progress"), verifications=[verification("VER", "T", method="")])
    named: dict[str, Any] = {"task_id": "T", "verification": "VER", "evidence_text": "seen"}
    assert refused(board, Action.COMPLETE, **named).reason is Refusal.NEEDS_METHOD
    assert decided(board, Action.COMPLETE, method="inspect", **named).method == "inspect"


@pytest.mark.parametrize("status", [T.PLANNED, T.BLOCKED, T.COMPLETED, T.CANCELLED])
def test_only_what_is_in_progress_is_completed(status: TaskStatus) -> None:
    board = view(task("T", status), verifications=[verification("VER", "T")])
    error = refused(board, Action.COMPLETE, task_id="T", verification="VER", evidence_text="seen")
    assert error.reason is Refusal.NO_TRANSITION


def test_approving_a_done_candidate_is_completing_the_task() -> None:
    """Without a verification it is refused like any completion; with one it is a `complete`, not an `approve`."""
    board = view(task("T", "in-progress"), verifications=[verification("VER", "T")])
    candidate = proposal(ProposalKind.DONE_CANDIDATE, task_id="T")
    assert refused(board, Action.APPROVE, proposal=candidate).reason is Refusal.NOT_VERIFIED
    decision = decided(board, Action.APPROVE, proposal=candidate, verification="VER", evidence_text="seen")
    assert decision.action is Action.COMPLETE
    assert decision.proposal_after is ProposalStatus.APPROVED


@pytest.mark.parametrize("kind", sorted(ADDS))
def test_what_is_added_is_planned_whatever_its_draft_says(kind: ProposalKind) -> None:
    draft = {
        "id": "TASK-9", "description": "Paint\nthe \x1b[31mgate", "status": "completed", "verification": "VER",
        "acceptance_criteria": ["white", 7, ""], "surprise": {"a": 1}, "notes": "approved by ana",
    }  # fmt: skip
    decision = decided(view(), Action.APPROVE, proposal=proposal(kind, draft=draft, priority="p1"))
    after = dict(decision.task_after or {})
    notes = after.pop("notes")
    assert after == {
        "id": "TASK-9", "description": "Paint the gate", "status": "planned", "priority": "p1",
        "acceptance_criteria": ["white"],
    }  # fmt: skip
    assert "approved by ana" not in notes
    assert (decision.task_id, decision.task_before) == ("TASK-9", None)


def test_an_added_task_has_an_id_of_its_own() -> None:
    """Named by nobody it is made of the proposal's; one that is taken, also in the archive, is refused."""
    new = proposal(ProposalKind.NEW_TASK)
    identifier = decided(view(), Action.APPROVE, proposal=new).task_id
    assert identifier is not None
    assert identifier.removeprefix("TASK-").isdigit()
    assert refused(view(task(identifier)), Action.APPROVE, proposal=new).reason is Refusal.TASK_EXISTS
    archived = view(archived=frozenset({identifier}))
    assert refused(archived, Action.APPROVE, proposal=new).reason is Refusal.TASK_EXISTS
    assert decided(archived, Action.APPROVE, proposal=new, task_id="TASK-OWN-1").task_id == "TASK-OWN-1"


@pytest.mark.parametrize("status", T)
def test_unblocking_is_for_what_is_blocked(status: TaskStatus) -> None:
    unblock = proposal(ProposalKind.UNBLOCK, task_id="T")
    board = view(task("T", status))
    if status is not T.BLOCKED:
        assert refused(board, Action.APPROVE, proposal=unblock).reason is Refusal.NO_TRANSITION
        return
    for to, expected in ((None, "in-progress"), (T.PLANNED, "planned")):
        after = decided(board, Action.APPROVE, proposal=unblock, to=to).task_after
        assert after is not None
        assert after["status"] == expected
    assert refused(board, Action.APPROVE, proposal=unblock, to=T.CANCELLED).reason is Refusal.NO_TRANSITION


@pytest.mark.parametrize(
    ("status", "expected"),
    [(T.IN_PROGRESS, "blocked"), (T.BLOCKED, "blocked"), (T.PLANNED, "planned"), (T.COMPLETED, None)],
)
def test_a_recovery_blocks_what_was_running(status: TaskStatus, expected: str | None) -> None:
    """Formats page 1.7: failed → recovery → blocked. What is finished stays finished."""
    board, recovery = view(task("T", status)), proposal(ProposalKind.RECOVERY, task_id="T")
    if expected is None:
        assert refused(board, Action.APPROVE, proposal=recovery).reason is Refusal.NO_TRANSITION
    else:
        after = decided(board, Action.APPROVE, proposal=recovery).task_after
        assert after is not None
        assert after["status"] == expected


def test_notes_are_kept_as_the_origin_keeps_them() -> None:
    """Empty lines go, and so do the oldest beyond twenty."""
    board = view(task("T", notes="\n".join(f"line {n}\n" for n in range(25))))
    after = decided(board, Action.MOVE, task_id="T", to=T.IN_PROGRESS, note="now\nor never").task_after
    assert after is not None
    lines = after["notes"].split("\n")
    assert lines[:-1] == [f"line {n}" for n in range(6, 25)]
    assert lines[-1].endswith("in-progress, by ana: now or never")


@pytest.mark.parametrize("status", [s for s in ProposalStatus if s not in {"open", "deferred"}])
def test_what_is_decided_stays_decided(status: ProposalStatus) -> None:
    decided_already = proposal(ProposalKind.NEW_TASK, status=status)
    for action in (Action.APPROVE, Action.REJECT, Action.DEFER):
        error = refused(view(), action, proposal=decided_already, until_ms=START_MS + 1)
        assert error.reason is Refusal.ALREADY_DECIDED


def test_a_proposal_is_deferred_until_a_time_to_come_and_waits_again_then() -> None:
    new = proposal(ProposalKind.NEW_TASK)
    for until in (None, START_MS - 1, START_MS):
        assert refused(view(), Action.DEFER, proposal=new, until_ms=until).reason is Refusal.NEEDS_DATE
    decision = decided(view(), Action.DEFER, proposal=new, until_ms=START_MS + 10)
    assert decision.proposal_after is ProposalStatus.DEFERRED
    assert not decision.changes_board
    deferred = proposal(ProposalKind.NEW_TASK, status=ProposalStatus.DEFERRED, deferred_until_ms=START_MS + 10)
    assert [deferred.is_open(START_MS + n) for n in (9, 10)] == [False, True]
    assert decided(view(), Action.APPROVE, proposal=deferred).proposal_before is ProposalStatus.DEFERRED


def test_a_decision_keeps_the_evidence_it_was_made_on() -> None:
    new = proposal(ProposalKind.NEW_TASK, evidence=(words("a", "e2"), words("b", "e1"), words("c", "e2")))
    assert decided(view(), Action.REJECT, proposal=new).evidence_ids == ("e2", "e1")


@pytest.mark.parametrize(
    ("board", "reason"),
    [
        (view(), Refusal.NO_TASK),
        (view(archived=frozenset({"T"})), Refusal.NO_TASK),
        (view(task("T"), ambiguous=frozenset({"T"})), Refusal.AMBIGUOUS_TASK),
        (view(task("T", "in_progress")), Refusal.UNKNOWN_STATUS),
        (view({"id": "T"}), Refusal.UNKNOWN_STATUS),
    ],
)
def test_tasks_that_cannot_be_decided_on_are_named(board: Any, reason: Refusal) -> None:
    assert refused(board, Action.MOVE, task_id="T", to=T.IN_PROGRESS).reason is reason


def test_a_recorded_verification_is_whole_and_new() -> None:
    board = view(task("T", "in-progress"), verifications=[verification("OLD", "T")])
    whole: dict[str, Any] = {
        "task_id": "T", "verification": "NEW", "verification_status": "failed", "method": "command",
        "evidence_text": "3 failed",
    }  # fmt: skip
    decision = decided(board, Action.VERIFY, **whole)
    assert (decision.task_after, decision.changes_board) == (None, True)
    for member, value, reason in (
        ("verification", "OLD", Refusal.VERIFICATION_EXISTS),
        ("verification", " ", Refusal.NOT_VERIFIED),
        ("verification_status", "approved", Refusal.UNKNOWN_STATUS),
        ("method", None, Refusal.NEEDS_METHOD),
        ("evidence_text", " ", Refusal.NEEDS_EVIDENCE),
        ("task_id", "U", Refusal.NO_TASK),
    ):
        assert refused(board, Action.VERIFY, **{**whole, member: value}).reason is reason


def test_the_program_itself_only_puts_proposals_away() -> None:
    """Expiring and superseding are records of the program's; whatever changes a board is not for it."""
    board = view(task("T", "in-progress"), verifications=[verification("VER", "T")])
    for action in Action:
        members: dict[str, Any] = {"proposal": proposal(ProposalKind.DONE_CANDIDATE, task_id="T"), "task_id": "T"}
        members |= {"verification": "VER", "evidence_text": "seen", "to": T.BLOCKED}
        if action in {Action.EXPIRE, Action.SUPERSEDE}:
            decision = decided(board, action, SYSTEM, proposal=members["proposal"])
            assert not decision.changes_board
            assert refused(board, action, ANA, **members).reason is Refusal.NOT_AN_OPERATOR
        else:
            assert refused(board, action, SYSTEM, **members).reason is Refusal.NOT_AN_OPERATOR


def test_a_proposal_of_another_workspace_is_refused() -> None:
    other = proposal(ProposalKind.NEW_TASK, workspace="/home/ana/mill")
    assert refused(view(), Action.REJECT, proposal=other).reason is Refusal.OTHER_WORKSPACE


def test_equal_requests_give_equal_decisions() -> None:
    """Ids too: a request that is sent twice in one moment is one decision."""
    board = view(task("T"))
    one, other = (decided(board, Action.MOVE, task_id="T", to=T.IN_PROGRESS) for _ in range(2))
    assert one == other
