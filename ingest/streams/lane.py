"""One processor over the embedded log: a batch, its outputs, its state and its offset in one transaction."""

from collections.abc import Callable

import structlog

from ingest.log.contract import FencedError, LogError
from ingest.log.state_contract import Commit, StateLog
from ingest.processors.contract import Processor
from ingest.streams.attempts import BATCH_BYTES, BATCH_RECORDS, Attempts, Outcome, Ticks
from ingest.streams.pending import PendingState, StoredState

_log = structlog.get_logger(__name__)


class Lane:
    """Moves one processor along its topic."""

    def __init__(self, log: StateLog, processor: Processor, clock: Callable[[], int]) -> None:
        """`clock` gives Unix milliseconds. The group is made durable, so that retention keeps what it has not read."""
        self.processor = processor
        self._log = log
        self._clock = clock
        self._attempts = Attempts(processor)
        self._ticks = Ticks()
        self._position: int | None = None
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
            outcome = self._attempts.process(records, state)
            self._commit(records[-1].offset, state, outcome)
            written = len(outcome.outputs)
        return len(records), written + self._tick_if_due(bool(records))

    def _state(self) -> PendingState:
        return PendingState(StoredState(self._log, self.processor.name))

    def _commit(self, offset: int, state: PendingState, outcome: Outcome) -> None:
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

    def _tick_if_due(self, busy: bool) -> int:
        now = self._clock()
        if not self._ticks.due(now, busy=busy):
            return 0
        state = self._state()
        outcome = self._attempts.tick(now, state)
        self._ticks.done(now)
        if outcome.outputs or state.writes(self.processor.name) or outcome.counts.total():
            self._commit(self.position(), state, outcome)
        return len(outcome.outputs)
