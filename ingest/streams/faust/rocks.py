"""State on disk, in RocksDB: memory stays flat, and a restart loads only what the changelog has gained since.

A crash takes nothing that the changelog does not have: state and position are written together, and the end of
RocksDB's own log that a power cut may take is loaded again.
"""

import functools
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rocksdict import BlockBasedOptions, Cache, Options, Rdict, WriteBatch, WriteBufferManager

from ingest.log.contract import LogError, StateKey
from ingest.streams.faust.stores import join_key

_META: Final = b"\0meta"
"""No store has an empty name."""

_NEXT: Final = b"\0"
"""Makes of a key the smallest one that comes after it."""

_FORMAT: Final = struct.Struct(">qdq16s")
"""Position, when it was written (Unix seconds), and the changelog's identity: its offset, -1 for none, and value."""

STALE_S: Final = 12 * 3600.0
"""Kafka may drop the record of a deletion a day after it was written: a copy that missed it would keep the entry."""

_WRITE_BUFFER_BYTES: Final = 4 * 1024 * 1024
"""Each partition fills one before it goes to disk; RocksDB's default of 64 MiB would be half a gigabyte for eight."""

MEMORY_BYTES: Final = 32 * 1024 * 1024
"""What the stores of a process hold together, of what was written and of what was read: softly, by half a MiB a store,
and what is being flushed. RocksDB by itself gives each store a cache of this size, so that memory would grow with the
partitions, and for as long as their caches fill."""

_UNWRITTEN_BYTES: Final = MEMORY_BYTES // 2
"""The part of it past which a store that is written to goes to disk early, so that reads keep a cache."""

_OPEN_FILES: Final = 64
"""Tables that a store keeps open; RocksDB by itself keeps all of them, each with some memory of its own."""


@functools.cache
def shared_memory() -> tuple[Cache, WriteBufferManager]:
    """The one cache of all stores of this process, and what charges writes to it that are not on disk yet."""
    cache = Cache(MEMORY_BYTES)
    # Without stalls: a store that waits for another's disk would hold up its partition.
    return cache, WriteBufferManager.new_write_buffer_manager_with_cache(_UNWRITTEN_BYTES, False, cache)


class RocksStore:
    """One partition's stores in a folder; used by one process at a time, by RocksDB's own lock."""

    def __init__(self, folder: Path) -> None:
        """Open, creating it as needed; raises `LogError`."""
        self._folder = folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        self.position = 0
        self.identity: tuple[int, bytes] | None = None
        self._read_meta()

    def _open(self) -> None:
        options = Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_write_buffer_size(_WRITE_BUFFER_BYTES)
        options.set_max_open_files(_OPEN_FILES)
        cache, unwritten = shared_memory()
        options.set_write_buffer_manager(unwritten)
        tables = BlockBasedOptions()
        tables.set_block_cache(cache)
        tables.set_cache_index_and_filter_blocks(True)
        options.set_block_based_table_factory(tables)
        with self._explained():
            self._db = Rdict(str(self._folder), options)

    def _read_meta(self) -> None:
        with self._explained():
            meta = self._db.get(_META)
        if meta is None or len(meta) != _FORMAT.size:
            return
        position, written, offset, value = _FORMAT.unpack(meta)
        if not 0 <= time.time() - written < STALE_S:
            self.clear()
            return
        self.position = position
        self.identity = (offset, value) if offset >= 0 else None

    def state(self, store: str, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that a store has."""
        asked = list(keys)
        found: Any = []
        if asked:
            with self._explained():
                found = self._db[[join_key((store, key)) for key in asked]]
        return {key: value for key, value in zip(asked, found, strict=True) if value is not None}

    def scan_state(self, store: str, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        begin = join_key((store, prefix))
        return self._entries(begin, begin, len(begin) - len(prefix), limit)

    def pages(self, store: str, size: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """All entries of a store, `size` at a time."""
        whole = start = join_key((store, b""))
        while page := self._entries(start, whole, len(whole), size):
            yield page
            start = whole + page[-1][0] + _NEXT

    def _entries(self, start: bytes, prefix: bytes, cut: int, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries from `start` on whose key begins with `prefix`; `cut` is where their own key begins."""
        entries: list[tuple[bytes, bytes]] = []
        with self._explained():
            place = self._db.iter()
            place.seek(start)
            while len(entries) < limit and place.valid() and place.key().startswith(prefix):
                entries.append((place.key()[cut:], place.value()))
                place.next()
        return entries

    def apply(self, writes: Mapping[StateKey, bytes | None], position: int) -> None:
        """Take over what a commit wrote."""
        batch = WriteBatch(raw_mode=True)
        for key, value in writes.items():
            if value is None:
                batch.delete(join_key(key))
            else:
                batch.put(join_key(key), value)
        self.position = position
        self._write(batch)

    def identify(self, offset: int, value: bytes) -> None:
        """Note which changelog this is a copy of."""
        self.identity = offset, value
        self._write(WriteBatch(raw_mode=True))

    def clear(self) -> None:
        """Forget everything."""
        self.position, self.identity = 0, None
        with self._explained():
            self._db.close()
            Rdict.destroy(str(self._folder))
        self._open()

    def close(self) -> None:
        """Release the folder; what is in it is up to date as of now."""
        if self.position:
            self._write(WriteBatch(raw_mode=True))
        with self._explained():
            self._db.close()

    def _write(self, batch: WriteBatch) -> None:
        offset, value = self.identity or (-1, b"")
        batch.put(_META, _FORMAT.pack(self.position, time.time(), offset, value))
        with self._explained():
            self._db.write(batch)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the library raises nothing more specific
            if "lock hold" in str(error) or "While lock file" in str(error):
                raise LogError(
                    f"state in {self._folder} is in use by another worker; it is taken up when free"
                ) from error
            raise LogError(
                f"state in {self._folder}: {error}. It is a copy: with the folder deleted, a restart makes it anew"
            ) from error
