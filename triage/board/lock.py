"""The lock that everybody who writes a board takes: a file that only one can create.

Source: formats/session-triage-origin.md 1.7; the origin's tools take the same lock, so its numbers are not ours to
choose. A lock whose file is older than two minutes is stale: its holder died. Taking one over is the protocol's weak
point (two takers, or a holder that was only slow), so three things are done beyond it: what is taken away is looked at
before it counts as taken, a holder looks again before it replaces the board (`HeldLock.check`), and only a lock of
one's own is removed.
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ingest.clock import now_iso

LOCK: Final = "tasks.lock"

WAIT_SECONDS: Final = 1.5
RETRY_SECONDS: Final = 0.025
STALE_SECONDS: Final = 120.0

_MAX_CONTENT_BYTES: Final = 4096
_MODE: Final = 0o666
"""As the origin's tools create it; the umask decides."""


class BoardBusyError(Exception):
    """Somebody else holds the lock, for longer than one waits; the message says who."""


class LockLostError(Exception):
    """The lock was taken over as stale while its holder was still at work; nothing was written."""


class _Content(msgspec.Struct, rename="camel"):
    token: str
    acquired_at: str = ""


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock that this process holds."""

    path: Path
    token: str

    def check(self) -> None:
        """Raise `LockLostError` unless the lock is still ours; to be asked right before the board is replaced."""
        content = _read(self.path)
        if content is None or content.token != self.token:
            raise LockLostError(f"{self.path}: another writer took the lock over; nothing was written, try again")


@contextmanager
def board_lock(folder: Path, wait_seconds: float = WAIT_SECONDS) -> Iterator[HeldLock]:
    """Hold the lock of the board in `folder` (`.project`, made when missing).

    Raises `BoardBusyError` when another holds it for all the time that one waits, and `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held = HeldLock(folder / LOCK, f"{os.getpid()}-{secrets.token_hex(8)}")
    deadline = time.monotonic() + wait_seconds
    while not _create(held):
        if _take_away_stale(held):
            continue
        if time.monotonic() >= deadline:
            raise BoardBusyError(_busy(held.path))
        time.sleep(RETRY_SECONDS)
    try:
        yield held
    finally:
        _release(held)


def _create(held: HeldLock) -> bool:
    content = msgspec.json.encode(_Content(held.token, now_iso()))
    try:
        fd = os.open(held.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    except FileExistsError:
        return False
    try:
        os.write(fd, content)
    except OSError:
        held.path.unlink(missing_ok=True)  # an empty lock would keep everybody out for two minutes
        raise
    finally:
        os.close(fd)
    return True


def _take_away_stale(held: HeldLock) -> bool:
    """Remove a stale lock; gives whether it is worth trying to create one at once."""
    seen = _stat(held.path)
    if seen is None:
        return True
    if time.time() - seen.st_mtime <= STALE_SECONDS:
        return False
    aside = held.path.with_name(f"{LOCK}.{held.token}.stale")
    try:
        held.path.rename(aside)
    except FileNotFoundError:
        return True
    if not _same(seen, _stat(aside)):
        _put_back(aside, held.path)
        return False
    aside.unlink(missing_ok=True)
    return True


def _put_back(aside: Path, path: Path) -> None:
    """Give a fresh lock back that another taker had created in place of the stale one."""
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        pass  # a third holds it now; whose lock this was finds out when it looks again
    finally:
        aside.unlink(missing_ok=True)


def _release(held: HeldLock) -> None:
    content = _read(held.path)
    if content is not None and content.token == held.token:
        held.path.unlink(missing_ok=True)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _same(one: os.stat_result, other: os.stat_result | None) -> bool:
    return other is not None and (one.st_dev, one.st_ino, one.st_mtime_ns) == (
        other.st_dev,
        other.st_ino,
        other.st_mtime_ns,
    )


def _read(path: Path) -> _Content | None:
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MAX_CONTENT_BYTES), type=_Content)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _busy(path: Path) -> str:
    content, seen = _read(path), _stat(path)
    who = f"{content.token} since {content.acquired_at}" if content else "somebody"
    age = f", {time.time() - seen.st_mtime:.0f} s old" if seen else ""
    return (
        f"{path}: the board is locked by {who}{age}; try again (a lock older than {STALE_SECONDS:.0f} s is taken over)"
    )
