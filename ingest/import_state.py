"""What one import remembers of the events it has seen: exactly, in some 20 bytes each.

A dictionary of byte strings takes 230 bytes an event, half a gigabyte for a person's whole history. Here the 16 bytes
of an id stand in one of many small tables, found by their first two and then as a whole: no two ids are ever confused.
Of an event only the id is kept. Whether a duplicate says something else than the first is for the log to count.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ingest.log.state_contract import StateLog
from ingest.processors.deduplicate import Sight, id_key, id_keys
from ingest.processors.normalize import NormalizeProcessor
from schemas.event import CanonicalEvent

KEY_BYTES: Final = 16

TABLES: Final = 1 << 14
"""At a million events each table has 1 KB, which is searched in less than a microsecond."""

_MASK: Final = TABLES - 1
_KNOWN: Final = bytes(16)


class MemoryState:
    """The normaliser's store for one run, over what the log's store has; nothing is written back."""

    def __init__(self, log: StateLog | None = None) -> None:
        self._log = log
        self._tables: list[bytearray | None] = [None] * TABLES

    def first(self, event_ids: Sequence[str]) -> list[bool]:
        """Whether this run has not seen each of several events yet, by their ids alone; remembers them."""
        return [self._add(key) for key in id_keys(event_ids)]

    def see(self, event: CanonicalEvent) -> Sight:
        """Say whether this run has seen an event, and remember it; the log is not asked."""
        return Sight.FIRST if self._add(id_key(event.event.id)) else Sight.AGAIN

    def forget(self, event: CanonicalEvent) -> None:
        """Take back a first sight."""
        self.delete(id_key(event.event.id))

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Give an entry for what this run has put, and what the log knew before."""
        asked = list(keys)
        found = {key: _KNOWN for key in asked if self._place(key) >= 0}
        if self._log and len(found) < len(asked):
            found |= self._log.state(NormalizeProcessor.name, [key for key in asked if key not in found])
        return found

    def put(self, key: bytes, value: bytes) -> None:
        """Remember a key for this run; raises `ValueError` when it is no id's."""
        del value
        if len(key) != KEY_BYTES:
            raise ValueError("only ids can be remembered")
        self._add(key)

    def delete(self, key: bytes) -> None:
        """Forget what this run has put."""
        place = self._place(key)
        table = self._tables[(key[0] << 8 | key[1]) & _MASK]
        if table is not None and place >= 0:
            del table[place : place + KEY_BYTES]

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Nothing: what is deduplicated is only ever asked for by its whole key."""
        del prefix, limit
        return []

    def _add(self, key: bytes) -> bool:
        number = (key[0] << 8 | key[1]) & _MASK
        table = self._tables[number]
        if table is None:
            self._tables[number] = bytearray(key)
        elif table.find(key) < 0 or self._place(key) < 0:
            table += key
        else:
            return False
        return True

    def _place(self, key: bytes) -> int:
        table = self._tables[(key[0] << 8 | key[1]) & _MASK]
        place = -1 if table is None else table.find(key)
        while table is not None and place >= 0 and place % KEY_BYTES:  # found across two keys
            place = table.find(key, place + 1)
        return place
