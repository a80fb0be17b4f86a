"""One processor over the embedded log: a batch, its outputs, its state and its offset in one transaction."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from ingest.log.contract import Commit, FencedError, LogError, NewRecord, Record, StateLog, Topic
from ingest.processors.contract import Processor
from ingest.processors.records import rejection
from ingest.processors.times import from_ms
from ingest.streams.pending import PendingState, StoredState
from schemas.captured import encode_record

BATCH_RECORDS: Final = 2_000
BATCH_BYTES: Final = 2 * 1024 * 1024
"""A batch: enough that a disk sync is shared by thousands of events, little enough to stop or to wait for."""

TICK_INTERVAL_MS: Final = 5_000

TICKS_MISSED: Final = 12
"""While there is more to read the clock waits, as a thread with unread records is not idle; but not for ever."""

PROCESSOR_ERROR: Final = "processor-error"

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Outcome:
    outputs: list[NewRecord] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Lane:
    """Moves one processor along its topic."""

    def __init__(self, log: StateLog, processor: Processor, clock: Callable[[], int]) -> None:
        """`clock` gives Unix milliseconds. The group is made durable, so that retention keeps what it has not read."""
        self.processor = processor
        self._log = log
        self._clock = clock
        self._position: int | None = None
        self._tick_due_ms = 0
        log.register_group(processor.name, processor.input)

    def position(self) -> int:
        """The last offset that is processed."""
        if self._position is None:
            self._position = self._log.committed(self.processor.name, self.processor.input)
        return self._position

    def lag(self) -> int:
        """How many records wait, where offsets have no holes."""
        return self._log.end_offset(self.processor.input) - self.position()

    def step(self) -> tuple[int, int]:
        """Work off one batch, or a tick that is due; how many records it read and wrote. Raises `LogError`."""
        try:
            return self._step()
        except FencedError as error:
            _log.warning("processor-fenced", processor=self.processor.name, reason=str(error))
            self._position = None
            return 0, 0
        except LogError:
            # Whether a failed commit is on the disk is for the log to say.
            self._position = None
            raise

    def _step(self) -> tuple[int, int]:
        after = self.position()
        records = self._log.read(self.processor.input, after, BATCH_RECORDS, BATCH_BYTES)
        written = 0
        if records:
            state = self._state()
            outcome = self._process(records, state)
            self._commit(records[-1].offset, state, outcome)
            written = len(outcome.outputs)
        return len(records), written + self._tick_if_due(bool(records))

    def _state(self) -> PendingState:
        return PendingState(StoredState(self._log, self.processor.name))

    def _commit(self, offset: int, state: PendingState, outcome: _Outcome) -> None:
        self._log.commit(
            Commit(
                group=self.processor.name,
                topic=self.processor.input,
                offset=offset,
                after=self.position(),
                records=outcome.outputs,
                state=state.writes(self.processor.name),
                counts=dict(outcome.counts),
            )
        )
        self._position = offset

    def _process(self, records: Sequence[Record], state: PendingState) -> _Outcome:
        trial = PendingState(state)
        outcome = self._attempt(lambda: self.processor.process(records, trial))
        if isinstance(outcome, _Outcome):
            state.absorb(trial)
            return outcome
        if len(records) == 1:
            return self._reject(records[0], outcome)
        return self._process_singly(records, state)

    def _process_singly(self, records: Sequence[Record], state: PendingState) -> _Outcome:
        """Find the records that the processor fails on, so that they cost no others."""
        total = _Outcome()
        for record in records:
            outcome = self._process([record], state)
            total.outputs += outcome.outputs
            total.counts.update(outcome.counts)
        return total

    def _attempt(self, run: Callable[[], list[NewRecord]]) -> _Outcome | Exception:
        try:
            outputs = run()
        except LogError:
            self.processor.counts()
            raise
        # A program error in a processor must neither stop the stream nor cost a record in silence: it is rejected.
        except Exception as error:  # noqa: BLE001
            self.processor.counts()
            return error
        return _Outcome(outputs, Counter(self.processor.counts()))

    def _reject(self, record: Record, error: Exception) -> _Outcome:
        where = f"{record.topic} {record.offset}"
        _log.error("record-rejected", processor=self.processor.name, where=where, exc_info=error)
        kind = ValueError(f"{type(error).__name__}: {error}")
        bad = rejection(self.processor.name, where, PROCESSOR_ERROR, kind, record.value)
        bad.rejected_at = from_ms(record.time_ms)
        rejected = NewRecord(Topic.REJECTED, record.key, encode_record(bad))
        return _Outcome([rejected], Counter(seen=1, rejected=1, failed=1))

    def _tick_if_due(self, busy: bool) -> int:
        now = self._clock()
        if now < self._tick_due_ms + (busy * TICKS_MISSED * TICK_INTERVAL_MS):
            return 0
        state = self._state()
        outcome = self._attempt(lambda: self.processor.tick(now, state))
        self._tick_due_ms = now + TICK_INTERVAL_MS
        if isinstance(outcome, Exception):
            _log.error("tick-failed", processor=self.processor.name, exc_info=outcome)
            self._commit(self.position(), self._state(), _Outcome(counts=Counter(failed=1)))
            return 0
        if outcome.outputs or state.writes(self.processor.name) or outcome.counts.total():
            self._commit(self.position(), state, outcome)
        return len(outcome.outputs)
