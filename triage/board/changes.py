"""What a decision does to a task: the task's whole document before and after.

Only members that a decision is about change; every other one, known or not, stays as it is. A line in the task's notes
says what happened and carries the decision's mark, by which it is found again after a crash (`mark_of`).
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from triage.board.documents import iso_of, member, noted, status_of_task
from triage.board.drafts import draft_of
from triage.board.model import Proposal, ProposalKind, TaskDocument, TaskStatus
from triage.board.refusals import Refusal, RefusedError
from triage.board.request import Hearing
from triage.board.transitions import FINAL, may_follow, next_statuses
from triage.board.verifications import Verified, check_completion, check_new
from triage.report.words import quote

_ADDS: Final = frozenset({ProposalKind.NEW_TASK, ProposalKind.IDEA_PROMOTION, ProposalKind.TOOLING_CLAIM})
"""Proposals that become a task; the others do when they bring a draft and name no task."""

_MARK_DIGITS: Final = 12
"""Digits of a decision's id in a note: among the twenty notes of one task no two are alike."""


@dataclass(frozen=True, slots=True)
class Change:
    """The task that a decision is about and its document before and after; no `after` leaves the board as it is."""

    task_id: str | None
    before: TaskDocument | None = None
    after: TaskDocument | None = None
    verified: Verified | None = None


def mark_of(decision_id: str) -> str:
    """Give the words in a task's notes by which a decision is known."""
    return f"(decision {decision_id.replace('-', '')[:_MARK_DIGITS]})"


def approve(hearing: Hearing, proposal: Proposal) -> Change:
    """Do what a proposal proposes; raises `RefusedError` when the board does not allow it (any more)."""
    if proposal.kind in _ADDS or (proposal.draft is not None and _may_add(proposal)):
        return _add(hearing, proposal)
    task = task_for(hearing, proposal.task_id)
    if proposal.kind is ProposalKind.UNBLOCK:
        return _unblock(hearing, task)
    return _recover(hearing, task)


def _may_add(proposal: Proposal) -> bool:
    """Whether a recovery, or an unblocking, is of something that is no task yet."""
    return proposal.kind is ProposalKind.RECOVERY or (
        proposal.kind is ProposalKind.UNBLOCK and proposal.task_id is None
    )


def complete(hearing: Hearing) -> Change:
    """Complete a task; raises `RefusedError` unless a verification of it that passed is named, with evidence."""
    task = task_for(hearing, hearing.request.task_id)
    verified = check_completion(hearing.request, task, hearing.board)
    words = f"completed, verification {verified.id}: {quote(hearing.request.evidence_text or '')}"
    change = _go(hearing, task, TaskStatus.COMPLETED, words)
    after = {**(change.after or {}), "verification": verified.id}
    return replace(change, after=after, verified=verified)


def move(hearing: Hearing) -> Change:
    """Let a task go to another status; raises `RefusedError` for `completed`, and where there is no way."""
    task = task_for(hearing, hearing.request.task_id)
    to = hearing.request.to
    if to is None:
        raise RefusedError(Refusal.NO_TRANSITION, "say where the task shall go")
    if to is TaskStatus.COMPLETED:
        raise RefusedError(Refusal.NOT_VERIFIED, "a task is completed with `complete`, which names a verification")
    return _go(hearing, task, to, str(to))


def reopen(hearing: Hearing) -> Change:
    """Plan a finished task again; its verification stays in the history, and the task no longer names it."""
    task = task_for(hearing, hearing.request.task_id)
    status = _status(task)
    if status not in FINAL:
        raise RefusedError(Refusal.NO_TRANSITION, f"task {member(task, 'id')} is {status}: there is nothing to reopen")
    after = {name: value for name, value in task.items() if name != "verification"}
    after |= {"status": TaskStatus.PLANNED.value, "notes": _notes(hearing, task, "reopened")}
    return Change(member(task, "id"), task, after)


def verify(hearing: Hearing) -> Change:
    """Record a verification of a task; the task itself stays as it is."""
    task = task_for(hearing, hearing.request.task_id)
    return Change(member(task, "id"), verified=check_new(hearing.request, hearing.board))


