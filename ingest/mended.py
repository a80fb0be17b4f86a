"""Which events of a log are out of date: those that a replay has mended, under the same id, further on.

Held in a temporary SQLite database that vanishes with its connection: some 40 bytes on disk for each mended event, as a
correction of the program may have mended all there are.
"""

import sqlite3
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

import msgspec

from ingest.log.contract import EventLog, Record, Topic
from ingest.log.walk import Offsets, walk
from ingest.processors.deduplicate import MENDED_LABEL, id_key
from schemas.event import CanonicalEvent, decode, encode

_IN_JSON: Final = b'"' + MENDED_LABEL.encode() + b'"'
"""In the JSON of every mended event, and rarely in another's; within a text the quotes are escaped."""

_BATCH: Final = 5_000
"""Rows of one insert."""

_PARTITION_BITS: Final = 15
"""Of a place: more partitions than any topic is given. 48 bits are left for the offset, in an integer of SQLite."""

_OFFSET_BITS: Final = 63 - _PARTITION_BITS


def place_of(record: Record) -> int:
    """Give a record's partition and offset as one number; within a partition places grow with offsets."""
    return record.partition << _OFFSET_BITS | record.offset


def split_place(place: int) -> tuple[int, int]:
    """Give the partition and the offset of a place."""
    return place >> _OFFSET_BITS, place & (1 << _OFFSET_BITS) - 1


class Mended:
    """The last place of each mended event. It is its own context manager."""

    def __init__(self, log: EventLog, after: Offsets | None = None, end: Offsets | None = None) -> None:
        """Look through the events above `after` up to `end`; raises `LogError`."""
        # An empty name is a database in a temporary file that nobody else sees.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("CREATE TABLE mended (id BLOB PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID")
        self.count = 0
        """How many times an event was mended."""
        try:
            self._gather(_mended(walk(log, Topic.EVENTS, after, end)))
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def _gather(self, records: Iterator[tuple[bytes, int]]) -> None:
        rows: list[tuple[bytes, int]] = []
        for row in records:
            rows.append(row)
            if len(rows) >= _BATCH:
                self._write(rows)
                rows = []
        self._write(rows)

    def _write(self, rows: list[tuple[bytes, int]]) -> None:
        self.count += len(rows)
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO mended VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET place = excluded.place", rows
        )
        self._connection.execute("COMMIT")

    def outdates(self, record: Record, event: CanonicalEvent) -> bool:
        """Whether a later record holds the event as it was mended."""
        if not self.count:
            return False
        found = self._connection.execute("SELECT place FROM mended WHERE id = ?", (id_key(event.event.id),)).fetchone()
        return found is not None and place_of(record) < found[0]


def unmarked(record: Record, event: CanonicalEvent) -> tuple[Record, CanonicalEvent]:
    """Give an event without the mark of having been mended, which says nothing where an id comes only once."""
    if MENDED_LABEL not in event.event.labels:
        return record, event
    labels = [label for label in event.event.labels if label != MENDED_LABEL]
    event = msgspec.structs.replace(event, event=msgspec.structs.replace(event.event, labels=labels))
    return msgspec.structs.replace(record, value=encode(event)), event


def _mended(records: Iterator[Record]) -> Iterator[tuple[bytes, int]]:
    for record in records:
        if _IN_JSON not in record.value:
            continue
        try:
            event = decode(record.value)
        except (msgspec.DecodeError, RecursionError):  # counted and named by who reads the events
            continue
        if MENDED_LABEL in event.event.labels:
            yield id_key(event.event.id), place_of(record)
