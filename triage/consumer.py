"""The triage as a part of the daemon: one consumer a store, which waits for its turn and mends itself.

Whatever fails, the database or the log, is said in readiness and in the log, and tried again with growing pauses from
the beginning: the store is opened anew, the turn taken anew, the offsets read anew.
"""

import asyncio
import contextlib
from typing import Final

import structlog

from ingest.capture import Backoff, Pauses
from ingest.log.contract import LogError
from ingest.parts import Context
from triage.metrics import TriageMetrics
from triage.reader import Reader
from triage.store.errors import StoreError
from triage.working import WAIT_S, Working

NAME: Final = "triage"

TURN_POLL_S: Final = 1.0

_log = structlog.get_logger(__name__)


def part() -> "TriagePart":
    """Make the part; the entry point of `session_triage.parts`."""
    return TriagePart()


class TriagePart:
    """The consumer in the daemon's event loop; its work is done in threads."""

    name = NAME

    def __init__(self, pauses: Pauses | None = None) -> None:
        self._pauses = pauses or Pauses()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self, context: Context) -> None:
        """Begin to read as soon as it is this process's turn."""
        self._task = asyncio.create_task(self._run(context))

    async def stop(self) -> None:
        """Finish the batch at hand and let others have their turn."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def _run(self, context: Context) -> None:
        metrics = TriageMetrics(context.metrics.registry)
        backoff = self._pauses.backoff()
        while not self._stop.is_set():
            try:
                await self._work(context, metrics, backoff)
            except Exception as error:  # noqa: BLE001 - whatever it is: said, counted, tried again
                _failed(context, error)
                await _pause(self._stop, backoff.next())

    async def _work(self, context: Context, metrics: TriageMetrics, backoff: Backoff) -> None:
        """Work until the stop, or until something fails."""
        working = await asyncio.to_thread(Working, context, metrics)
        try:
            reader = await self._turn(working)
            context.health.problems.pop(NAME, None)
            waits = True
            while reader is not None and not self._stop.is_set():
                with context.health.activity.doing(NAME):
                    busy = await asyncio.to_thread(working.step, reader, read=waits)
                backoff.reset()
                waits = busy or await asyncio.to_thread(reader.wait, WAIT_S)
        finally:
            await asyncio.to_thread(working.close)

    async def _turn(self, working: Working) -> Reader | None:
        """Wait for this process's turn; None when the stop came first."""
        told = False
        while not self._stop.is_set():
            reader = await asyncio.to_thread(working.take_turn)
            if reader is not None:
                return reader
            if not told:
                _log.info("triage-runs-elsewhere")
                told = True
            await _pause(self._stop, TURN_POLL_S)
        return None


def _failed(context: Context, error: Exception) -> None:
    expected = isinstance(error, StoreError | LogError | OSError)
    reason = str(error) if expected else f"unexpected {type(error).__name__}; see the daemon's log"
    context.health.problems[NAME] = reason
    context.metrics.failed(NAME, "triage", type(error).__name__)
    _log.error("triage-failed", reason=reason, error_type=type(error).__name__, exc_info=None if expected else error)


async def _pause(until: asyncio.Event, seconds: float) -> None:
    """Wait for the time to pass, or for the event."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(until.wait(), seconds)
