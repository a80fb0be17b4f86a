"""Where a worker keeps the stores of partitions, also while partitions are dealt out again."""

from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from ingest.log.contract import LogError
from ingest.streams.faust.stores import MemoryStore, Store

_log = structlog.get_logger(__name__)


def store_maker(kind: str, folder: Path) -> Callable[[int], Store]:
    """What opens the store of a partition: `memory`, or `rocksdb` in a folder for each."""
    if kind == "memory":
        return lambda _: MemoryStore()

    def on_disk(partition: int) -> Store:
        from ingest.streams.faust.rocks import RocksStore  # noqa: PLC0415 - loads a library of 20 MB

        return RocksStore(folder / str(partition))

    return on_disk


class Shelf:
    """Stores by partition, opened when asked for. Only the lane of a partition uses its store."""

    def __init__(self, make: Callable[[int], Store]) -> None:
        """`make` opens the store of a partition; it may raise `LogError`."""
        self._make = make
        self._stores: dict[int, Store] = {}

    def take(self, partition: int) -> Store:
        """Give a partition's store as it was left, or open it; blocks. Raises `LogError`."""
        store = self._stores.get(partition)
        if store is None:
            store = self._stores[partition] = self._make(partition)
        return store

    def keep_only(self, partitions: Iterable[int]) -> None:
        """Close the stores of all other partitions; blocks."""
        for partition in set(self._stores) - set(partitions):
            self.discard(partition)

    def discard(self, partition: int) -> None:
        """Close a partition's store, in which something may have gone wrong; the next is opened anew."""
        store = self._stores.pop(partition, None)
        if store is not None:
            try:
                store.close()
            except LogError as error:
                _log.warning("state-not-closed", partition=partition, reason=str(error))
