"""The embedded log: all topics, checkpoints and state in one SQLite file, for one machine.

Any thread may call it; several processes may hold it open, as an import beside the daemon does. Writes of a process go
through one thread (`ingest.log.writer`), reads have connections of their own and wait for nobody. It must not be used
across `fork`.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from ingest.clock import now_ms
from ingest.log import groups, records, retention, sources, status
from ingest.log.connection import ReaderPool, connect_read_only, connect_reader
from ingest.log.contract import (
    LogError,
    LogStatus,
    NewRecord,
    Place,
    Record,
    Retention,
    SourceLog,
    SourceProgress,
    Topic,
    Trimmed,
)
from ingest.log.state import StateWriter
from ingest.log.state_contract import Commit, StateLog
from ingest.log.state_reader import StateReader
from ingest.log.wake import Bell
from ingest.log.writer import Operation, Writer

T = TypeVar("T")


class EmbeddedLog(StateLog):
    """A `StateLog` in a file. Use `open`."""

    def __init__(
        self, path: Path, pool: ReaderPool, writer: Writer | None, bell: Bell, clock: Callable[[], int]
    ) -> None:
        self.path = path
        self._pool = pool
        self._writer = writer
        self._bell = bell
        self._clock = clock
        self._state_writer = StateWriter()
        self._state_reader = StateReader(pool)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False, clock: Callable[[], int] = now_ms) -> Self:
        """Open the log, creating or migrating it unless `read_only`; `clock` gives Unix milliseconds.

        Raises `LogError` when it is not there, not ours, newer than this program, damaged or not accessible.
        """
        bell = Bell()
        writer = None if read_only else Writer(path, bell.ring)
        pool = ReaderPool(path, connect_read_only if read_only else connect_reader)
        log = cls(path, pool, writer, bell, clock)
        try:
            with pool.lend():
                return log
        except BaseException:
            log.close()
            raise

    def close(self) -> None:
        """Write what is waiting and release the file; calling it again does nothing."""
        self._pool.close()
        if self._writer is not None:
            self._writer.close()

    @property
    def where(self) -> str:
        """The log's file."""
        return str(self.path)

    def open_source(self, source: str) -> SourceLog:
        """Take over a source: earlier holders are fenced."""
        epoch = self._write(partial(sources.take_over, source=source))
        return EmbeddedSource(self, source, epoch)

    def checkpoints(self, source: str) -> dict[str, bytes]:
        """Every part's committed state of a source, without taking it over."""
        with self._pool.lend() as connection:
            return sources.checkpoints(connection, source)

    def append(self, records: Sequence[NewRecord]) -> None:
        """Append records that have no source to resume; durable on return."""
        self._write(partial(_append, new=records, time_ms=self._clock()))

    def partitions(self, topic: Topic) -> int:  # noqa: ARG002 - all have as many
        """One."""
        return 1

    def read(self, topic: Topic, after: int, limit: int, max_bytes: int, partition: int = 0) -> list[Record]:
        """Records of a topic with an offset above `after`, in order: at most `limit`, and `max_bytes` unless one."""
        _only(partition)
        with self._pool.lend() as connection:
            return records.read(connection, topic, after, limit, max_bytes)

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        """The highest offset given out in a topic; 0 when empty."""
        _only(partition)
        with self._pool.lend() as connection:
            return records.end_offset(connection, topic)

    def wait_for_append(self, positions: Mapping[Place, int], timeout_s: float) -> bool:
        """Wait until a topic has a record above its position, appended by any process; whether one has."""
        return self._bell.wait(lambda: self._has_passed(positions), timeout_s)

    def _has_passed(self, positions: Mapping[Place, int]) -> bool:
        with self._pool.lend() as connection:
            return any(records.end_offset(connection, topic) > position for (topic, _), position in positions.items())

    def register_group(self, group: str, topic: Topic) -> None:
        """Make a consumer group durable before its first commit."""
        self._write(partial(groups.register, group=group, topic=topic))

    def forget_group(self, group: str, topic: Topic) -> None:
        """Drop a consumer group: it protects nothing any longer, and would begin at 0 again."""
        self._write(partial(groups.forget, group=group, topic=topic))

    def committed(self, group: str, topic: Topic, partition: int = 0) -> int:
        """The last offset that a consumer group has processed; 0 before the first."""
        _only(partition)
        with self._pool.lend() as connection:
            return groups.committed(connection, group, topic)

    def commit_offset(self, group: str, topic: Topic, offset: int, partition: int = 0) -> None:
        """Note how far a group has come that keeps its own state and offsets elsewhere; going back is passed over."""
        _only(partition)
        self._write(partial(groups.note, group=group, topic=topic, offset=offset, time_ms=self._clock()))

    def state(self, store: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that a store has."""
        return self._state_reader.get(store, keys)

    def scan_state(self, store: str, prefix: bytes = b"", limit: int = 1000) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        return self._state_reader.scan(store, prefix, limit)

    def commit(self, commit: Commit) -> None:
        """Write outputs, state and offset in one transaction; durable on return; raises `FencedError`."""
        self._write(partial(_commit, state=self._state_writer, commit=commit, time_ms=self._clock()))

    def trim(self, policies: Mapping[Topic, Retention], now_ms: int, ignore_groups: Collection[str] = ()) -> Trimmed:
        """Remove the oldest records by policy, in slices, never past what a durable group has yet to read."""
        return retention.trim(self._write, policies, now_ms, ignore_groups)

    def problems(self) -> list[str]:
        """Why the file cannot be read, if it cannot."""
        try:
            self.end_offset(Topic.CAPTURED)
        except LogError as error:
            return [str(error)]
        return []

    def status(self) -> LogStatus:
        """Topics, sources and groups as of one moment."""
        with self._pool.lend() as connection:
            return status.status(connection, self.path)

    def check(self) -> list[str]:
        """What is wrong with the file; empty when nothing is. Reads all of it; raises `LogError` where it cannot."""
        with self._pool.lend() as connection:
            return status.check(connection)

    def _write(self, operation: Operation[T]) -> T:
        if self._writer is None:
            raise LogError(f"the log {self.path} was opened for reading only")
        return self._writer.write(operation)


class EmbeddedSource(SourceLog):
    """The log as one source sees it, from one take-over to the next."""

    def __init__(self, log: EmbeddedLog, source: str, epoch: int) -> None:
        self.source = source
        self._log = log
        self._epoch = epoch

    def checkpoints(self) -> dict[str, bytes]:
        """Every part's committed state."""
        return self._log.checkpoints(self.source)

    def append(
        self,
        records: Sequence[NewRecord],
        checkpoints: Mapping[str, bytes | None],
        progress: SourceProgress = SourceProgress(),  # noqa: B008 - immutable
    ) -> None:
        """Append records and move checkpoints in one transaction; durable on return; raises `FencedError`."""
        time_ms = self._log._clock()  # noqa: SLF001 - a source is a face of its log

        def operation(connection: sqlite3.Connection) -> None:
            sources.advance(connection, self.source, self._epoch, checkpoints, progress, time_ms)
            _append(connection, records, time_ms)

        self._log._write(operation)  # noqa: SLF001


def _only(partition: int) -> None:
    if partition != 0:
        raise LogError(f"there is no partition {partition}: the embedded log has one partition a topic")


def _append(connection: sqlite3.Connection, new: Sequence[NewRecord], time_ms: int) -> None:
    records.append(connection, new, time_ms)


def _commit(connection: sqlite3.Connection, state: StateWriter, commit: Commit, time_ms: int) -> None:
    groups.advance(connection, commit, time_ms)
    _append(connection, commit.records, time_ms)
    state.put(connection, commit.state)
