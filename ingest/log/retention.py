"""Retention in the embedded log: the oldest records of a topic go, and what was remembered of them.

Everything is done in slices, each an operation of its own, so that appends go on in between. A record stays as long as
a durable group has not read it. Freed pages are given back to the disk.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Final

from ingest.log.contract import Retention, Topic, Trimmed
from ingest.log.schema import TABLES
from ingest.log.state import store_id

Operation = Callable[[sqlite3.Connection], int]
"""Does a slice within a transaction; how much it did."""

Write = Callable[[Operation], int]
"""Runs an operation in a transaction of its own."""

REMEMBERING_STORE: Final = "normalize"
"""The store of which a value begins with the time (Unix, ms, 8 bytes big-endian) at which the record that first held
the event was appended. Its entries are needed as long as the log keeps the event."""

_SLICE_RECORDS: Final = 1_000
_SLICE_KEYS: Final = 5_000
_SLICE_PAGES: Final = 2_000

_GRACE_MS: Final = 24 * 3600 * 1000
"""An event is appended later than the record that held it, by the lag of its processor: a day is ample."""

TIME_BYTES: Final = 8
"""At the beginning of each value of `REMEMBERING_STORE`."""


def needed_since(oldest_ms: Iterable[int | None], now_ms: int) -> bytes:
    """The time from which on entries of `REMEMBERING_STORE` are needed, as they have it at their beginning.

    `oldest_ms` are the append times of the oldest captured record and of the oldest event, None where there is none: a
    replay could still bring the one, and the other could be repeated.
    """
    oldest = min(now_ms if each is None else each for each in oldest_ms)
    return max(oldest - _GRACE_MS, 0).to_bytes(TIME_BYTES, "big")


def trim(
    write: Write,
    policies: Mapping[Topic, Retention],
    now_ms: int,
    ignore_groups: Collection[str],
) -> Trimmed:
    """Apply policies; `write` runs an operation in a transaction of its own."""
    removed = {
        topic: _repeat(write, partial(_trim_slice, topic=topic, policy=policy, now_ms=now_ms, ignored=ignore_groups))
        for topic, policy in policies.items()
    }
    remembered = _forget(write, now_ms) if removed.get(Topic.CAPTURED) or removed.get(Topic.EVENTS) else 0
    if any(removed.values()):
        _repeat(write, _shrink)
    return Trimmed(removed, remembered)


def _repeat(write: Write, operation: Operation) -> int:
    """Run an operation until it finds nothing more to do; what it did in all."""
    total = 0
    while done := write(operation):
        total += done
    return total


def _trim_slice(
    connection: sqlite3.Connection, topic: Topic, policy: Retention, now_ms: int, ignored: Collection[str]
) -> int:
    oldest_ms = None if policy.max_age_s is None else now_ms - round(policy.max_age_s * 1000)
    (size,) = connection.execute("SELECT bytes FROM topics WHERE topic = ?", (topic,)).fetchone()
    excess = 0 if policy.max_bytes is None else size - policy.max_bytes
    last = count = freed = 0
    for offset, time_ms, length in connection.execute(
        f'SELECT "offset", time_ms, length(key) + length(value) FROM {TABLES[topic]} WHERE "offset" <= ?'  # noqa: S608
        ' ORDER BY "offset" LIMIT ?',
        (_read_by_all(connection, topic, ignored), _SLICE_RECORDS),
    ).fetchall():
        if freed >= excess and (oldest_ms is None or time_ms >= oldest_ms):
            break
        last, count, freed = offset, count + 1, freed + length
    connection.execute(f'DELETE FROM {TABLES[topic]} WHERE "offset" <= ?', (last,))  # noqa: S608
    connection.execute(
        "UPDATE topics SET records = records - ?, bytes = bytes - ? WHERE topic = ?", (count, freed, topic)
    )
    return count


def _read_by_all(connection: sqlite3.Connection, topic: Topic, ignored: Collection[str]) -> int:
    """The last offset that every group has processed, or the last of all where nobody reads."""
    (end,) = connection.execute("SELECT end_offset FROM topics WHERE topic = ?", (topic,)).fetchone()
    groups = connection.execute("SELECT name, committed FROM consumer_groups WHERE topic = ?", (topic,))
    return min((committed for name, committed in groups if name not in ignored), default=int(end))


def _forget(write: Write, now_ms: int) -> int:
    """Drop what is remembered of events that have left the log; how many."""
    position = b""
    forgotten = 0

    def forget_slice(connection: sqlite3.Connection) -> int:
        nonlocal position, forgotten
        store = store_id(connection, REMEMBERING_STORE)
        keys = connection.execute(
            "SELECT key FROM state WHERE store = ? AND key > ? ORDER BY key LIMIT ?", (store, position, _SLICE_KEYS)
        ).fetchall()
        if not keys:
            return 0
        start, position = position, keys[-1][0]
        # A key that was written again lately is in `state_recent` and comes back with its merge.
        forgotten += connection.execute(
            "DELETE FROM state WHERE store = ? AND key > ? AND key <= ? AND substr(value, 1, ?) < ?",
            (store, start, position, TIME_BYTES, _needed_since(connection, now_ms)),
        ).rowcount
        return len(keys)

    _repeat(write, forget_slice)
    return forgotten


def _needed_since(connection: sqlite3.Connection, now_ms: int) -> bytes:
    return needed_since((_oldest_ms(connection, topic) for topic in (Topic.CAPTURED, Topic.EVENTS)), now_ms)


def _oldest_ms(connection: sqlite3.Connection, topic: Topic) -> int | None:
    row = connection.execute(f'SELECT time_ms FROM {TABLES[topic]} ORDER BY "offset" LIMIT 1').fetchone()  # noqa: S608
    return row[0] if row else None


def _shrink(connection: sqlite3.Connection) -> int:
    """Give free pages back to the disk; how many."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    connection.execute(f"PRAGMA incremental_vacuum({_SLICE_PAGES})").fetchall()
    (left,) = connection.execute("PRAGMA freelist_count").fetchone()
    return int(free - left)
