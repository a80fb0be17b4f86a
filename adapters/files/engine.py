"""The tailer without its clock: searches, looks, and reads captures; synchronous, one call at a time.

One cursor a file. `read` moves it and returns the capture that says so; calling anything again says that this capture
is committed. When it is not, the engine is thrown away and a new one loads what is: nothing is lost, since nothing else
holds a cursor (B11, B21).

Order: what is there at the first search is read one file after the other in reading order, so that parents come before
their forks, with a bounded turn for a huge one; what grows or appears later is read in between, round robin.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from adapters.contract import Capture, Element, Warned
from adapters.files.checkpoint import SOURCE_PART, SourceState, encode_state
from adapters.files.discover import Discovery, reading_order
from adapters.files.fingerprint import SlotRule, title_slot
from adapters.files.handles import Handles
from adapters.files.known import KnownFile, KnownFiles
from adapters.files.parsers import LiveParsers, ParserFactory
from adapters.files.reading import Budget, Reading

Backfill = Literal["start", "now"] | datetime
"""Of content that is there at first sight read all, nothing, or files changed since a time.

`now` means the first sight of the source: a file that appears later is read whole. A time passes over, whole, each file
that is first seen with an older modification time. What is passed over counts as read.
"""

BACKFILL_TURN_BYTES: Final = 64 * 1024 * 1024
"""How long the others wait for one huge old file: about a second. Forks seldom copy more of their parent."""

LIVE_BYTES: Final = 4 * 1024 * 1024
"""What a file may lack to be caught up with in a few captures."""

HOT_SECONDS: Final = 600
"""How long after its last change a file is looked at between searches."""

MAX_HOT: Final = 1000
"""Files that are looked at between searches: 3 ms."""


@dataclass(frozen=True, slots=True)
class TailStats:
    """Figures of one source; times are Unix seconds, 0 before the first search."""

    files_known: int = 0
    open_files: int = 0
    parsers: int = 0
    pending_files: int = 0
    pending_bytes: int = 0
    bytes_read: int = 0
    last_sweep: float = 0.0
    sweep_seconds: float = 0.0


class TailEngine:
    """Follows the files that a `Discovery` finds, from committed checkpoints."""

    def __init__(
        self,
        discovery: Discovery,
        parser_factory: ParserFactory,
        checkpoints: Mapping[str, bytes],
        *,
        backfill: Backfill = "start",
        slot: SlotRule = title_slot,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._discovery = discovery
        self._since = backfill.timestamp() if isinstance(backfill, datetime) else None
        self._skip_all = backfill == "now" and SOURCE_PART not in checkpoints
        self._clock = clock
        self._known = KnownFiles(slot)
        self._reading = Reading(self._known, LiveParsers(parser_factory), slot, Handles())
        self._warnings: deque[Element] = deque(self._known.load(checkpoints))
        self._problems: dict[str, str] = {}
        self._backfill: deque[KnownFile] = deque()
        self._live: deque[KnownFile] = deque()
        self._live_next = True
        self.hot: dict[str, float] = {}  # what `glance` looks at, and when it changed
        self._first_sight = None if SOURCE_PART in checkpoints else int(clock())
        self._last_sweep = self._sweep_seconds = 0.0

    @property
    def busy(self) -> bool:
        """Whether `read` has something to do."""
        told = self._first_sight is None
        return bool(self._live or self._backfill or self._warnings or self._known.moved) or not told

    @property
    def stats(self) -> TailStats:
        """Present figures."""
        waiting = {*self._live, *(file for file in self._backfill.copy() if not file.live)}
        return TailStats(
            files_known=len(self._known.by_path),
            open_files=len(self._reading.handles),
            parsers=len(self._reading.parsers),
            pending_files=len(waiting),
            pending_bytes=sum(file.pending for file in waiting),
            bytes_read=self._reading.bytes_read,
            last_sweep=self._last_sweep,
            sweep_seconds=self._sweep_seconds,
        )

    def sweep(self) -> None:
        """Search all roots, and line up every file that is new or may have changed."""
        begun, first = time.perf_counter(), not self._last_sweep
        scan = self._discovery.scan()
        for path in [path for path in self._problems if path not in scan.problems and path not in self._known.by_path]:
            del self._problems[path]
        for path, message in scan.problems.items():
            self._problem(path, message)
        by_path, new, changed = self._known.by_path, [], []
        for path, status in scan.files.items():
            file = by_path.get(path)
            if file is None:
                new.append(path)
            elif file.wants_look(status):
                changed.append(file)
        # New names first: one of them may be a known file renamed, whose old name is another file now.
        for path in sorted(new, key=reading_order):
            self._admit(path, scan.files[path], first=first)
        for file in sorted(changed, key=lambda file: reading_order(file.path)):
            self._line_up(file, scan.files[file.path], first=first)
        self._known.reconcile(scan, self._clock())
        self._skip_all = False
        self._last_sweep, self._sweep_seconds = self._clock(), time.perf_counter() - begun

    def look(self, paths: Iterable[str]) -> bool:
        """Look at named paths only; returns whether a search is advisable: a file was moved, or a folder came."""
        search = False
        for path in sorted(paths, key=reading_order):
            try:
                status = os.stat(path)  # noqa: PTH116 - a plain string all the way
            except OSError:
                search = search or path in self._known.by_path
                self.hot.pop(path, None)
                continue
            if not self._discovery.wants(path):
                search = search or os.path.isdir(path)  # noqa: PTH112
                continue
            file = self._known.by_path.get(path)
            if file is None:
                self._admit(path, status, first=False)
            elif file.state.seen.inode not in (0, status.st_ino):
                search = True
            elif file.wants_look(status):
                self._line_up(file, status, first=False)
        return search

    def glance(self) -> bool:
        """Look at the files that changed lately; returns as `look` does."""
        oldest = self._clock() - HOT_SECONDS
        self.hot = {path: changed for path, changed in self.hot.items() if changed >= oldest}
        return self.look(self.hot)

    def read(self) -> Capture | None:
        """Read the next capture, bounded in bytes, elements and time; None when there was nothing to tell."""
        budget = Budget()
        while self._warnings and budget.left:
            budget.elements.append(self._warnings.popleft())
        while budget.left and (self._live or self._backfill):
            self._turn(budget)
        checkpoints: dict[str, bytes | None] = {}
        if self._first_sight is not None and not self._skipping():
            checkpoints[SOURCE_PART] = encode_state(SourceState(self._first_sight))
            self._first_sight = None
        checkpoints |= self._known.take_moved()
        return Capture(budget.elements, checkpoints) if budget.elements or checkpoints else None

    def close(self) -> None:
        """Close what is open; the engine is of no more use."""
        self._reading.handles.close_all()

    def _skipping(self) -> bool:
        return self._skip_all or any(file.skip for file in self._backfill)

    def _admit(self, path: str, status: os.stat_result, *, first: bool) -> None:
        file, new = self._known.find(path, status)
        if new:
            file.skip = self._skip_all or (self._since is not None and status.st_mtime < self._since)
        for former in self._known.renamed:
            self._reading.drop(former)
            self.hot.pop(former, None)
        self._known.renamed.clear()
        if file.wants_look(status):
            self._line_up(file, status, first=first)

    def _line_up(self, file: KnownFile, status: os.stat_result, *, first: bool) -> None:
        if not first:
            self._heat(file.path)
        file.pending = max(status.st_size - file.state.cursor.offset, 0)
        if not file.queued:
            file.queued, file.live = True, not first
            (self._backfill if first else self._live).append(file)
        elif not first and not file.live and file.state.cursor.offset and file.pending <= LIVE_BYTES:
            # Known from before, nearly at its end, and being written: it need not wait for the old ones.
            file.live = True
            self._live.append(file)

    def _heat(self, path: str) -> None:
        self.hot.pop(path, None)
        self.hot[path] = self._clock()
        if len(self.hot) > MAX_HOT:
            del self.hot[next(iter(self.hot))]

    def _turn(self, budget: Budget) -> None:
        """Let the next file have its turn, the two queues in alternation."""
        live = bool(self._live) and (self._live_next or not self._backfill)
        queue = self._live if live else self._backfill
        self._live_next = not live
        file = queue.popleft()
        if file.live and not live:
            return
        file.queued = more = self._attempt(file, budget)
        if not more:
            return
        if live or file.turn >= BACKFILL_TURN_BYTES:
            file.turn = 0
            queue.append(file)
        else:
            queue.appendleft(file)

    def _attempt(self, file: KnownFile, budget: Budget) -> bool:
        try:
            more = self._reading.turn(file, budget)
        except OSError as error:
            self._failed(file, error)
            return False
        self._problems.pop(file.path, None)
        return more

    def _failed(self, file: KnownFile, error: OSError) -> None:
        """A file cannot be read now; it stays as it is, and every search tries again."""
        self._reading.drop(file.path)
        if not isinstance(error, FileNotFoundError):
            self._problem(file.path, f"cannot be read: {error.strerror or error}; it is tried again")
        elif file.pending:
            self._warnings.append(Warned(file.path, f"removed with {file.pending} bytes unread"))
        file.pending = file.turn = 0

    def _problem(self, path: str, message: str) -> None:
        """Tell of a problem once, until it is gone."""
        if self._problems.get(path) != message:
            self._problems[path] = message
            self._warnings.append(Warned(path, message))
