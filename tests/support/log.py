"""Logs for tests: small ones to write to, and processes that write beside the test."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.log.contract import EventLog, NewRecord, Record, StateKey, Topic
from ingest.log.state_contract import Commit, StateLog

ALL = 2**62
"""No bound on bytes."""


_MEMORY = Path("/dev/shm")  # noqa: S108 - where a disk sync costs nothing, for tests of thousands of commits


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory where the system has one."""
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        yield Path(name)


def captured(*values: str, key: str = "pi/thread") -> list[NewRecord]:
    """Records of `conversations.captured` with these values."""
    return [NewRecord(Topic.CAPTURED, key, value.encode()) for value in values]


def everything(log: EventLog, topic: Topic) -> list[Record]:
    """All records of a topic, one partition after the other."""
    found: list[Record] = []
    for partition in range(log.partitions(topic)):
        after = 0
        while batch := log.read(topic, after, 1_000_000, ALL, partition):
            found += batch
            after = batch[-1].offset
    return found


def values(log: EventLog, topic: Topic) -> list[str]:
    """The values of all records of a topic."""
    return [record.value.decode() for record in everything(log, topic)]


def commit(
    log: StateLog,
    offset: int,
    *,
    group: str = "normalize",
    records: Iterable[NewRecord] = (),
    state: dict[StateKey, bytes | None] | None = None,
) -> None:
    """Move a group on `captured` from where it is."""
    after = log.committed(group, Topic.CAPTURED)
    log.commit(Commit(group, Topic.CAPTURED, offset, after, list(records), state or {}))


def spawn(code: str, *arguments: str | Path) -> "subprocess.Popen[str]":
    """A Python process with `code`; its output is a pipe."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
