"""Runs the sources: each element lands in the log with its checkpoint, and only then is the source asked for more.

Back-pressure is inherent: while the log refuses, the same capture is offered again with growing pauses, and nothing is
asked for. A source that fails is restarted from its checkpoints; one that only a person can mend is tried now and then.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, ParamSpec, TypeVar

import structlog

from adapters.contract import Adapter, Capture, PermanentSourceError, SourceError, TransientSourceError
from ingest.clock import now_iso
from ingest.drift import DriftWatch
from ingest.health import Health, SourceHealth, SourceState
from ingest.log.contract import EventLog, FencedError, LogError, SourceLog
from ingest.metrics import Metrics
from ingest.packing import Packed, pack

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 60.0
"""A log or a network that comes back is noticed within a minute."""

PERMANENT_PAUSE_SECONDS: Final = 300.0
"""A person mends what only a person can; the source is tried again without a restart of the daemon."""

HEALTHY_SECONDS: Final = 60.0
"""A source that has run this long starts again with the first pause."""

P = ParamSpec("P")
T = TypeVar("T")

_log = structlog.get_logger(__name__)


class DuplicateSourceError(ValueError):
    """Two sources of one name would share checkpoints (B26)."""


@dataclass(slots=True)
class Backoff:
    """Growing pauses with jitter, so that several sources do not come back at once."""

    first: float = FIRST_PAUSE_SECONDS
    longest: float = LONGEST_PAUSE_SECONDS
    _tries: int = 0

    def next(self) -> float:
        """The next pause in seconds: between half and all of first, 2 x first, 4 x first … longest."""
        pause: float = min(self.longest, self.first * 2 ** min(self._tries, 30))
        self._tries += 1
        return pause * random.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Begin again with the first pause."""
        self._tries = 0


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long is waited after each kind of failure, in seconds."""

    first: float = FIRST_PAUSE_SECONDS
    longest: float = LONGEST_PAUSE_SECONDS
    permanent: float = PERMANENT_PAUSE_SECONDS
    healthy: float = HEALTHY_SECONDS

    def backoff(self) -> Backoff:
        """A fresh row of growing pauses."""
        return Backoff(self.first, self.longest)


@dataclass(frozen=True, slots=True)
class Follower:
    """Follows one source for ever."""

    adapter: Adapter
    log: EventLog
    health: SourceHealth
    whole: Health
    metrics: Metrics
    on_commit: Callable[[], None]
    pauses: Pauses = field(default_factory=Pauses)
    drift: DriftWatch = field(default_factory=DriftWatch)

    async def run(self) -> None:
        """Follow, and start again after each failure; returns only when a newer copy has taken over."""
        structlog.contextvars.bind_contextvars(source=self.adapter.name)
        backoff = self.pauses.backoff()
        while True:
            begun = time.monotonic()
            try:
                await self._follow()
            except FencedError as error:
                self._failed(SourceState.STOPPED, error, "another copy reads this source now; this one has stopped")
                return
            except Exception as error:  # noqa: BLE001 - whatever a source raises costs that source a pause, no more
                pause = self._pause_after(error, backoff, time.monotonic() - begun)
            self.health.restarts += 1
            await asyncio.sleep(pause)

    async def _follow(self) -> None:
        """Ask, commit, ask again, until the source fails."""
        log = await self._in_thread("opening", self.log.open_source, self.adapter.name)
        checkpoints = await self._in_thread("reading checkpoints", log.checkpoints)
        await self._learn_usual()
        async with _closing(self.adapter.captures(checkpoints)) as captures:
            self.health.asked()
            async for capture in captures:
                await self._commit(log, capture)
                self.health.asked()
        raise SourceError("the source ended by itself")

    async def _commit(self, log: SourceLog, capture: Capture) -> None:
        """Bring a capture into the log, however often it refuses."""
        packed = pack(capture.elements, self.adapter.name, now_iso)
        for warning in packed.warnings:
            _log.warning("source-warning", where=warning.where, message=warning.message)
        if not capture.elements and not capture.checkpoints:
            self.health.caught_up()
        if not (packed.records or packed.progress.counts or capture.checkpoints):
            return
        self.metrics.in_flight(self.adapter.name, packed.progress.counts.get("emitted", 0))
        await self._append(log, packed, capture)
        self.metrics.in_flight(self.adapter.name, 0)
        self.metrics.published(self.adapter.name, packed)
        self.health.committed(Counter(packed.progress.counts))
        self._watch_format(capture)
        if packed.records:
            self.on_commit()

    async def _learn_usual(self) -> None:
        """Take up what the log has counted of this source, once: a change of format shows against what was before."""
        if not self.drift.seeded:
            status = await self._in_thread("reading counts", self.log.status)
            counts = next((source.counts for source in status.sources if source.source == self.adapter.name), {})
            self.drift.seed(counts)

    def _watch_format(self, capture: Capture) -> None:
        for sign in self.drift.note(capture.elements):
            _log.warning("format-drift", sign=sign, reason=self.drift.signs[sign])
        self.health.drift = self.drift.signs

    async def _append(self, log: SourceLog, packed: Packed, capture: Capture) -> None:
        backoff = self.pauses.backoff()
        while True:
            begun = time.monotonic()
            try:
                await self._in_thread("appending", log.append, packed.records, capture.checkpoints, packed.progress)
            except FencedError:
                raise
            except LogError as error:
                self._failed(SourceState.BACKING_OFF, error, f"the log refuses: {error}", stage="sending")
                await asyncio.sleep(backoff.next())
            else:
                self.metrics.publish_seconds.observe(time.monotonic() - begun)
                return

    async def _in_thread(self, what: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking call of the log; when cancelled, it is finished first: half-done work is not left behind."""
        with self.whole.activity.doing(f"{what} {self.adapter.name}"):
            work = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                await asyncio.wait({work})
                if work.exception() is not None:
                    _log.warning("unfinished-at-stop", step=what, error=str(work.exception()))
                raise

    def _pause_after(self, error: Exception, backoff: Backoff, ran_seconds: float) -> float:
        if isinstance(error, PermanentSourceError):
            self._failed(SourceState.FAILED, error, str(error))
            return self.pauses.permanent
        if ran_seconds >= self.pauses.healthy:
            backoff.reset()
        expected = isinstance(error, SourceError | LogError)
        reason = str(error) if expected else f"unexpected {type(error).__name__}; see the daemon's log"
        self._failed(SourceState.BACKING_OFF, error, reason, traceback=not expected)
        asked = error.pause_seconds if isinstance(error, TransientSourceError) else 0.0
        return max(backoff.next(), asked)

    def _failed(
        self, state: SourceState, error: Exception, reason: str, *, stage: str = "receiving", traceback: bool = False
    ) -> None:
        self.health.turn(state, reason)
        self.metrics.failed(self.adapter.name, stage, type(error).__name__)
        _log.error(
            "source-failed",
            state=str(state),
            reason=reason,
            error_type=type(error).__name__,
            exc_info=error if traceback else None,
        )


