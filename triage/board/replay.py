"""The state that a history amounts to: proposals and tasks as they are when every decision is taken in its order.

This is the gate's own proof: what the store and the board say must be what the history says. Tools of others change
boards too, so for a task the replay gives what was last decided on it, not necessarily what it is by now.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from triage.board.documents import same
from triage.board.model import Application, ApplicationOutcome, Decision, ProposalStatus, TaskDocument


@dataclass(frozen=True, slots=True)
class Replayed:
    """Proposals' statuses by id, and tasks' documents by workspace and id; proposals not named are open."""

    proposals: Mapping[str, ProposalStatus] = field(default_factory=lambda: MappingProxyType({}))
    tasks: Mapping[tuple[str, str], TaskDocument] = field(default_factory=lambda: MappingProxyType({}))


def replay(history: Iterable[tuple[Decision, Application | None]]) -> Replayed:
    """Give the state after a history; a decision not applied yet counts, one that met a conflict does not."""
    proposals: dict[str, ProposalStatus] = {}
    tasks: dict[tuple[str, str], TaskDocument] = {}
    for decision, application in history:
        conflict = application is not None and application.outcome is ApplicationOutcome.CONFLICT
        if decision.proposal_id is not None and decision.proposal_after is not None:
            proposals[decision.proposal_id] = ProposalStatus.OPEN if conflict else decision.proposal_after
        if decision.task_id is not None and decision.task_after is not None and not conflict:
            tasks[decision.workspace, decision.task_id] = decision.task_after
    return Replayed(MappingProxyType(proposals), MappingProxyType(tasks))


def undone(task: TaskDocument, history: Iterable[tuple[Decision, Application | None]]) -> Decision | None:
    """Give the last decision on a task when the board has the task again as it was before.

    Tools that read a board without its lock may write back what they had read, and so undo what was decided meanwhile.
    """
    last: Decision | None = None
    for decision, application in history:
        applied = application is not None and application.outcome is ApplicationOutcome.APPLIED
        if applied and decision.task_after is not None and decision.task_id == task.get("id"):
            last = decision
    return last if last is not None and same(task, last.task_before) else None
