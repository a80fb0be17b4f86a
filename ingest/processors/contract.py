"""What a processor is: records in, records and state out, nothing else.

A processor is deterministic: the same input and state give the same output, with the same ids. It touches the world
only through `State`, which its runner reads before and commits after, with the outputs and the input offset, in one
transaction. It never raises for bad input: that is a `RejectedRecord` on `Topic.REJECTED`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ingest.log.contract import NewRecord, Record, Topic


class State(Protocol):
    """A processor's own store, as of its committed input offset plus what it has put since."""

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """The values of those keys that are there; one round trip for a whole batch."""
        ...

    def put(self, key: bytes, value: bytes) -> None:
        """Set a key."""
        ...

    def delete(self, key: bytes) -> None:
        """Remove a key; one that is not there is fine."""
        ...

    def scan(self, prefix: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Committed and pending entries with a key that begins with `prefix`, in key order."""
        ...


class Processor(Protocol):
    """One step of the stream."""

    name: str
    """Its consumer group and the name of its state store."""
    input: Topic

    def process(self, records: Sequence[Record], state: State) -> list[NewRecord]:
        """Process consecutive records of the input topic and give the outputs, in order."""
        ...

    def tick(self, now_ms: int, state: State) -> list[NewRecord]:
        """Do what is due by the clock (idle threads); called between batches, at most every few seconds."""
        ...

    def counts(self) -> Mapping[str, int]:
        """What happened since the last call, by name (`emitted`, `duplicate`, `rejected`, …), and start again at 0."""
        ...
