"""Which status may follow which, for tasks and for proposals.

Source: formats/session-triage-origin.md 1.7. The origin names no way to `cancelled`; here an operator may give up what
is pending. What is completed or cancelled is reopened only by an operator's own decision to do so.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from triage.board.model import Action, ProposalStatus, TaskStatus

_MOVES: Final[Mapping[TaskStatus, frozenset[TaskStatus]]] = MappingProxyType(
    {
        TaskStatus.PLANNED: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.CANCELLED}),
        TaskStatus.IN_PROGRESS: frozenset(
            {TaskStatus.BLOCKED, TaskStatus.PLANNED, TaskStatus.COMPLETED, TaskStatus.CANCELLED}
        ),
        TaskStatus.BLOCKED: frozenset({TaskStatus.IN_PROGRESS, TaskStatus.PLANNED, TaskStatus.CANCELLED}),
        TaskStatus.COMPLETED: frozenset(),
        TaskStatus.CANCELLED: frozenset(),
    }
)

FINAL: Final = frozenset({TaskStatus.COMPLETED, TaskStatus.CANCELLED})

_OUTCOMES: Final[Mapping[Action, ProposalStatus]] = MappingProxyType(
    {
        Action.APPROVE: ProposalStatus.APPROVED,
        Action.COMPLETE: ProposalStatus.APPROVED,
        Action.REJECT: ProposalStatus.REJECTED,
        Action.DEFER: ProposalStatus.DEFERRED,
        Action.SUPERSEDE: ProposalStatus.SUPERSEDED,
        Action.EXPIRE: ProposalStatus.EXPIRED,
    }
)

DECIDABLE: Final = frozenset({ProposalStatus.OPEN, ProposalStatus.DEFERRED})
"""A deferred proposal may be decided before its time has come: an operator may change their mind."""

OPERATORS_ACTIONS: Final = frozenset(Action) - {Action.SUPERSEDE, Action.EXPIRE}
SYSTEMS_ACTIONS: Final = frozenset({Action.SUPERSEDE, Action.EXPIRE})
"""All that is ever done without an operator: putting a proposal away, with a record. It never changes the board."""


def may_follow(before: TaskStatus, after: TaskStatus) -> bool:
    """Whether a task may go from one status to another; staying is no move."""
    return after in _MOVES[before]


def next_statuses(before: TaskStatus) -> list[TaskStatus]:
    """Where a task may go, in the board's order."""
    return [status for status in TaskStatus if status in _MOVES[before]]


def outcome_of(action: Action) -> ProposalStatus | None:
    """What becomes of a proposal by an action; None when the action is about a task alone."""
    return _OUTCOMES.get(action)
