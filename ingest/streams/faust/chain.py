"""The processors of one partition in one turn: what the normaliser makes of a batch goes to the others at once.

`conversations.events` is so never read again, which would cost each event a second way through the broker and Faust.
For the processors nothing differs: an event's offset is made of its captured record's and its place among that one's
events, so it grows as offsets do; its time is that of the captured record.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ingest.log.contract import NewRecord, Record, StateKey, Topic
from ingest.processors.contract import Processor
from ingest.processors.records import EventRecord, MadeEvent
from ingest.streams.attempts import Attempts, Outcome
from ingest.streams.faust.stores import Store
from ingest.streams.pending import PendingState, StoredState

EVENT_BITS: Final = 20
"""A captured record is under 768 KiB, and so has less than a million events."""


@dataclass(slots=True)
class Work:
    """What one turn of all processors came to: the content of one transaction."""

    outputs: list[NewRecord] = field(default_factory=list)
    state: dict[StateKey, bytes | None] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write or to tell."""
        return not (self.outputs or self.state or any(counts.total() for counts in self.counts.values()))

    def add(self, step: str, outcome: Outcome, state: PendingState) -> None:
        """Take over what came of one processor's turn."""
        self.outputs += outcome.outputs
        self.state |= state.writes(step)
        self.counts[step] = outcome.counts


class Chain:
    """Processors, each after the one it reads from; pure but for the store that it reads."""

    def __init__(self, steps: Sequence[Processor]) -> None:
        self._steps = [Attempts(step) for step in steps]

    def process(self, records: Sequence[Record], store: Store) -> Work:
        """Work off consecutive captured records; raises `LogError` where the store cannot be read."""
        work = Work()
        for step in self._steps:
            state = _state(store, step)
            feed = records if step.processor.input is Topic.CAPTURED else _events(work.outputs)
            if feed:
                work.add(step.processor.name, step.process(feed, state), state)
        return work

    def tick(self, now_ms: int, store: Store) -> Work:
        """Do what is due by the clock; raises `LogError` where the store cannot be read."""
        work = Work()
        for step in self._steps:
            state = _state(store, step)
            work.add(step.processor.name, step.tick(now_ms, state), state)
        return work


def _state(store: Store, step: Attempts) -> PendingState:
    return PendingState(StoredState(store, step.processor.name))


def _events(outputs: Sequence[NewRecord]) -> list[EventRecord]:
    events: list[EventRecord] = []
    origin, index = 0, 0
    for output in outputs:
        if not isinstance(output, MadeEvent):
            continue
        index = index + 1 if output.origin.offset == origin else 0
        origin = output.origin.offset
        events.append(_event(output, index))
    return events


def _event(made: MadeEvent, index: int) -> EventRecord:
    origin = made.origin
    return EventRecord(
        made.topic,
        origin.offset << EVENT_BITS | index,
        made.key,
        made.value,
        origin.time_ms,
        origin.partition,
        event=made.event,
        captured=origin,
    )
