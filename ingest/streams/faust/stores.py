"""What processors remember of one partition, in this process: a copy of the partition's changelog."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from ingest.log.contract import StateKey

SEPARATOR: Final = b"\0"
"""Between a store's name and a key, in the changelog and on disk; names of processors hold none, and are not empty."""

IDENTITY: Final[StateKey] = ("", b"identity")
"""Under this key a changelog has a random value that tells it from one of another cluster, or from before a reset."""


def join_key(key: StateKey) -> bytes:
    """Give a state key as the changelog has it."""
    return key[0].encode() + SEPARATOR + key[1]


def split_key(key: bytes) -> StateKey:
    """Give the state key that `join_key` was given; raises `ValueError` for any other bytes."""
    store, found, rest = key.partition(SEPARATOR)
    if not found:
        raise ValueError("a key of the changelog names its store")
    return store.decode(), rest


class Store(Protocol):
    """The stores of all processors for one partition; used by one thread at a time. Failures are `LogError`."""

    position: int
    """The offset of the changelog up to which everything is in here; 0 where nothing is."""
    identity: tuple[int, bytes] | None
    """Offset and value of the changelog's `IDENTITY`."""

    def state(self, store: str, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that a store has."""
        ...

    def scan_state(self, store: str, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        ...

    def pages(self, store: str, size: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """All entries of a store, `size` at a time, each page as of when it is asked for."""
        ...

    def apply(self, writes: Mapping[StateKey, bytes | None], position: int) -> None:
        """Take over what a commit wrote, None for what it deleted; `position` is where the changelog goes on."""
        ...

    def identify(self, offset: int, value: bytes) -> None:
        """Note which changelog this is a copy of."""
        ...

    def clear(self) -> None:
        """Forget everything, to be loaded anew."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class MemoryStore:
    """Everything in dictionaries: fastest, some 250 bytes an event remembered, and loaded anew by each process."""

    def __init__(self) -> None:
        self.position = 0
        self.identity: tuple[int, bytes] | None = None
        self._stores: dict[str, dict[bytes, bytes]] = {}
        self._sorted: dict[tuple[str, bytes], list[bytes]] = {}
        """The keys under each prefix that was ever scanned, in order."""

    def state(self, store: str, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that a store has."""
        entries = self._stores.get(store, {})
        return {key: value for key in keys if (value := entries.get(key)) is not None}

    def scan_state(self, store: str, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        entries = self._stores.get(store, {})
        keys = self._sorted.get((store, prefix))
        if keys is None:
            keys = self._sorted[store, prefix] = sorted(key for key in entries if key.startswith(prefix))
        return [(key, entries[key]) for key in keys[:limit]]

    def pages(self, store: str, size: int) -> Iterator[list[tuple[bytes, bytes]]]:
        """All entries of a store, `size` at a time."""
        entries = self._stores.get(store, {})
        keys = list(entries)
        for start in range(0, len(keys), size):
            yield [(key, entries[key]) for key in keys[start : start + size] if key in entries]

    def apply(self, writes: Mapping[StateKey, bytes | None], position: int) -> None:
        """Take over what a commit wrote."""
        for (store, key), value in writes.items():
            entries = self._stores.setdefault(store, {})
            if (key in entries) is (value is None):
                self._index(store, key, there=value is not None)
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value
        self.position = position

    def _index(self, store: str, key: bytes, *, there: bool) -> None:
        for (of_store, prefix), keys in self._sorted.items():
            if of_store == store and key.startswith(prefix):
                if there:
                    insort(keys, key)
                else:
                    del keys[bisect_left(keys, key)]

    def identify(self, offset: int, value: bytes) -> None:
        """Note which changelog this is a copy of."""
        self.identity = offset, value

    def clear(self) -> None:
        """Forget everything."""
        self._stores, self._sorted, self.position, self.identity = {}, {}, 0, None

    def close(self) -> None:
        """Nothing is held that a process's end would not release."""
