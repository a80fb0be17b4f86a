"""The task that an approved proposal adds to the board.

A draft may quote a conversation, so it is cut down to members that a planned task may have, with text that is one
clean line each. Whatever it says of itself, it is planned, and nothing is verified.
"""

import uuid
from typing import Any, Final

from triage.board.model import Proposal, TaskStatus
from triage.board.refusals import Refusal, RefusedError
from triage.report.words import one_line, quote

MAX_DESCRIPTION: Final = 1000
"""Characters: the longest descriptions of real boards are about half of that."""

MAX_LIST: Final = 50
"""Entries of a list member, such as acceptance criteria: what is longer belongs into a document."""

_TEXTS: Final = ("priority", "phase", "milestone", "type")
_LISTS: Final = ("files", "acceptance_criteria", "depends_on", "references")
_ID_DIGITS: Final = 8


def draft_of(proposal: Proposal, task_id: str | None = None) -> dict[str, Any]:
    """Give the task that a proposal would add; raises `RefusedError` when it says nothing to do."""
    draft = proposal.draft or {}
    description = quote(_text(draft.get("description")) or proposal.title, MAX_DESCRIPTION)
    if not description:
        raise RefusedError(Refusal.NOTHING_TO_ADD, f"proposal {proposal.id} has no description of a task")
    identifier = task_id or proposal.task_id or _text(draft.get("id")) or task_id_of(proposal.id)
    task: dict[str, Any] = {"id": one_line(identifier), "description": description, "status": TaskStatus.PLANNED.value}
    if priority := proposal.priority:
        task["priority"] = priority
    task |= {name: quote(text) for name in _TEXTS if (text := _text(draft.get(name)))}
    task |= {name: entries for name in _LISTS if (entries := _list(draft.get(name)))}
    return task


def task_id_of(proposal_id: str) -> str:
    """Give an id of the board's form that a proposal's task has when nobody names one: the same each time."""
    return f"TASK-{uuid.UUID(proposal_id).int % 10**_ID_DIGITS:0{_ID_DIGITS}}"


def _text(value: object) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _list(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        return []
    return [quote(entry) for entry in value[:MAX_LIST] if _text(entry)]
