"""Following many growing JSONL files as one live source: the asynchronous shell around `TailEngine`.

Searching everything by polling is the truth; a watch by the operating system makes it fast: a hint names a path, and
only that path is looked at. All file work happens in a worker thread, a bounded capture at a time.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from adapters.contract import Capture, Finding, Warned
from adapters.files.check import tail_findings
from adapters.files.discover import Discovery
from adapters.files.engine import Backfill, TailEngine, TailStats
from adapters.files.fingerprint import SlotRule, title_slot
from adapters.files.lines import Line, LongLine
from adapters.files.parsers import LineParser, ParserFactory
from adapters.files.watch import Watch

__all__ = ["Backfill", "JsonlTailAdapter", "Line", "LineParser", "LongLine", "ParserFactory", "TailStats"]

SWEEP_SECONDS: Final = 30.0
"""Shortest period of searches while a watch works."""

POLL_SECONDS: Final = 1.0
"""Period of searches without a watch, and of looks at files that changed lately with or without one."""

SWEEP_SHARE: Final = 100
"""A search is repeated only after this many times what it took: searching costs 1 % of a core at most."""

WATCHED_SHARE: Final = 400
"""The same while a watch works, which tells of nearly everything: a quarter of a percent of a core. Searching 10,000
files takes a tenth of a second and more, and is then repeated every minute or so."""

MISSED_SECONDS: Final = 300.0
"""How soon a search finds what the watch did not tell of, as long as that costs no more than `SWEEP_SHARE` allows."""

URGENT_SHARE: Final = 10
"""The same for a search that a hint asked for."""

T = TypeVar("T")


class JsonlTailAdapter:
    """Follows the JSONL files below `roots` (folders or files, existing or not yet); an `adapters.contract.Adapter`.

    `patterns` say which names count in folders. `backfill` says what of the present content is read (see
    `engine.Backfill`). `slot` says which bytes at a file's start are overwritten in place. Periods are in seconds.
    """

    def __init__(
        self,
        name: str,
        roots: Iterable[Path | str],
        parser_factory: ParserFactory,
        *,
        backfill: Backfill = "start",
        patterns: Sequence[str] = ("*.jsonl",),
        slot: SlotRule = title_slot,
        watch: bool = True,
        sweep_seconds: float = SWEEP_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.name = name
        self.roots = [Path(root) for root in roots]
        self._discovery = Discovery(self.roots, patterns)
        self._parser_factory = parser_factory
        self._backfill: Backfill = backfill
        self._slot = slot
        self._watch = watch
        self._sweep_seconds = sweep_seconds
        self._poll_seconds = poll_seconds
        self._engine: TailEngine | None = None

    def stats(self) -> TailStats:
        """Figures for metrics; zeros while the source is not being followed."""
        return self._engine.stats if self._engine else TailStats()

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """See `Adapter`. Never raises for what is on the disk: that is told as `Warned`, and tried again."""
        engine = self._engine = await _in_thread(lambda: self._new_engine(checkpoints))
        watch = Watch(self._discovery.wants)
        rounds = _Rounds(engine, watch, self._watched_roots, self._sweep_seconds, self._poll_seconds)
        told = False  # that nothing waits, since something last did
        try:
            while True:
                await rounds.due()
                if problem := rounds.take_problem():
                    yield Capture([Warned(self.name, problem)])
                elif engine.busy:
                    capture = await _in_thread(engine.read)
                    if capture is not None:
                        told = False
                        yield capture
                elif told:
                    await rounds.rest()
                else:
                    told = True
                    yield Capture(())
        finally:
            self._engine = None
            await watch.close()
            engine.close()

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        return await _in_thread(lambda: tail_findings(self._discovery))

    def _new_engine(self, checkpoints: Mapping[str, bytes]) -> TailEngine:
        return TailEngine(self._discovery, self._parser_factory, checkpoints, backfill=self._backfill, slot=self._slot)

    def _watched_roots(self) -> list[str]:
        return list(self._discovery.existing()) if self._watch else []


class _Rounds:
    """Decides when to search and when to look."""

    def __init__(
        self,
        engine: TailEngine,
        watch: Watch,
        roots: Callable[[], list[str]],
        sweep_seconds: float,
        poll_seconds: float,
    ) -> None:
        self._engine = engine
        self._watch = watch
        self._roots = roots
        self._sweep_seconds = sweep_seconds
        self._poll_seconds = poll_seconds
        self._told: str | None = None
        self._next_sweep = self._next_glance = self._last_sweep = 0.0

    async def due(self) -> None:
        """Do the searching and looking that is due."""
        now = time.monotonic()
        paths, overflow = self._watch.take()
        search = overflow
        if now >= self._next_sweep:
            await self._sweep()
            return
        if paths:
            search = await _in_thread(lambda: self._engine.look(paths)) or search
        if now >= self._next_glance:
            if self._engine.hot:
                search = await _in_thread(self._engine.glance) or search
            self._next_glance = time.monotonic() + self._poll_seconds
        if search:
            earliest = self._last_sweep + URGENT_SHARE * self._engine.stats.sweep_seconds
            self._next_sweep = min(self._next_sweep, max(earliest, now))

    async def rest(self) -> None:
        """Wait for a hint or for what is due next."""
        await self._watch.wait(min(self._next_sweep, self._next_glance) - time.monotonic())

    def take_problem(self) -> str | None:
        """What is wrong with the watch, once."""
        problem = self._watch.problem
        if problem == self._told:
            return None
        self._told = problem
        return problem

    async def _sweep(self) -> None:
        armed = await self._watch.arm(self._roots())
        await _in_thread(self._engine.sweep)
        self._last_sweep = time.monotonic()
        # A fresh watch may have missed what happened while it was set up.
        settled = self._watch.working and not armed
        took = self._engine.stats.sweep_seconds
        period = max(self._sweep_seconds, min(WATCHED_SHARE * took, MISSED_SECONDS)) if settled else self._poll_seconds
        self._next_sweep = self._last_sweep + max(period, SWEEP_SHARE * took)
        self._next_glance = self._last_sweep + self._poll_seconds


async def _in_thread(work: Callable[[], T]) -> T:
    """Run file work in a thread; when cancelled, wait for it, for the engine takes one call at a time."""
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