class Capturing:
    """All sources of a daemon, each in its own task."""

    def __init__(
        self,
        log: EventLog,
        adapters: Sequence[Adapter],
        health: Health,
        metrics: Metrics,
        *,
        on_commit: Callable[[], None] = lambda: None,
        pauses: Pauses | None = None,
    ) -> None:
        _refuse_duplicates(adapter.name for adapter in adapters)
        health.sources.update({adapter.name: SourceHealth.of(adapter) for adapter in adapters})
        self._followers = [
            Follower(adapter, log, health.sources[adapter.name], health, metrics, on_commit, pauses or Pauses())
            for adapter in adapters
        ]
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to follow every source."""
        self._tasks = [asyncio.create_task(follower.run()) for follower in self._followers]

    async def stop(self) -> None:
        """Stop asking, and wait until every append under way is done."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _refuse_duplicates(names: Iterable[str]) -> None:
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise DuplicateSourceError(f"two sources are named {doubled[0]!r}; give each its own name")


@asynccontextmanager
async def _closing(captures: AsyncIterator[Capture]) -> AsyncIterator[AsyncIterator[Capture]]:
    """Close an iterator that can be closed, at the end and on failure."""
    try:
        yield captures
    finally:
        close = getattr(captures, "aclose", None)
        if close is not None:
            await close()
