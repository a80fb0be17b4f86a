"""Files of the board that are replaced whole, while others may be writing them too.

The new content is durable before it takes the file's place, and the place is durable before anybody is told. Nobody
reads half a file, and a process that dies in between leaves the former one.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from triage.board.json_files import BoardFileError
from triage.board.lock import HeldLock
from triage.board.read import MAX_BOARD_BYTES

MAX_TRIES: Final = 5
"""As often a file is read again that changed under our hands: some tools of the origin write without the lock."""

_MODE: Final = 0o666
"""Of a new file, as the origin's tools create it; the umask decides."""


def read_bytes(path: Path) -> bytes | None:
    """Give the content of a file, None when there is none; raises `BoardFileError`."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BOARD_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BoardFileError(f"{path}: {error.strerror}") from error


def rewrite(path: Path, held: HeldLock, change: Callable[[bytes | None], bytes | None]) -> bool:
    """Replace a file by what `change` makes of its content; None from it leaves the file, and False is given.

    Raises `BoardFileError`, `LockLostError`, and what `change` raises; then the file is as it was.
    """
    target = path.resolve() if path.is_symlink() else path  # a link stays one
    for _ in range(MAX_TRIES):
        seen = _signature(target)
        content = change(read_bytes(target))
        if content is None:
            return False
        if _replace(target, content, held, seen):
            return True
    raise BoardFileError(f"{path}: another writer, without the lock, keeps changing it; try again")


def _replace(target: Path, content: bytes, held: HeldLock, seen: tuple[int, ...] | None) -> bool:
    draft = target.with_name(f".{target.name}.{held.token}.tmp")
    _clear_drafts(target)
    try:
        _write_durably(draft, content, target)
        held.check()
        if _signature(target) != seen:
            return False
        draft.replace(target)
    except OSError as error:
        raise BoardFileError(f"{target}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return True


def _clear_drafts(target: Path) -> None:
    """Remove what dead writers left; one that only was slow, and has lost the lock, can then not replace the file."""
    for draft in target.parent.glob(f".{target.name}.*.tmp"):
        draft.unlink(missing_ok=True)


def _write_durably(draft: Path, content: bytes, target: Path) -> None:
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    with os.fdopen(fd, "wb") as file:
        with suppress(FileNotFoundError):  # a new file has no former mode
            os.fchmod(file.fileno(), target.stat().st_mode & 0o7777)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _signature(path: Path) -> tuple[int, ...] | None:
    """What changes when somebody writes a file; None when there is none."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns
