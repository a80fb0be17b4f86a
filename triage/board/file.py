"""The board of a workspace as its files have it: `.project/tasks.json`, `verification.json` and the archive.

Source: formats/session-triage-origin.md 1.7. Unlike the report's reader (`read.py`), which costs as little as possible
and forgives all, this one is strict: what cannot be read whole cannot be decided on, or written.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from triage.board.archive import TASK_SHARDS, VERIFICATION_SHARDS, archived, move_to_archive
from triage.board.changes import mark_of
from triage.board.documents import BoardView, member, same, status_of_task
from triage.board.json_files import JsonFile, parse
from triage.board.lock import HeldLock
from triage.board.model import Action, ActorKind, ApplicationOutcome, Decision, TaskDocument, TaskStatus
from triage.board.packet import PASSED
from triage.board.read import TASKS, VERIFICATIONS
from triage.board.refusals import Refusal, RefusedError
from triage.board.replace import read_bytes, rewrite
from triage.board.verifications import document_of

PROJECT: Final = TASKS.parent

_Result: TypeAlias = tuple[ApplicationOutcome, str]
"""What came of a decision, and why when nothing had to be, or could be, written."""


def read_view(workspace: Path, name: str) -> BoardView:
    """Read a board whole; `name` is the workspace as text. A board that is missing is an empty one.

    Raises `BoardFileError`.
    """
    tasks = [task for task in _open(workspace / TASKS, "tasks").documents() if member(task, "id")]
    verifications = _open(workspace / VERIFICATIONS, "verifications").documents()
    counts = Counter(member(task, "id") for task in tasks)
    return BoardView(
        workspace=name,
        tasks={member(task, "id"): task for task in reversed(tasks)},
        verifications=(*verifications, *archived(workspace, VERIFICATION_SHARDS)),
        archived=frozenset(member(task, "id") for task in archived(workspace, TASK_SHARDS)),
        ambiguous=frozenset(identifier for identifier, count in counts.items() if count > 1),
    )


def apply(workspace: Path, decision: Decision, held: HeldLock) -> tuple[ApplicationOutcome, str]:
    """Bring a decision into the board's files, once, however often it is called; gives what came of it, in words.

    A task that is no longer what was decided on is a conflict: nothing is written. Raises `BoardFileError`,
    `LockLostError`, and `RefusedError` for a decision that the gate never gave.
    """
    check_completed(decision)
    if decision.action is Action.ARCHIVE:
        return move_to_archive(workspace, decision, held)
    if decision.action is Action.VERIFY:
        return _rewrite(workspace / VERIFICATIONS, "verifications", held, lambda file: _verification(decision, file))
    return _rewrite(workspace / TASKS, "tasks", held, lambda file: _task(workspace, decision, file))


def check_completed(decision: Decision) -> None:
    """Raise `RefusedError` for a decision that completes a task without an operator and a passed verification.

    The gate gives no such decision; this holds whatever else may come to write one.
    """
    after = decision.task_after
    if after is None or status_of_task(after) is not TaskStatus.COMPLETED:
        return
    by_operator = decision.action is Action.COMPLETE and decision.actor.kind is ActorKind.OPERATOR
    verified = decision.verification_status == PASSED and after.get("verification") == decision.verification
    if not (by_operator and verified):
        raise RefusedError(Refusal.NOT_VERIFIED, f"decision {decision.id} completes a task without a verification")


def _rewrite(path: Path, name: str, held: HeldLock, write: Callable[[JsonFile], _Result]) -> _Result:
    """Let `write` change a file's entries; the file is left as it is when it gives a detail: nothing was to be done."""
    result: _Result = ApplicationOutcome.APPLIED, ""

    def change(raw: bytes | None) -> bytes | None:
        nonlocal result
        file = _parsed(path, name, raw)
        result = write(file)
        return None if result[1] else file.content()

    rewrite(path, held, change)
    return result


def _task(workspace: Path, decision: Decision, file: JsonFile) -> _Result:
    """Put the task of a decision in its place; gives why not, when it cannot or need not be."""
    found = [task for task in file.documents() if member(task, "id") == decision.task_id]
    put_away = [task for task in archived(workspace, TASK_SHARDS) if member(task, "id") == decision.task_id]
    if any(mark_of(decision.id) in member(task, "notes") for task in (*found, *put_away)):
        return ApplicationOutcome.APPLIED, "it was on the board already"
    if conflict := _conflict(decision, found, put_away):
        return ApplicationOutcome.CONFLICT, conflict
    if decision.task_after is not None and decision.task_before is not None:
        file.replace(found[0], decision.task_after)
    elif decision.task_after is not None:
        file.add(decision.task_after)
    return ApplicationOutcome.APPLIED, ""


def _conflict(decision: Decision, found: list[TaskDocument], put_away: list[TaskDocument]) -> str:
    """Say what another writer did to a task since it was decided on; nothing when it is as it was."""
    before = decision.task_before
    if before is None:
        return f"another writer has added a task {decision.task_id}" if found or put_away else ""
    if len(found) != 1:
        now = "several tasks are called so" if found else "it is in the archive" if put_away else "it is gone"
        return f"task {decision.task_id} was changed by another writer: {now}"
    names = [*before, *(name for name in found[0] if name not in before)]
    changed = [name for name in names if not same(before.get(name), found[0].get(name))]
    return f"another writer has changed {', '.join(changed)} of task {decision.task_id}" if changed else ""


def _verification(decision: Decision, file: JsonFile) -> _Result:
    document = document_of(decision)
    there = next((v for v in file.documents() if member(v, "id") == decision.verification), None)
    if there is None:
        file.add(document)
        return ApplicationOutcome.APPLIED, ""
    if same(there, document):
        return ApplicationOutcome.APPLIED, "it was recorded already"
    return ApplicationOutcome.CONFLICT, f"another writer has added a verification {decision.verification}"


def _open(path: Path, name: str) -> JsonFile:
    return _parsed(path, name, read_bytes(path))


def _parsed(path: Path, name: str, raw: bytes | None) -> JsonFile:
    return JsonFile(path, name) if raw is None else parse(path, name, raw)
