"""A processor's turn on a batch, whoever runs it: what it fails on is rejected alone and costs no other record."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from ingest.log.contract import LogError, NewRecord, Record
from ingest.processors.contract import Processor
from ingest.processors.records import rejected, rejection
from ingest.streams.pending import PendingState

BATCH_RECORDS: Final = 2_000
BATCH_BYTES: Final = 2 * 1024 * 1024
"""A batch: enough that a disk sync or a transaction is shared by thousands of events, little enough to stop soon."""

TICK_INTERVAL_MS: Final = 5_000

TICKS_MISSED: Final = 12
"""While there is more to read the clock waits, as a thread with unread records is not idle; but not for ever."""

PROCESSOR_ERROR: Final = "processor-error"

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Outcome:
    """What a processor made of a batch, and what it counted."""

    outputs: list[NewRecord] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Outcome") -> None:
        """Take over what came of further records."""
        self.outputs += other.outputs
        self.counts.update(other.counts)


class Attempts:
    """One processor, run so that a program error in it neither stops the stream nor costs a record in silence."""

    def __init__(self, processor: Processor) -> None:
        self.processor = processor

    def process(self, records: Sequence[Record], state: PendingState) -> Outcome:
        """Process a batch; `state` has its writes afterwards. Raises `LogError` where the state cannot be read."""
        trial = PendingState(state)
        outcome = self._attempt(lambda: self.processor.process(records, trial))
        if isinstance(outcome, Outcome):
            state.absorb(trial)
            return outcome
        if len(records) == 1:
            return self._reject(records[0], outcome)
        return self._process_singly(records, state)

    def tick(self, now_ms: int, state: PendingState) -> Outcome:
        """Do what is due by the clock; a tick that fails writes nothing and counts as `failed`. Raises `LogError`."""
        trial = PendingState(state)
        outcome = self._attempt(lambda: self.processor.tick(now_ms, trial))
        if isinstance(outcome, Outcome):
            state.absorb(trial)
            return outcome
        _log.error("tick-failed", processor=self.processor.name, exc_info=outcome)
        return Outcome(counts=Counter(failed=1))

    def _process_singly(self, records: Sequence[Record], state: PendingState) -> Outcome:
        """Find the records that the processor fails on."""
        total = Outcome()
        for record in records:
            total.add(self.process([record], state))
        return total

    def _attempt(self, run: Callable[[], list[NewRecord]]) -> Outcome | Exception:
        try:
            outputs = run()
        except LogError:
            self.processor.counts()
            raise
        # A program error in a processor must neither stop the stream nor cost a record in silence: it is rejected.
        except Exception as error:  # noqa: BLE001
            self.processor.counts()
            return error
        return Outcome(outputs, Counter(self.processor.counts()))

    def _reject(self, record: Record, error: Exception) -> Outcome:
        where = f"{record.topic} {record.offset}"
        _log.error("record-rejected", processor=self.processor.name, where=where, exc_info=error)
        kind = ValueError(f"{type(error).__name__}: {error}")
        bad = rejection(self.processor.name, where, PROCESSOR_ERROR, kind, record.value)
        return Outcome([rejected(record, bad)], Counter(seen=1, rejected=1, failed=1))


class Ticks:
    """When a processor's tick is due: every `TICK_INTERVAL_MS`, later while there is much to read."""

    def __init__(self) -> None:
        self._due_ms = 0

    def due(self, now_ms: int, *, busy: bool) -> bool:
        """Whether to tick now."""
        return now_ms >= self._due_ms + (busy * TICKS_MISSED * TICK_INTERVAL_MS)

    def done(self, now_ms: int) -> None:
        """Note a tick, whether or not it came to anything."""
        self._due_ms = now_ms + TICK_INTERVAL_MS
