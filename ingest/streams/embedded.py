"""The embedded runner: processors over the log of one machine, in turns, each exactly once.

A processor's outputs, state and input offset move in one transaction, so a crash at any moment repeats nothing and
skips nothing. Two runners on one log do no harm: the second to commit is fenced and reads its offset again. When it
runs, and what happens when the log fails, is `ingest.processing`'s.
"""

from collections.abc import Callable, Sequence

from ingest.clock import now_ms
from ingest.log.contract import LogError
from ingest.log.state_contract import StateLog
from ingest.processors.contract import Processor
from ingest.streams.lane import Lane


class EmbeddedRunner:
    """Runs processors over a log, one batch of each in turn."""

    def __init__(self, log: StateLog, processors: Sequence[Processor], *, clock: Callable[[], int] = now_ms) -> None:
        """`clock` gives Unix milliseconds, for ticks. Raises `LogError` when the log cannot be written."""
        self._lanes = [Lane(log, processor, clock) for processor in processors]

    def run_once(self) -> int:
        """Work off one batch of each processor, and what is due by the clock; how many records were read.

        Each gets its turn even when the log fails for another; then the first `LogError` is raised.
        """
        return self._round()[0]

    def run_until_caught_up(self) -> None:
        """Work until nothing waits and nothing is due, as after an import; raises `LogError`."""
        while any(self._round()):
            pass

    def caught_up(self) -> bool:
        """Whether no processor has records to read."""
        return not any(self.lag().values())

    def lag(self) -> dict[str, int]:
        """How many records each processor has yet to read."""
        return {lane.processor.name: lane.lag() for lane in self._lanes}

    def _round(self) -> tuple[int, int]:
        read = written = 0
        failure: LogError | None = None
        for lane in self._lanes:
            try:
                lane_read, lane_written = lane.step()
            except LogError as error:
                failure = failure or error
                continue
            read, written = read + lane_read, written + lane_written
        if failure is not None:
            raise failure
        return read, written
