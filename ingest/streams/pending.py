"""A processor's state as of its last commit plus what it has put since, kept in memory until the next."""

from collections.abc import Iterable, Mapping
from heapq import merge
from typing import Protocol

from ingest.log.contract import StateKey


class Readable(Protocol):
    """What is below pending writes: the log's store, or other pending writes."""

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that are there."""
        ...

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries with a key that begins with `prefix`, in key order."""
        ...


class Stores(Protocol):
    """Where the stores of all processors are kept, by name: the embedded log, or a worker's own."""

    def state(self, store: str, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that a store has."""
        ...

    def scan_state(self, store: str, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        ...


class StoredState:
    """One store, as of its last commit."""

    def __init__(self, stores: Stores, store: str) -> None:
        self._stores = stores
        self._store = store

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that are there."""
        return self._stores.state(self._store, keys)

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Entries with a key that begins with `prefix`, in key order."""
        return self._stores.scan_state(self._store, prefix, limit)


class PendingState:
    """Writes over what is below them; meets `ingest.processors.contract.State`."""

    def __init__(self, below: Readable) -> None:
        self._below = below
        self._writes: dict[bytes, bytes | None] = {}

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that are there; what was not put here is asked for at once."""
        writes = self._writes
        asked = dict.fromkeys(keys)
        found = dict(self._below.get_many([key for key in asked if key not in writes]))
        found.update((key, value) for key in asked if (value := writes.get(key)) is not None)
        return found

    def put(self, key: bytes, value: bytes) -> None:
        """Set a key."""
        self._writes[key] = value

    def delete(self, key: bytes) -> None:
        """Remove a key; one that is not there is fine."""
        self._writes[key] = None

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Committed and pending entries with a key that begins with `prefix`, in key order."""
        own = {key: value for key, value in self._writes.items() if key.startswith(prefix)}
        below = (entry for entry in self._below.scan(prefix, limit + len(own)) if entry[0] not in own)
        put = sorted((key, value) for key, value in own.items() if value is not None)
        return list(merge(below, put))[:limit]

    def absorb(self, later: "PendingState") -> None:
        """Take over the writes of a state that lies over this one."""
        self._writes.update(later._writes)  # noqa: SLF001 - of the same class

    def writes(self, store: str) -> dict[StateKey, bytes | None]:
        """The writes as a commit takes them."""
        return {(store, key): value for key, value in self._writes.items()}