def archive(hearing: Hearing) -> Change:
    """Move a completed task to the archive as it is; raises `RefusedError` for any other."""
    task = task_for(hearing, hearing.request.task_id)
    if _status(task) is not TaskStatus.COMPLETED:
        raise RefusedError(
            Refusal.NO_TRANSITION, f"task {member(task, 'id')} is {_status(task)}: only completed ones go"
        )
    return Change(member(task, "id"), task)


def task_for(hearing: Hearing, task_id: str | None) -> TaskDocument:
    """Give the task of an id; raises `RefusedError` when the board has none, or several."""
    if task_id is None:
        raise RefusedError(Refusal.NO_TASK, "no task is named")
    if task_id in hearing.board.ambiguous:
        raise RefusedError(Refusal.AMBIGUOUS_TASK, f"several tasks are called {task_id}: give them names of their own")
    task = hearing.board.tasks.get(task_id)
    if task is None:
        where = "in the archive" if task_id in hearing.board.archived else "not on the board"
        raise RefusedError(Refusal.NO_TASK, f"task {task_id} is {where}")
    return task


def _add(hearing: Hearing, proposal: Proposal) -> Change:
    draft = draft_of(proposal, hearing.request.task_id)
    identifier = str(draft["id"])
    if identifier in hearing.board.tasks or identifier in hearing.board.archived:
        message = f"there is a task {identifier} already: reject the proposal, or approve it with --task-id"
        raise RefusedError(Refusal.TASK_EXISTS, message)
    after: dict[str, Any] = {**draft, "notes": _notes(hearing, draft, f"added, proposed as {proposal.kind}")}
    return Change(identifier, None, after)


def _unblock(hearing: Hearing, task: TaskDocument) -> Change:
    status = _status(task)
    if status is not TaskStatus.BLOCKED:
        raise RefusedError(Refusal.NO_TRANSITION, f"task {member(task, 'id')} is {status}, not blocked any more")
    to = hearing.request.to or TaskStatus.IN_PROGRESS
    if to not in {TaskStatus.IN_PROGRESS, TaskStatus.PLANNED}:
        raise RefusedError(Refusal.NO_TRANSITION, f"unblocked tasks are in-progress or planned, not {to}")
    return _go(hearing, task, to, f"unblocked, {to}")


def _recover(hearing: Hearing, task: TaskDocument) -> Change:
    """What runs is blocked; what is planned or blocked stays so, and a note says that a run failed."""
    status = _status(task)
    if status in FINAL:
        raise RefusedError(Refusal.NO_TRANSITION, f"task {member(task, 'id')} is {status}: reopen it first")
    if status is TaskStatus.IN_PROGRESS:
        return _go(hearing, task, TaskStatus.BLOCKED, "blocked, a run of it failed")
    return Change(member(task, "id"), task, {**task, "notes": _notes(hearing, task, f"{status}, a run of it failed")})


def _go(hearing: Hearing, task: TaskDocument, to: TaskStatus, words: str) -> Change:
    status = _status(task)
    if not may_follow(status, to):
        ways = ", ".join(next_statuses(status)) or "nowhere: only `reopen` opens it again"
        raise RefusedError(
            Refusal.NO_TRANSITION, f"task {member(task, 'id')} is {status} and cannot be {to}; it can go to {ways}"
        )
    return Change(member(task, "id"), task, {**task, "status": to.value, "notes": _notes(hearing, task, words)})


def _status(task: TaskDocument) -> TaskStatus:
    status = status_of_task(task)
    if status is None:
        word = member(task, "status") or "nothing"
        message = f"task {member(task, 'id')} has the status {word!r}, which the board does not know: mend it by hand"
        raise RefusedError(Refusal.UNKNOWN_STATUS, message)
    return status


def _notes(hearing: Hearing, task: TaskDocument, words: str) -> str:
    note = f": {quote(hearing.request.note)}" if hearing.request.note else ""
    mark = mark_of(hearing.decision_id)
    return noted(task, f"[{iso_of(hearing.at_ms)}] session-triage {mark} {words}, by {hearing.actor.name}{note}")
