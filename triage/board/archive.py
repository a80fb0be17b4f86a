"""The archive: JSON Lines to which completed tasks and their verifications move, so that boards stay small.

Source: formats/session-triage-origin.md 1.7 (`.project/archive/completed-tasks-NNNN.jsonl`, and beside it
`verification-ledger-NNNN.jsonl`). An entry is in the archive before it leaves the board, so that a crash in between
leaves it in both, and never in neither; doing it again ends it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from triage.board.documents import linked_verification, member, same
from triage.board.json_files import BoardFileError, JsonFile, parse
from triage.board.lock import HeldLock
from triage.board.model import ApplicationOutcome, Decision
from triage.board.read import TASKS, VERIFICATIONS
from triage.board.replace import read_bytes, rewrite

ARCHIVE: Final = TASKS.parent / "archive"
TASK_SHARDS: Final = "completed-tasks"
VERIFICATION_SHARDS: Final = "verification-ledger"

MAX_SHARD_BYTES: Final = 1024 * 1024
"""A shard that is larger is left, and another begun: each change writes one anew."""


def archived(workspace: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Give the documents in the shards of a name, in order; raises `BoardFileError` for a line that is none."""
    for shard in _shards(workspace, name):
        for number, line in enumerate((read_bytes(shard) or b"").splitlines(), start=1):
            if not line.strip():
                continue
            try:
                yield msgspec.json.decode(line, type=dict[str, Any])
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BoardFileError(f"{shard}:{number}: {error}") from error


def move_to_archive(workspace: Path, decision: Decision, held: HeldLock) -> tuple[ApplicationOutcome, str]:
    """Move the task of a decision, with the verifications that are about it alone; gives what came of it, in words."""
    board = _open(workspace / TASKS, "tasks")
    tasks = [task for task in board.documents() if member(task, "id") == decision.task_id]
    there = any(same(task, decision.task_before) for task in archived(workspace, TASK_SHARDS))
    is_same = len(tasks) == 1 and same(tasks[0], decision.task_before)
    if not is_same and (tasks or not there):  # gone from the board and in the archive, it was moved before a crash
        return ApplicationOutcome.CONFLICT, f"another writer has changed task {decision.task_id}"
    _move(workspace / TASKS, "tasks", TASK_SHARDS, tasks, held)
    linked = {linked_verification(task) for task in board.documents() if member(task, "id") != decision.task_id}
    verifications = _open(workspace / VERIFICATIONS, "verifications").documents()
    about = [v for v in verifications if member(v, "target") == decision.task_id and member(v, "id") not in linked]
    _move(workspace / VERIFICATIONS, "verifications", VERIFICATION_SHARDS, about, held)
    return ApplicationOutcome.APPLIED, ""


def _move(path: Path, name: str, shards: str, documents: list[Mapping[str, Any]], held: HeldLock) -> None:
    """Write documents at the end of the last shard, but for those that are there; then take them out of the file."""
    if not documents:
        return
    workspace = path.parent.parent
    known = list(archived(workspace, shards))
    new = [document for document in documents if not any(same(document, each) for each in known)]
    lines = _open(path, name).lines(new)
    if lines:
        (workspace / ARCHIVE).mkdir(exist_ok=True)
        rewrite(_last_shard(workspace, shards), held, lambda raw: _ended(raw or b"") + lines)
    rewrite(path, held, lambda raw: _without(parse(path, name, raw), documents) if raw is not None else None)


def _without(file: JsonFile, documents: list[Mapping[str, Any]]) -> bytes:
    file.remove(documents)
    return file.content()


def _shards(workspace: Path, name: str) -> list[Path]:
    return sorted((workspace / ARCHIVE).glob(f"{name}-*.jsonl"))


def _last_shard(workspace: Path, name: str) -> Path:
    shards = _shards(workspace, name)
    if shards and shards[-1].stat().st_size < MAX_SHARD_BYTES:
        return shards[-1]
    return workspace / ARCHIVE / f"{name}-{len(shards) + 1:04}.jsonl"


def _ended(raw: bytes) -> bytes:
    """Give lines with the last one ended: somebody's editor may have left that out."""
    return raw if not raw or raw.endswith(b"\n") else raw + b"\n"


def _open(path: Path, name: str) -> JsonFile:
    raw = read_bytes(path)
    return JsonFile(path, name) if raw is None else parse(path, name, raw)
