"""SQLAlchemy engines for the databases that the store can lie in, set up so that its promises hold on each.

SQLite: WAL, `synchronous=FULL`, foreign keys, and transactions begun by us: Python's driver begins them too late.
PostgreSQL: psycopg, whatever driver the URL names. No error of either repeats values, which are people's words.
"""

import sqlite3
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from triage.store.errors import StoreError

BUSY_TIMEOUT_S: Final = 15.0
"""How long a SQLite transaction waits for another's write lock: batches hold it for tenths of a second."""

CONNECT_TIMEOUT_S: Final = 10
REPORT_TIMEOUT_S: Final = 3
"""For a PostgreSQL server that does not answer; a report, which only reads, goes on without it sooner."""

READING: Final = "triage_reading"
"""The execution option of a SQLite transaction that only reads."""

_CACHE_KIB: Final = 32 * 1024


def make_engine(place: str | Path, *, read_only: bool) -> sa.Engine:
    """Make an engine; raises `StoreError` for a place that can be none."""
    if isinstance(place, Path):
        return _sqlite(sa.URL.create("sqlite", database=str(place)), read_only=read_only)
    try:
        url = sa.make_url(place)
        if url.get_backend_name() == "sqlite":
            return _sqlite(url, read_only=read_only)
        if url.get_backend_name() == "postgresql":
            return _postgresql(url, REPORT_TIMEOUT_S if read_only else CONNECT_TIMEOUT_S)
    except (ArgumentError, NoSuchModuleError):
        raise StoreError("triage.database_url is no database URL, such as postgresql://user@host/name") from None
    raise StoreError(f"triage.database_url: {url.get_backend_name()} is not known; use sqlite or postgresql")


def reading_options(engine: sa.Engine) -> dict[str, Any]:
    """Give the execution options of a transaction that only reads, as of one moment."""
    if engine.dialect.name == "sqlite":
        return {READING: True}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def _postgresql(url: sa.URL, timeout_s: int) -> sa.Engine:
    try:
        return sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={"connect_timeout": timeout_s},
        )
    except ModuleNotFoundError as error:
        raise StoreError("PostgreSQL needs a driver: pip install 'session-triage[postgresql]'") from error


def _sqlite(url: sa.URL, *, read_only: bool) -> sa.Engine:
    if not url.database or url.database == ":memory:":
        raise StoreError("triage.database_url: the store must be a file")
    path = Path(url.database)
    try:
        if not read_only:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)  # conversations are nobody else's business; the WAL takes the same mode
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    file = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    engine = sa.create_engine(
        url,
        creator=lambda: sqlite3.connect(file, uri=True, timeout=BUSY_TIMEOUT_S, check_same_thread=False),
        hide_parameters=True,
    )
    sa.event.listen(engine, "connect", _prepare_reader if read_only else _prepare_writer)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _prepare_writer(connection: Any, record: object) -> None:
    _prepare_reader(connection, record)
    # FULL: an operator's decision survives a power cut.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _prepare_reader(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin`
    for pragma in ("cell_size_check = ON", f"cache_size = -{_CACHE_KIB}", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads first and writes then could not get the lock any more when another has written meanwhile.
    reading = connection.get_execution_options().get(READING)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
