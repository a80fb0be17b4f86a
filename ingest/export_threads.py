"""Grouping the events of a log by thread without holding them: a list of places in a temporary file.

The log is in order of arrival, so that threads are interleaved. A first look notes for each event its thread, time and
offset in a SQLite database that lies in the temporary folder and vanishes with its connection (some 60 bytes an event
on disk, no words of it); sorted there, it tells which records to read again, a thread at a time.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from schemas.event import CanonicalEvent

_BATCH: Final = 5000
"""Rows of one insert."""

_CACHE_KIB: Final = 16 * 1024
"""What the database may hold in memory; the rest lies in its file."""

_RECENT: Final = 4096
"""Threads whose number is remembered."""

_TABLES: Final = """
CREATE TABLE threads (
    number INTEGER PRIMARY KEY, provider TEXT NOT NULL, account TEXT NOT NULL, thread TEXT NOT NULL,
    UNIQUE (provider, account, thread)
);
CREATE TABLE events (thread INTEGER NOT NULL, time TEXT NOT NULL, place INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """One thread of the log."""

    number: int
    provider: str
    account: str | None
    thread_id: str


class ThreadIndex:
    """Where the events of each thread lie. `add` all, then ask. It is its own context manager."""

    def __init__(self) -> None:
        # An empty name is a database in a temporary file that nobody else sees.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._connection.executescript(_TABLES)
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._rows: list[tuple[int, str, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def add(self, event: CanonicalEvent, place: int) -> None:
        """Note one event and its place (`ingest.mended.place_of`)."""
        source = event.source
        key = (source.provider, source.account or "", source.thread_id)
        number = self._numbers.get(key) or self._number(key)
        self._rows.append((number, event.event.timestamp_iso, place))
        if len(self._rows) >= _BATCH:
            self._write()

    def _number(self, key: tuple[str, str, str]) -> int:
        self._connection.execute(
            "INSERT INTO threads (provider, account, thread) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key
        )
        query = "SELECT number FROM threads WHERE provider = ? AND account = ? AND thread = ?"
        (number,) = self._connection.execute(query, key).fetchone()
        if len(self._numbers) >= _RECENT:
            self._numbers.clear()
        self._numbers[key] = number
        return int(number)

    def _write(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO events VALUES (?, ?, ?)", self._rows)
        self._connection.execute("COMMIT")
        self._rows = []

    def finish(self) -> None:
        """Sort what was added."""
        self._write()
        self._connection.execute("CREATE INDEX in_order ON events (thread, time, place)")

    def threads(self) -> Iterator[ThreadPlace]:
        """Yield the threads by provider, account and id: an order that does not depend on the log's."""
        query = "SELECT number, provider, account, thread FROM threads ORDER BY provider, account, thread"
        for number, provider, account, thread in self._connection.execute(query):
            yield ThreadPlace(number, provider, account or None, thread)

    def count(self, thread: ThreadPlace) -> int:
        """Give how many events a thread has."""
        (count,) = self._connection.execute("SELECT count(*) FROM events WHERE thread = ?", (thread.number,)).fetchone()
        return int(count)

    def places(self, thread: ThreadPlace) -> Iterator[int]:
        """Yield the places of a thread's events by time, then by arrival."""
        query = "SELECT place FROM events WHERE thread = ? ORDER BY time, place"
        for (place,) in self._connection.execute(query, (thread.number,)):
            yield place
