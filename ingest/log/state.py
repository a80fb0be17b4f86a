"""Processor state in the embedded log, as its writer sees it: recent writes, and their merge into the tree of all keys.

Keys such as event ids are random: written straight into a large tree, each would dirty a page of its own, 4 KiB of WAL
for 40 bytes. So a commit appends all its writes to a store as one row of `state_recent` (MessagePack, key to value or
nil), and once `MERGE_ROWS` writes have come together they are merged into `state` in slices of neighbouring keys, one
slice with each later commit: a page takes many rows, and no commit waits for a whole merge. Measured with a million
keys in the tree: about twice as many commits of 1,000 events as with writing to the tree directly.

All of it is in the file: `state_progress` says up to where rows are merged, a merge that was cut off begins again, and
doing it twice changes nothing. Readers look at recent writes first (`ingest.log.state_reader`), then at the tree.
"""

import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import msgpack

from ingest.log.contract import StateKey

MERGE_ROWS: Final = 40_000
"""Recent writes that start a merge: more make it cheaper, but each is held in memory, at some 250 bytes."""

MERGE_BYTES: Final = 8 * 1024 * 1024
"""Where values are large, fewer rows start a merge."""

SLICE_ROWS: Final = 2_000
"""Least rows merged with a commit; a larger commit merges twice its own, so that merging always gets ahead."""

Writes = dict[bytes, bytes | None]
"""Keys to values; None deletes."""

_encode: Final = msgpack.Encoder().encode
_decode: Final = msgpack.Decoder(Writes).decode


class Progress(NamedTuple):
    """The row of `state_progress`: rows above `merged_seq` are recent, those up to `frozen_seq` are being merged.

    `position` of the frozen ones, in key order, are in the tree; `merge_id` says whose list of them that counts.
    """

    last_seq: int
    merged_seq: int
    recent_rows: int
    recent_bytes: int
    frozen_seq: int
    frozen_rows: int
    frozen_bytes: int
    position: int
    merge_id: int


def progress(connection: sqlite3.Connection) -> Progress:
    """How far recent writes and their merge have come."""
    row = connection.execute(
        """SELECT last_seq, merged_seq, recent_rows, recent_bytes, frozen_seq, frozen_rows, frozen_bytes, position,
        merge_id FROM state_progress WHERE id = 1"""
    ).fetchone()
    return Progress(*row)


def _save(connection: sqlite3.Connection, new: Progress) -> None:
    connection.execute(
        """UPDATE state_progress SET last_seq = ?, merged_seq = ?, recent_rows = ?, recent_bytes = ?, frozen_seq = ?,
        frozen_rows = ?, frozen_bytes = ?, position = ?, merge_id = ? WHERE id = 1""",
        new,
    )


def store_id(connection: sqlite3.Connection, store: str) -> int | None:
    """The number of a store; None when nothing was ever put in it."""
    row = connection.execute("SELECT id FROM stores WHERE name = ?", (store,)).fetchone()
    return row[0] if row else None


def recent_writes(connection: sqlite3.Connection, after_seq: int) -> Iterator[tuple[int, Writes]]:
    """Store and writes of each row that is not merged and above `after_seq`, oldest first."""
    rows = connection.execute("SELECT store, writes FROM state_recent WHERE seq > ? ORDER BY seq", (after_seq,))
    return ((store, _decode(writes)) for store, writes in rows)


class StateWriter:
    """Writes state within the transaction of a commit.

    What it remembers between calls is only a copy of frozen rows: everything that decides is read from the file, so a
    transaction that is rolled back, or another process, cannot mislead it.
    """

    def __init__(self) -> None:
        self._merge_id = 0
        self._frozen: list[tuple[int, bytes, bytes | None]] = []

    def put(self, connection: sqlite3.Connection, state: Mapping[StateKey, bytes | None]) -> None:
        """Set or, by None, delete keys; and merge a slice of earlier writes when a merge is due."""
        if not state:
            return
        stores: dict[str, Writes] = {}
        for (store, key), value in state.items():
            stores.setdefault(store, {})[key] = value
        now = progress(connection)
        for store, writes in stores.items():
            row = _encode(writes)
            now = now._replace(
                last_seq=now.last_seq + 1,
                recent_rows=now.recent_rows + len(writes),
                recent_bytes=now.recent_bytes + len(row),
            )
            connection.execute(
                "INSERT INTO state_recent VALUES (?, ?, ?)", (now.last_seq, _ensure_store(connection, store), row)
            )
        _save(connection, self._merge(connection, now, max(SLICE_ROWS, 2 * len(state))))

    def _merge(self, connection: sqlite3.Connection, now: Progress, rows: int) -> Progress:
        if now.frozen_seq and now.merge_id == self._merge_id:
            return self._merge_slice(connection, now, rows)
        # A merge that another process or a rolled back transaction left unfinished is begun again, with what is there.
        if now.frozen_seq or now.recent_rows >= MERGE_ROWS or now.recent_bytes >= MERGE_BYTES:
            return self._freeze(connection, now)
        return now

    def _freeze(self, connection: sqlite3.Connection, now: Progress) -> Progress:
        latest: dict[int, Writes] = {}
        for store, writes in recent_writes(connection, 0):
            latest.setdefault(store, {}).update(writes)
        self._frozen = [
            (store, key, value) for store, writes in sorted(latest.items()) for key, value in sorted(writes.items())
        ]
        # Random: never that of a merge that was rolled back, or of another process. 62 bits fit SQLite's integers.
        self._merge_id = secrets.randbits(62)
        return now._replace(
            frozen_seq=now.last_seq,
            frozen_rows=now.recent_rows,
            frozen_bytes=now.recent_bytes,
            position=0,
            merge_id=self._merge_id,
        )

    def _merge_slice(self, connection: sqlite3.Connection, now: Progress, rows: int) -> Progress:
        part = self._frozen[now.position : now.position + rows]
        connection.executemany(
            "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (store, key) DO UPDATE SET value = excluded.value",
            [row for row in part if row[2] is not None],
        )
        connection.executemany(
            "DELETE FROM state WHERE store = ? AND key = ?", [row[:2] for row in part if row[2] is None]
        )
        if now.position + rows < len(self._frozen):
            return now._replace(position=now.position + rows)
        connection.execute("DELETE FROM state_recent WHERE seq <= ?", (now.frozen_seq,))
        return now._replace(
            merged_seq=now.frozen_seq,
            recent_rows=now.recent_rows - now.frozen_rows,
            recent_bytes=now.recent_bytes - now.frozen_bytes,
            frozen_seq=0,
            frozen_rows=0,
            frozen_bytes=0,
            position=0,
            merge_id=0,
        )


def _ensure_store(connection: sqlite3.Connection, store: str) -> int:
    connection.execute("INSERT INTO stores (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (store,))
    (number,) = connection.execute("SELECT id FROM stores WHERE name = ?", (store,)).fetchone()
    return int(number)
