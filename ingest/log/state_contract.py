"""The part of the log's contract that the embedded one alone fulfils: processors' state, beside outputs and offsets.

Workers on Kafka keep their state themselves: a changelog there, and a copy of it (`ingest.streams.faust.stores`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ingest.log.contract import EventLog, NewRecord, StateKey, Topic


@dataclass(slots=True)
class Commit:
    """What a processor run moves in one transaction: outputs, state, and the input offset it has applied.

    `offset` is the last offset of `topic` that was processed, `after` the committed one that the run began from. Where
    nothing was read, as by a clock tick, both are the committed offset. `state` maps store and key to a value, None
    deletes.
    """

    group: str
    topic: Topic
    offset: int
    after: int
    records: list[NewRecord] = field(default_factory=list)
    state: dict[StateKey, bytes | None] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    partition: int = 0


class StateLog(EventLog, Protocol):
    """A log that keeps processors' state too, and moves it with their outputs and offsets: the embedded one."""

    def state(self, store: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that a store has."""
        ...

    def scan_state(self, store: str, prefix: bytes = b"", limit: int = 1000) -> list[tuple[bytes, bytes]]:
        """Entries of a store with a key that begins with `prefix`, in key order."""
        ...

    def commit(self, commit: Commit) -> None:
        """Write outputs, state and offset in one transaction; durable on return.

        Raises `FencedError` when the group's offset is not `commit.after`: another copy is at work.
        """
        ...
