"""Runs the processors beside the sources: at once when something was captured, now and then for what is due by time.

Only one process runs them on a state directory: while another one does, such as an import, this one waits for its turn.
"""

import asyncio
import contextlib
import math
import time
from pathlib import Path
from typing import Final, Protocol

import structlog

from ingest.capture import Pauses
from ingest.health import Health
from ingest.locks import Lock, holder, try_lock
from ingest.log.contract import LogError
from ingest.metrics import Metrics

PART: Final = "processors"

POLL_SECONDS: Final = 1.0
"""How often is looked for records that other processes appended, such as an import; also the pace of ticks. What this
process captures is worked off at once."""

LOCK_POLL_SECONDS: Final = 0.5

_log = structlog.get_logger(__name__)


class Runner(Protocol):
    """What runs the processors over the log."""

    def run_once(self) -> int:
        """Work off one batch of each processor, and what is due by time; gives how many records that were."""
        ...


class Processing:
    """The loop around a runner."""

    def __init__(
        self,
        runner: Runner,
        lock_path: Path,
        health: Health,
        metrics: Metrics,
        *,
        lock: Lock | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        self._runner = runner
        self._lock_path = lock_path
        self._health = health
        self._metrics = metrics
        self._pauses = pauses or Pauses()
        self._wake = asyncio.Event()
        self._stop = asyncio.Event()
        self._lock = lock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to process as soon as it is this process's turn."""
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Say that there is something to process."""
        self._wake.set()

    async def stop(self) -> None:
        """Finish the batch at hand and let others have their turn."""
        self._stop.set()
        self._wake.set()
        if self._task is not None:
            await self._task
        if self._lock is not None:
            self._lock.release()

    async def _run(self) -> None:
        await self._take_turn()
        self._health.round_ended = -math.inf  # none yet
        backoff = self._pauses.backoff()
        while not self._stop.is_set():
            self._wake.clear()
            try:
                with self._health.activity.doing("processing"):
                    done = await asyncio.to_thread(self._runner.run_once)
            except Exception as error:  # noqa: BLE001 - the log or a processor failed: said, counted, tried again
                self._failed(error)
                await _pause(self._stop, backoff.next())
                continue
            backoff.reset()
            self._health.round_ended = time.monotonic()
            self._health.problems.pop(PART, None)
            self._metrics.processed.inc(done)
            if not done:
                await _pause(self._wake, POLL_SECONDS)

    async def _take_turn(self) -> None:
        told = False
        while self._lock is None and not self._stop.is_set():
            try:
                self._lock = await asyncio.to_thread(try_lock, self._lock_path, 0.0)
            except OSError as error:
                self._failed(error)
            if self._lock is not None:
                return
            if not told:
                by = holder(self._lock_path)
                _log.info("processors-run-elsewhere", pid=by.pid if by else None)
                told = True
            await _pause(self._stop, LOCK_POLL_SECONDS)

    def _failed(self, error: Exception) -> None:
        expected = isinstance(error, LogError | OSError)
        reason = str(error) if expected else f"unexpected {type(error).__name__}; see the daemon's log"
        self._health.problems[PART] = reason
        self._metrics.failed(PART, "processing", type(error).__name__)
        _log.error(
            "processing-failed",
            reason=reason,
            error_type=type(error).__name__,
            exc_info=None if expected else error,
        )


async def _pause(until: asyncio.Event, seconds: float) -> None:
    """Wait for the time to pass, or for the event."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(until.wait(), seconds)
