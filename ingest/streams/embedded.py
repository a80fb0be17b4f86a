"""The embedded runner: processors over the log of one machine, in turns, each exactly once.

A processor's outputs, state and input offset move in one transaction, so a crash at any moment repeats nothing and
skips nothing. Two runners on one log do no harm: the second to commit is fenced and reads its offset again.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from ingest.clock import now_ms
from ingest.log.contract import LogError, Place, StateLog
from ingest.processors.contract import Processor
from ingest.streams.lane import Lane

WAIT_S: Final = 0.5
"""How long to wait for appends before looking at the clock, and at whether to stop."""

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
"""Between tries while the log fails: soon after a hiccup, rarely while a disk is full."""

_log = structlog.get_logger(__name__)


class _Pause:
    """When a lane whose log failed may try again."""

    def __init__(self, first_s: float) -> None:
        self._first_s = first_s
        self._failures = 0
        self._until = 0.0

    def over(self) -> bool:
        return time.monotonic() >= self._until

    def failed(self) -> float:
        """Begin a pause; its length in seconds."""
        length = min(self._first_s * float(2**self._failures), LONGEST_PAUSE_S)
        # Bounded so that the power stays a small number after days of failures.
        self._failures = min(self._failures + 1, 16)
        self._until = time.monotonic() + length
        return length

    def succeeded(self) -> None:
        self._failures = 0


class EmbeddedRunner:
    """Runs processors over a log, one batch of each in turn."""

    def __init__(
        self,
        log: StateLog,
        processors: Sequence[Processor],
        *,
        clock: Callable[[], int] = now_ms,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        """`clock` gives Unix milliseconds, for ticks. Raises `LogError` when the log cannot be written."""
        self._log = log
        self._lanes = [Lane(log, processor, clock) for processor in processors]
        self._pauses = [_Pause(first_pause_s) for _ in self._lanes]

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

    async def run(self, stop: asyncio.Event) -> None:
        """Work in a thread until `stop` is set, then finish the batches at hand."""
        halt = threading.Event()
        worker = asyncio.create_task(asyncio.to_thread(self._work, halt))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({worker, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            halt.set()
            stopped.cancel()
            # Shielded: a cancelled caller must not leave a thread behind that still writes.
            await asyncio.shield(worker)

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

    def _work(self, halt: threading.Event) -> None:
        while not halt.is_set():
            steps = [
                self._guarded_step(lane, pause, halt) for lane, pause in zip(self._lanes, self._pauses, strict=True)
            ]
            if not any(steps):
                self._wait(halt)

    def _guarded_step(self, lane: Lane, pause: _Pause, halt: threading.Event) -> int:
        if halt.is_set() or not pause.over():
            return 0
        try:
            read, written = lane.step()
        except LogError as error:
            seconds = pause.failed()
            _log.error("processing-paused", processor=lane.processor.name, reason=str(error), seconds=seconds)
            return 0
        pause.succeeded()
        return read + written

    def _wait(self, halt: threading.Event) -> None:
        ready = [lane for lane, pause in zip(self._lanes, self._pauses, strict=True) if pause.over()]
        try:
            positions: list[tuple[Place, int]] = [((lane.processor.input, 0), lane.position()) for lane in ready]
            # Of processors that share a topic the one that is furthest behind decides.
            behind = dict(sorted(positions, key=lambda entry: entry[1], reverse=True))
            self._log.wait_for_append(behind, WAIT_S)
        except LogError as error:
            _log.warning("waiting-failed", reason=str(error))
            halt.wait(WAIT_S)
