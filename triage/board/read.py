"""Reads the board of a workspace, `.project/tasks.json` and `.project/verification.json`, and changes nothing.

Source: formats/session-triage-origin.md 1.7, E47. A lock does not matter for reading: writers replace the file whole.
A board that is missing is an empty one; whatever is wrong with one is a warning and costs as little as possible.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from triage.board.documents import member

TASKS: Final = Path(".project") / "tasks.json"
VERIFICATIONS: Final = Path(".project") / "verification.json"

MAX_BOARD_BYTES: Final = 64 * 1024 * 1024
"""Real boards hold a few hundred tasks in under 1 MB; what is larger by this much is no board."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task as the report needs it; `verification` is the id of the verification that it names."""

    id: str
    status: str
    description: str
    priority: str | None = None
    verification: str | None = None
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """One verification, and what it is about."""

    id: str
    target: str
    status: str


@dataclass(frozen=True, slots=True)
class BoardWarning:
    """Something wrong with a board file: its place, a word for the reason, and what to know."""

    where: str
    reason: str
    detail: str


@dataclass(slots=True)
class TaskBoard:
    """Tasks in the board's order, verifications, and what was wrong."""

    path: Path
    tasks: list[Task] = field(default_factory=list)
    verifications: list[Verification] = field(default_factory=list)
    warnings: list[BoardWarning] = field(default_factory=list)

    def verification_of(self, task: Task) -> str | None:
        """Give the status of the verification that belongs to a task: one that passed before any other."""
        linked = [v.status for v in self.verifications if v.target == task.id or v.id == task.verification]
        return "passed" if "passed" in linked else (linked[-1] if linked else None)


def read_board(workspace: Path) -> TaskBoard:
    """Read the board of a workspace; never raises for what lies there."""
    board = TaskBoard(workspace / TASKS)
    for number, entry in enumerate(_entries(board, board.path, "tasks"), start=1):
        if task := _task(entry):
            board.tasks.append(task)
        else:
            _warn(board, board.path, "not-a-task", f"entry {number} has no id")
    _warn_of_twins(board)
    for entry in _entries(board, workspace / VERIFICATIONS, "verifications"):
        if verification := _verification(entry):
            board.verifications.append(verification)
    return board


def _entries(board: TaskBoard, path: Path, name: str) -> list[Any]:
    """Give the list of a board file, which may also be the whole file."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BOARD_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        _warn(board, path, "unreadable", error.strerror or str(error))
        return []
    if len(raw) > MAX_BOARD_BYTES:
        _warn(board, path, "too-large", f"more than {MAX_BOARD_BYTES} bytes")
        return []
    return _list(board, path, name, raw.removeprefix(b"\xef\xbb\xbf"))


def _list(board: TaskBoard, path: Path, name: str, raw: bytes) -> list[Any]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _warn(board, path, "invalid-json", str(error))
        return []
    entries = value.get(name) if isinstance(value, dict) else value
    if isinstance(entries, list):
        return entries
    _warn(board, path, "not-a-list", f"`{name}` is not a list")
    return []


def _task(entry: object) -> Task | None:
    if not isinstance(entry, dict) or not (identifier := member(entry, "id")):
        return None
    return Task(
        id=identifier,
        status=member(entry, "status"),
        description=member(entry, "description"),
        priority=member(entry, "priority") or None,
        verification=member(entry, "verification") or None,
        notes=member(entry, "notes"),
    )


def _verification(entry: object) -> Verification | None:
    if not isinstance(entry, dict) or not (identifier := member(entry, "id")):
        return None
    return Verification(identifier, member(entry, "target"), member(entry, "status").lower())


def _warn_of_twins(board: TaskBoard) -> None:
    twins = [name for name, count in Counter(task.id for task in board.tasks).items() if count > 1]
    for name in twins:
        _warn(board, board.path, "duplicate-id", f"several tasks are called {name}; the first counts")
    seen: set[str] = set()
    board.tasks = [t for t in board.tasks if not (t.id in seen or seen.add(t.id))]  # type: ignore[func-returns-value]


def _warn(board: TaskBoard, path: Path, reason: str, detail: str) -> None:
    board.warnings.append(BoardWarning(str(path), reason, detail))
