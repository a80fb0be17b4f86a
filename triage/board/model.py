"""The words of the gate: who acts, what is proposed and on which evidence, and what was decided.

Everything here is a frozen value; the store keeps them, the gate makes them, and commands show them. Times are Unix
milliseconds (UTC), workspaces are absolute paths as text, tasks are JSON objects as they stand on the board.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

TaskDocument = Mapping[str, Any]
"""A task as the board's file has it, with members that this project does not know; their order is kept."""

NO_WORKSPACE: Final = ""
"""The workspace of proposals from conversations that name none: they can be decided on for any board."""

_PROPOSALS: Final = uuid.UUID("3f4d1b52-4d0c-5f0e-9d59-6f1c7a3f6a10")
"""The name space of proposals' ids: any fixed UUID does, this one was drawn for it."""


class ProposalKind(StrEnum):
    """What a proposal asks for."""

    NEW_TASK = "new-task"
    UNBLOCK = "unblock"
    DONE_CANDIDATE = "done-candidate"
    RECOVERY = "recovery"
    IDEA_PROMOTION = "idea-promotion"
    TOOLING_CLAIM = "tooling-claim"


class ProposalStatus(StrEnum):
    """How a proposal stands; a deferred one is open again once its time has come (`Proposal.is_open`)."""

    OPEN = "open"
    DEFERRED = "deferred"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class TaskStatus(StrEnum):
    """The statuses that the board knows; the spelling is exact."""

    PLANNED = "planned"
    IN_PROGRESS = "in-progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Action(StrEnum):
    """What a decision does; `supersede` and `expire` are the system's own, the others an operator's."""

    APPROVE = "approve"
    REJECT = "reject"
    DEFER = "defer"
    COMPLETE = "complete"
    MOVE = "move"
    REOPEN = "reopen"
    VERIFY = "verify"
    ARCHIVE = "archive"
    SUPERSEDE = "supersede"
    EXPIRE = "expire"


class ActorKind(StrEnum):
    """Who somebody is to the gate: operators decide, agents read and propose, the system tidies up."""

    OPERATOR = "operator"
    AGENT = "agent"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody who acts: a name to be held to, and what the name may do."""

    name: str
    kind: ActorKind


SYSTEM: Final = Actor("session-triage", ActorKind.SYSTEM)
"""The program itself: what expires or is superseded is so by its rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Words in a conversation that speak for a proposal; one a (`event_id`, `rule`), whatever is read again.

    `words` are a quotation: shown, never obeyed. `rule` names the rule, or the model, that found them; `confidence` is
    0 to 1. `time_iso` is when they were said.
    """

    event_id: str
    rule: str
    provider_account_key: str
    thread_id: str
    time_iso: str
    role: str
    words: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something an operator is asked to decide, with its evidence, newest first and bounded.

    `subject` is what it is about: a task's id, or whatever else makes it the same proposal when it is found again;
    `round` counts how often the subject came up after a decision. `task_id` is the task on the board, or the one that
    `draft`, a task document, would add. `evidence_count` and `thread_count` count all that was ever found.
    """

    id: str
    workspace: str
    kind: ProposalKind
    subject: str
    title: str
    why: str
    proposed_by: Actor
    created_ms: int
    updated_ms: int
    round: int = 1
    status: ProposalStatus = ProposalStatus.OPEN
    priority: str | None = None
    task_id: str | None = None
    draft: TaskDocument | None = None
    deferred_until_ms: int | None = None
    evidence: tuple[Evidence, ...] = ()
    evidence_count: int = 0
    thread_count: int = 0

    def is_open(self, at_ms: int) -> bool:
        """Whether it waits for a decision then."""
        due = self.deferred_until_ms is not None and self.deferred_until_ms <= at_ms
        return self.status is ProposalStatus.OPEN or (self.status is ProposalStatus.DEFERRED and due)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided: kept for ever as it is.

    `proposal_before` and `proposal_after` are the proposal's statuses, None when the decision is about a task alone.
    `task_before` and `task_after` are the task's whole documents; before is None when the task is new, after when it
    moves to the archive as it is, and both when no task changes. `evidence_ids` are the event ids that the operator had
    before them. `verification` is the id of the verification that a completion names, or that the operator records,
    `verification_status` how it stood then, `evidence_text` what the operator says of it, and `method` how it was
    verified. `number` is its place in the history, from 1; 0 until it is stored.
    """

    id: str
    workspace: str
    actor: Actor
    action: Action
    at_ms: int
    proposal_id: str | None = None
    proposal_before: ProposalStatus | None = None
    proposal_after: ProposalStatus | None = None
    deferred_until_ms: int | None = None
    task_id: str | None = None
    task_before: TaskDocument | None = None
    task_after: TaskDocument | None = None
    evidence_ids: tuple[str, ...] = ()
    verification: str | None = None
    verification_status: str | None = None
    method: str | None = None
    evidence_text: str | None = None
    note: str | None = None
    number: int = 0

    @property
    def changes_board(self) -> bool:
        """Whether a file of the board must change for it: only then it waits for an `Application`."""
        return self.task_after is not None or self.action in {Action.VERIFY, Action.ARCHIVE}


class ApplicationOutcome(StrEnum):
    """What came of a decision on the board's file."""

    APPLIED = "applied"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """That a decision reached the board's file, or why it did not; a decision without one is still to be applied."""

    decision_id: str
    outcome: ApplicationOutcome
    at_ms: int
    detail: str = ""


def proposal_id(workspace: str, kind: ProposalKind, subject: str, round_: int) -> str:
    """Give the id of a proposal: the same thing proposed again is the same proposal."""
    return str(uuid.uuid5(_PROPOSALS, "\0".join((workspace, kind.value, subject, str(round_)))))
