"""The one thread of a process that writes the embedded log, and its group commit.

Callers hand in an operation and wait. The thread takes what is waiting, applies all of it in one transaction, each in
a savepoint of its own, commits with one flush to the disk, and only then answers: an operation that is refused fails
alone, and what fails for all (no space, a broken disk, a busy file) reaches every caller with nothing half-written.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from ingest.log.connection import BUSY_TIMEOUT_S, PAGE_BYTES, WAL_PAGES, connect_writer, set_busy_timeout
from ingest.log.contract import LogError
from ingest.log.errors import spoils_connection, translate

T = TypeVar("T")

Operation = Callable[[sqlite3.Connection], T]

MAX_WAITING: Final = 256
"""Operations that wait or are in hand; a caller beyond them blocks before it is let in."""

MAX_GROUP: Final = 64
"""Operations in one transaction: a capture is at most a few MiB, so the WAL stays within its bound."""

_IDLE_S: Final = 5.0
"""After this long without a write the WAL is emptied into the file."""

_WAL_LIMIT_BYTES: Final = 4 * WAL_PAGES * PAGE_BYTES
"""Past this size readers have kept the WAL from starting over; then the writer waits for them."""

_WAL_PATIENCE_S: Final = 1.0
"""How long, and at most how often, the writer waits for readers to let the WAL go."""


@dataclass(slots=True)
class _Work(Generic[T]):
    operation: Operation[T]
    done: Future[T] = field(default_factory=Future)
    result: T | None = None
    error: LogError | None = None

    def answer(self) -> None:
        if self.error is not None:
            self.done.set_exception(self.error)
        else:
            self.done.set_result(self.result)  # type: ignore[arg-type]  # None is a T where an operation gives nothing


class Writer:
    """Applies operations to the log, in the order they come."""

    def __init__(self, path: Path, committed: Callable[[], None]) -> None:
        """Open the file, creating it as needed; `committed` is called after each commit. Raises `LogError`."""
        self._path = path
        self._committed = committed
        self._connection: sqlite3.Connection | None = connect_writer(path)
        self._queue: SimpleQueue[_Work[Any] | None] = SimpleQueue()
        self._room = Semaphore(MAX_WAITING)
        self._gate = Lock()
        self._closed = False
        self._wal_dirty = True
        self._wal_tried = 0.0
        self._thread = Thread(target=self._run, name="log-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[T]) -> Future[T]:
        """Queue an operation; its future is done once it is on the disk, or failed with a `LogError`."""
        self._room.acquire()
        work: _Work[T] = _Work(operation)
        with self._gate:
            if self._closed:
                self._room.release()
                raise LogError(f"the log {self._path} is closed")
            self._queue.put(work)
        return work.done

    def write(self, operation: Operation[T]) -> T:
        """Apply an operation and wait until it is on the disk; raises what it raised, or `LogError`."""
        return self.submit(operation).result()

    def close(self) -> None:
        """Write what is waiting, then end; calling it again does nothing."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_:
            try:
                first = self._queue.get(timeout=_IDLE_S)
            except Empty:
                self._empty_wal()
                continue
            group, open_ = self._group(first)
            self._write_group(group)
        if self._connection is not None:
            self._connection.close()

    def _group(self, first: _Work[Any] | None) -> tuple[list[_Work[Any]], bool]:
        """What is waiting, and whether more may come."""
        group: list[_Work[Any]] = []
        work = first
        while work is not None:
            group.append(work)
            if len(group) == MAX_GROUP:
                return group, True
            try:
                work = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _write_group(self, group: list[_Work[Any]]) -> None:
        try:
            self._transact(group)
        # The thread must outlive whatever happens, or every later caller would wait for ever; these get the error.
        except Exception as error:  # noqa: BLE001
            self._abandon(error)
            for work in group:
                work.error = work.error or self._explained(error)
        for work in group:
            self._room.release()
            work.answer()
        self._committed()
        self._bound_wal()

    def _transact(self, group: list[_Work[Any]]) -> None:
        if self._connection is None:
            self._connection = connect_writer(self._path)
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        for work in group:
            self._apply(connection, work)
        connection.execute("COMMIT")
        self._wal_dirty = True

    def _apply(self, connection: sqlite3.Connection, work: _Work[Any]) -> None:
        connection.execute("SAVEPOINT one")
        try:
            work.result = work.operation(connection)
        # Whatever an operation raises belongs to its caller, who gets it; the others go on.
        except Exception as error:
            # Errors such as a full disk end the whole transaction: then they are everybody's.
            if not connection.in_transaction or (isinstance(error, sqlite3.Error) and spoils_connection(error)):
                raise
            connection.execute("ROLLBACK TO one")
            work.error = self._explained(error)
        connection.execute("RELEASE one")

    def _explained(self, error: Exception) -> LogError:
        if isinstance(error, LogError):
            return error
        if isinstance(error, sqlite3.Error):
            explained = translate(error, self._path)
        else:
            kind = type(error).__name__
            explained = LogError(f"{self._path}: what was given, or is stored, is not of its kind ({kind}: {error})")
        explained.__cause__ = error
        return explained

    def _abandon(self, error: Exception) -> None:
        connection = self._connection
        if connection is None:
            return
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            spoilt = True
        else:
            spoilt = not isinstance(error, sqlite3.Error) or spoils_connection(error)
        if spoilt:
            self._connection = None
            # It is given up because of an error that the callers get; a second one says nothing more.
            with suppress(sqlite3.Error):
                connection.close()

    def _bound_wal(self) -> None:
        wal = self._path.with_name(self._path.name + "-wal")
        now = monotonic()
        if now - self._wal_tried < _WAL_PATIENCE_S:
            return
        with suppress(FileNotFoundError):
            if wal.stat().st_size > _WAL_LIMIT_BYTES:
                self._wal_tried = now
                self._checkpoint(_WAL_PATIENCE_S)

    def _empty_wal(self) -> None:
        if self._wal_dirty:
            self._wal_dirty = not self._checkpoint(0)

    def _checkpoint(self, patience_s: float) -> bool:
        """Move the WAL into the file and empty it; false when a reader or another process is in the way."""
        if self._connection is None:
            return False
        try:
            set_busy_timeout(self._connection, patience_s)
            busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        # A checkpoint is only housekeeping: what is wrong with the disk shows at the next write, to its caller.
        except sqlite3.Error:
            return False
        finally:
            set_busy_timeout(self._connection, BUSY_TIMEOUT_S)
        return not busy
