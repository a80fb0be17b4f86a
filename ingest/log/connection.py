"""Connections to the embedded log's file: how it is created, opened, tuned and lent out.

`synchronous=FULL`: in WAL mode each commit is flushed to the disk before it returns, so that a power cut takes nothing
that was acknowledged. NORMAL would be some ten times faster for single small commits, but may lose the last ones; what
was lost could not be asked for again, since the source was told that it had been received. Group commit and batches
make up for the cost. `fullfsync` makes macOS flush the drive's own cache, which its fsync does not; elsewhere it is
ignored. WAL needs shared memory: the file must lie on a local disk, not on NFS or SMB.

Connections do not survive `fork`: open the log after it.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

from ingest.log.contract import LogError
from ingest.log.errors import damaged, primary_code, translate
from ingest.log.schema import migrate, verify

BUSY_TIMEOUT_S: Final = 10.0
"""How long to wait for another process's transaction: theirs take well under a second, so longer means a hang."""

PAGE_BYTES: Final = 4096
"""Measured with 600-byte events, 60 KB captures and random 16-byte keys: 4096 and 8192 alike, 2048 slower."""

_CACHE_KIB: Final = 64 * 1024
_READER_CACHE_KIB: Final = 8 * 1024
"""Small: a reader's cache is void after every commit of another connection."""

WAL_PAGES: Final = 16 * 1024 * 1024 // PAGE_BYTES
"""Checkpoint at 16 MiB of WAL: pages written many times are copied once; larger gains nothing measurable."""

_CACHED_STATEMENTS: Final = 128

_CREATE_TRIES: Final = 50
_CREATE_PAUSE_S: Final = 0.02


def create_file(path: Path) -> None:
    """Create the file and its folder for this user alone, unless they are there; raises `LogError`."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Opened only when it does not exist: closing a descriptor drops all of this process's locks on a file.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise LogError(f"{path} is not a file; name a file for the log") from None
    except OSError as error:
        raise LogError(
            f"{path} cannot be created ({error.strerror}); check the folder's owner and permissions"
        ) from error


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open for writing, creating or migrating the file as needed; raises `LogError`."""
    create_file(path)
    wal = path.with_name(path.name + "-wal")
    # SQLite deletes the WAL of an empty database; it may hold everything.
    if path.stat().st_size == 0 and wal.exists() and wal.stat().st_size > 0:
        raise damaged(path, f"it is empty although {wal.name} is not")
    return _opened(path, "rw", _prepare_writer)


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a reading connection beside this process's writer; raises `LogError`."""
    return _opened(path, "rw", _prepare_reader)


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a log of which nothing may be changed, whether or not a daemon is writing; raises `LogError`."""
    if not path.is_file():
        raise LogError(f"there is no log at {path}; `session-ingest run` or `session-ingest import` makes one")
    try:
        return _opened(path, "ro", _prepare_reader)
    except LogError as error:
        wal = path.with_name(path.name + "-wal")
        cause = error.__cause__
        blocked = isinstance(cause, sqlite3.Error) and primary_code(cause) in {
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        }
        # In a folder that is not writable SQLite cannot make the WAL's index. Without a WAL nobody is writing either.
        if not blocked or (wal.exists() and wal.stat().st_size > 0):
            raise
        return _opened(path, "ro&immutable=1", _prepare_reader)


def _opened(path: Path, mode: str, prepare: Callable[[sqlite3.Connection, Path], None]) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
        )
        prepare(connection, path)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise translate(error, path) from error
        raise
    return connection


def _prepare_writer(connection: sqlite3.Connection, path: Path) -> None:
    # Page size and auto_vacuum only take effect on an empty file, before anything else.
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_wal(connection, path)
    for pragma in (
        "synchronous = FULL",
        "fullfsync = ON",
        "checkpoint_fullfsync = ON",
        f"wal_autocheckpoint = {WAL_PAGES}",
        f"journal_size_limit = {WAL_PAGES * PAGE_BYTES}",
        f"cache_size = -{_CACHE_KIB}",
        # Deleted conversations are overwritten where that costs no extra writes.
        "secure_delete = FAST",
        "temp_store = MEMORY",
        "cell_size_check = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    migrate(connection, path)


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    for attempt in range(_CREATE_TRIES):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            # The change of mode does not wait for another process that creates the same file just now.
            if primary_code(error) != sqlite3.SQLITE_BUSY or attempt == _CREATE_TRIES - 1:
                raise
            time.sleep(_CREATE_PAUSE_S)
            continue
        if mode != "wal":
            raise LogError(f"{path} cannot use a write-ahead log; put the log on a local disk, not a network one")
        return


def _prepare_reader(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    verify(connection, path)


def set_busy_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    """How long a connection waits for others' locks."""
    connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}").fetchall()


class ReaderPool:
    """Reading connections lent to one thread at a time; as many as threads read at once."""

    def __init__(self, path: Path, connect: Callable[[Path], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        """A connection with no transaction open; SQLite's errors leave as `LogError`."""
        connection = self._take()
        try:
            yield connection
        except sqlite3.Error as error:
            connection.close()
            raise translate(error, self._path) from error
        # SQLite has no checksums: a damaged page may read as a row of the wrong types.
        except (TypeError, ValueError) as error:
            connection.close()
            raise damaged(self._path, f"a row cannot be read: {error}") from error
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def close(self) -> None:
        """Close the idle connections, and lent ones as they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise LogError(f"the log {self._path} is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect(self._path)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()
