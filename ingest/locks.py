"""Locks between processes on one state directory: `flock`, so that a killed holder lets go by nature.

The file stays when the lock is gone; its content says who holds it now, or held it last. Only the lock itself decides.
Source: flock(2); locks on network file systems work from Linux 2.6.12.
"""

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import msgspec

from ingest.clock import now_iso

DAEMON_LOCK: Final = "daemon.lock"
"""Held by whoever reads the sources: one daemon a state directory."""

PROCESSORS_LOCK: Final = "processors.lock"
"""Held by whoever runs the processors: a daemon, or an import while no daemon runs."""

PATIENCE_SECONDS: Final = 0.5
"""How long a taker waits: `is_held` holds a free lock for some microseconds, and must not make a start fail."""

_RETRY_SECONDS: Final = 0.02
_MAX_CONTENT_BYTES: Final = 4096


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who holds a lock: process id, since when (ISO), and where it answers HTTP."""

    pid: int
    since: str
    url: str | None = None


@dataclass(slots=True)
class Lock:
    """A lock that this process holds until `release`, or until it ends in any way."""

    path: Path
    _fd: int

    def describe(self, url: str | None = None) -> None:
        """Write who holds the lock, for the one who is refused."""
        holder = Holder(os.getpid(), now_iso(), url)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        """Let go; once is enough."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def try_lock(path: Path, patience_seconds: float = PATIENCE_SECONDS) -> Lock | None:
    """Take the lock, or give None when another process holds it; raises `OSError` when the file cannot be opened."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + patience_seconds
    while not _flock(fd, fcntl.LOCK_EX):
        if time.monotonic() >= deadline:
            os.close(fd)
            return None
        time.sleep(_RETRY_SECONDS)
    lock = Lock(path, fd)
    lock.describe()
    return lock


def is_held(path: Path) -> bool:
    """Whether a process holds the lock now; a file that cannot be opened is nobody's."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _flock(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def holder(path: Path) -> Holder | None:
    """Who holds the lock, or held it last; None when its file says nothing readable."""
    try:
        with path.open("rb") as stream:
            return msgspec.json.decode(stream.read(_MAX_CONTENT_BYTES), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def _flock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
