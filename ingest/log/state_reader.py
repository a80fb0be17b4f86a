"""Reading processor state from the embedded log: recent writes from memory, the rest from the tree of all keys."""

import sqlite3
from collections.abc import Iterable
from heapq import merge
from threading import Lock
from typing import Final

from ingest.log.connection import ReaderPool
from ingest.log.state import Writes, progress, recent_writes, store_id

_KEYS_A_QUERY: Final = 250
"""One statement serves all look-ups, as its number of keys is fixed; the last one is filled up."""

_LOOK_UP: Final = f"SELECT key, value FROM state WHERE store = ? AND key IN ({', '.join('?' * _KEYS_A_QUERY)})"  # noqa: S608

_Recent = dict[int, Writes]


class StateReader:
    """State as of the last commit, from any thread and beside any writer."""

    def __init__(self, pool: ReaderPool) -> None:
        self._pool = pool
        # One thread at a time takes a snapshot and looks at recent writes, so that memory never goes back in time. The
        # tree is read after that, in a later snapshot: what left `state_recent` meanwhile is already in it.
        self._lock = Lock()
        self._recent: _Recent = {}
        self._last_seq = 0
        self._merged_seq = 0

    def get(self, store: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that the store has."""
        with self._pool.lend() as connection:
            number = store_id(connection, store)
            if number is None:
                return {}
            # In key order neighbouring keys share the pages that they are found in.
            wanted = sorted(set(keys))
            with self._lock:
                recent = self._synchronised(connection).get(number, {})
                known = {key: recent[key] for key in wanted if key in recent}
            found = _look_up(connection, number, [key for key in wanted if key not in known])
        found.update((key, value) for key, value in known.items() if value is not None)
        return found

    def scan(self, store: str, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """The first `limit` entries whose key begins with `prefix`, in key order."""
        with self._pool.lend() as connection:
            number = store_id(connection, store)
            if number is None:
                return []
            with self._lock:
                recent = self._synchronised(connection).get(number, {})
                known = {key: value for key, value in recent.items() if key.startswith(prefix)}
            # As many more as recent writes may replace or delete.
            stored = _range(connection, number, prefix, limit + len(known))
        kept = (entry for entry in stored if entry[0] not in known)
        put = sorted((key, value) for key, value in known.items() if value is not None)
        return [entry for entry, _ in zip(merge(kept, put), range(limit), strict=False)]

    def _synchronised(self, connection: sqlite3.Connection) -> _Recent:
        connection.execute("BEGIN")
        now = progress(connection)
        if now.merged_seq != self._merged_seq:
            # Merged rows are gone from `state_recent`; what is left is read again.
            self._recent, self._last_seq, self._merged_seq = {}, now.merged_seq, now.merged_seq
        if now.last_seq != self._last_seq:
            for number, writes in recent_writes(connection, self._last_seq):
                self._recent.setdefault(number, {}).update(writes)
            self._last_seq = now.last_seq
        connection.execute("COMMIT")
        return self._recent


def _look_up(connection: sqlite3.Connection, store: int, keys: list[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _KEYS_A_QUERY):
        part = keys[start : start + _KEYS_A_QUERY]
        part += part[-1:] * (_KEYS_A_QUERY - len(part))
        found.update(connection.execute(_LOOK_UP, (store, *part)))
    return found


def _range(connection: sqlite3.Connection, store: int, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
    end = _after_prefix(prefix)
    if end is None:
        return connection.execute(
            "SELECT key, value FROM state WHERE store = ? AND key >= ? ORDER BY key LIMIT ?", (store, prefix, limit)
        ).fetchall()
    return connection.execute(
        "SELECT key, value FROM state WHERE store = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?",
        (store, prefix, end, limit),
    ).fetchall()


def _after_prefix(prefix: bytes) -> bytes | None:
    """The least key above all that begin with `prefix`; None when there is none."""
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes([shortened[-1] + 1]) if shortened else None
