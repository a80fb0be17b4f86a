"""Hints from the operating system that named paths have changed. Only hints: searching by polling is the truth.

Network disks have no such hints, watches run out, and a burst may drop some. So a watch that cannot be had is a warning
and a shorter polling period, nothing more.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from watchfiles import Change, awatch

STEP_MS: Final = 100
"""How long a burst of changes must pause to be reported; the native watcher wakes as often, all day long."""

DEBOUNCE_MS: Final = 400
"""How long a burst may go on before it is reported: bounds the delay under a writer that never pauses."""

MAX_NAMED: Final = 4096
"""Changed paths that are kept by name; beyond, searching everything is cheaper."""


class Watch:
    """A watch on the roots of a source, armed again whenever the set of existing roots changes."""

    def __init__(self, wants: Callable[[str], bool]) -> None:
        self.problem: str | None = None
        """Why there is no watch, told to a person; None while it works or was not asked for."""
        self._wants = wants
        self._roots: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._paths: set[str] = set()
        self._overflow = False
        self._news = asyncio.Event()

    @property
    def working(self) -> bool:
        """Whether hints may be expected."""
        return self._task is not None and not self._task.done()

    async def arm(self, roots: Sequence[str]) -> bool:
        """Watch these roots; returns whether anything had to be changed for it."""
        if tuple(roots) == self._roots and (self.working or self.problem or not roots):
            return False
        await self.close()
        self._roots, self.problem = tuple(roots), None
        if roots:
            self._task = asyncio.create_task(self._follow(self._roots))
        return True

    def take(self) -> tuple[set[str], bool]:
        """The changed paths since the last call, and whether there were too many to name."""
        paths, overflow = self._paths, self._overflow
        self._paths, self._overflow = set(), False
        self._news.clear()
        return paths, overflow

    async def wait(self, seconds: float) -> None:
        """Wait for news, or so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), max(seconds, 0))

    async def close(self) -> None:
        """End the watch."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _follow(self, roots: Sequence[str]) -> None:
        try:
            changes = awatch(
                *roots,
                watch_filter=self._concerns,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                ignore_permission_denied=True,
            )
            async for batch in changes:
                self._note({path for _, path in batch})
        except Exception as error:  # noqa: BLE001 - the native watcher raises what it likes; told, and polling goes on
            self.problem = f"changes are found by polling only: {type(error).__name__}: {error}"
            self._news.set()

    def _concerns(self, change: Change, path: str) -> bool:
        # What was added may be a folder, whose files came before the watch on it.
        return change is Change.added or self._wants(path)

    def _note(self, paths: set[str]) -> None:
        self._paths |= paths
        if len(self._paths) > MAX_NAMED:
            self._paths.clear()
            self._overflow = True
        self._news.set()
