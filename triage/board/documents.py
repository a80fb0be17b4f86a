"""A board as documents: tasks and verifications exactly as their files have them, and what is read from one.

Whatever a document has beside the members that this project knows belongs to somebody else: it is kept, and it counts
when two documents are compared.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from ingest.clock import iso
from triage.board.model import TaskDocument, TaskStatus

VerificationDocument = Mapping[str, Any]
"""A verification as `verification.json` has it."""

MAX_NOTE_LINES: Final = 20
"""As the origin keeps them: older lines go."""

_LINE_END: Final = re.compile(r"\r\n|\n")


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board as it was read at one moment: tasks by id in the board's order, and verifications.

    `archived` are the ids of tasks that were moved to the archive, `ambiguous` those that several tasks have: the
    first of them is in `tasks`. Archived verifications count as verifications.
    """

    workspace: str
    tasks: Mapping[str, TaskDocument]
    verifications: tuple[VerificationDocument, ...] = ()
    archived: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()

    def verification(self, identifier: str) -> VerificationDocument | None:
        """Give the verification of an id, the first that has it."""
        return next((v for v in self.verifications if member(v, "id") == identifier), None)


def member(document: Mapping[str, Any], name: str) -> str:
    """Give a member as clean text; numbers as their digits, anything else as nothing."""
    value = document.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""


def status_of_task(task: TaskDocument) -> TaskStatus | None:
    """Give the status of a task; None for a word that the board does not know, such as `in_progress`."""
    try:
        return TaskStatus(member(task, "status"))
    except ValueError:
        return None


def linked_verification(task: TaskDocument) -> str | None:
    """Give the id of the verification that a task names."""
    return member(task, "verification") or None


def same(one: object, other: object) -> bool:
    """Whether two documents, or members of them, say the same in whatever order; `true` and 1 are different."""
    return msgspec.json.encode(one, order="deterministic") == msgspec.json.encode(other, order="deterministic")


def noted(task: TaskDocument, line: str) -> str:
    """Give the notes of a task with a line more, as the origin keeps them: no empty lines, the newest twenty."""
    notes = task.get("notes")
    lines = [old for old in _LINE_END.split(notes if isinstance(notes, str) else "") if old.strip()]
    return "\n".join([*lines, line][-MAX_NOTE_LINES:])


def iso_of(at_ms: int) -> str:
    """Write Unix milliseconds as the board's times are written."""
    return iso(at_ms / 1000)


def ms_of(text: str) -> int:
    """Read an ISO time, UTC unless it says otherwise, as Unix milliseconds; raises `ValueError`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
