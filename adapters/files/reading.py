"""One file's turn: is it still the file we know, then a bounded number of its new lines through its parser.

A look compares head and marker always (see `fingerprint`). It compares the checksum of everything consumed when the
file changed without growing (a rewrite of the same size), when it has another name, and, because that is nothing to
pay, at every look while less than `ALWAYS_CHECKED` is consumed. What this leaves: a change in the middle of a larger
file together with an append, in the same inode; it shows at the next change without growth or the next rebuild of the
parser, and is read then.
"""

import os
import time
from dataclasses import dataclass, field
from typing import Final

from adapters.contract import Element, Warned
from adapters.files.blocks import BLOCK_BYTES, BlockReader, ContentChangedError, Unfinished
from adapters.files.checkpoint import Seen
from adapters.files.fingerprint import (
    CHECK_CHUNK,
    SlotRule,
    Start,
    Verdict,
    checksum,
    end_of_lines,
    judge,
    read_at,
)
from adapters.files.handles import Handles
from adapters.files.known import KnownFile, KnownFiles
from adapters.files.parsers import LiveParser, LiveParsers

MAX_ELEMENTS: Final = 2000
"""Elements of one capture: a transaction of some milliseconds."""

MIN_BLOCK_BYTES: Final = 64 * 1024
"""A smaller read costs as much as this one."""

MAX_QUIET_BYTES: Final = 32 * 1024 * 1024
"""Bytes that one capture may cost without giving an element (rebuilding, comparing, long lines): half a second."""

ALWAYS_CHECKED: Final = 1024 * 1024
"""Consumed bytes that are compared at every look: 0.4 ms."""

TURN_COST: Final = 4096
"""What a turn costs besides its bytes, in quiet bytes: opening and comparing a file that then has nothing new."""

RACY_NS: Final = 20_000_000
"""A clock tick of the file system, with a margin: two changes within it may show the same time."""


@dataclass(slots=True)
class Budget:
    """What one capture may still hold and cost, and what it holds."""

    bytes: int = BLOCK_BYTES
    quiet: int = MAX_QUIET_BYTES
    elements: list[Element] = field(default_factory=list)

    @property
    def left(self) -> bool:
        """Whether there is room for more."""
        return self.bytes > 0 and self.quiet > 0 and len(self.elements) < MAX_ELEMENTS


class Reading:
    """Takes turns at files, with their parsers and open descriptors."""

    def __init__(self, known: KnownFiles, parsers: LiveParsers, rule: SlotRule, handles: Handles) -> None:
        self.parsers = parsers
        self.handles = handles
        self.bytes_read = 0
        self._known = known
        self._rule = rule

    def turn(self, file: KnownFile, budget: Budget) -> bool:
        """Read on in a file; returns whether there is more to do now. Raises OSError when it cannot be read."""
        budget.quiet -= TURN_COST
        descriptor = self.handles.get(file.path)
        status = os.fstat(descriptor)
        try:
            start = self._look(file, descriptor, status, budget)
            if file.skip:
                self._pass_over(file, descriptor, status, start)
                more = False
            else:
                more = not self._audited(file, descriptor, budget) or self._read(file, descriptor, status, budget)
        except ContentChangedError:
            # Its parser may have been fed what is there no more; the next turn judges the content anew.
            self.parsers.drop(file.path)
            more = True
        if not more:
            more = self._rest(file, status)
        file.pending = max(status.st_size - file.state.cursor.offset, 0) if more else 0
        return more

    def drop(self, path: str) -> None:
        """Let go of what is held for a path."""
        self.parsers.drop(path)
        self.handles.close(path)

    def _look(self, file: KnownFile, descriptor: int, status: os.stat_result, budget: Budget) -> Start:
        start = Start.read(descriptor, self._rule)
        state, now = file.state, Seen.of(status)
        verdict = judge(descriptor, status.st_size, (state.head, state.slot, state.cursor), start)
        if verdict is not Verdict.SAME:
            self._restart(file, str(verdict), budget)
        elif file.audit is None and state.cursor.offset and state.cursor.crc is not None:
            changed = now != state.seen or file.racy
            resized = now.inode == state.seen.inode and now.size > state.seen.size
            small = state.cursor.offset <= ALWAYS_CHECKED
            if file.suspect or (changed and (small or not (resized or file.racy))):
                file.audit = (state.slot, 0, now)
        file.suspect = False
        file.state.head, file.state.slot = start.head, start.slot
        if file.audit is None:
            self._saw(file, now)
        return start

    def _saw(self, file: KnownFile, now: Seen) -> None:
        file.racy = time.time_ns() - max(now.mtime_ns, now.ctime_ns) < RACY_NS
        file.state.seen = now if not file.racy else Seen(now.inode, now.size, 0, now.ctime_ns)

    def _audited(self, file: KnownFile, descriptor: int, budget: Budget) -> bool:
        """Compare the consumed bytes with their checksum, by stretches; returns whether they are known to fit."""
        if file.audit is None:
            return True
        position, crc, seen = file.audit
        cursor = file.state.cursor
        while position < cursor.offset:
            if budget.quiet <= 0:
                file.audit = (position, crc, seen)
                return False
            data = read_at(descriptor, position, min(CHECK_CHUNK, cursor.offset - position))
            if not data:
                break
            position, crc = position + len(data), checksum(data, crc)
            budget.quiet -= len(data)
        file.audit = None
        if crc != cursor.crc:
            self._restart(file, str(Verdict.REWRITTEN), budget)
            return False
        self._saw(file, seen)
        self._known.note(file)
        return True

    def _restart(self, file: KnownFile, why: str, budget: Budget) -> None:
        offset = file.state.cursor.offset
        budget.elements.append(Warned(file.path, f"{why} after {offset} bytes were read; read again from its start"))
        self.parsers.drop(file.path)
        file.restart()
        self._known.note(file)

    def _pass_over(self, file: KnownFile, descriptor: int, status: os.stat_result, start: Start) -> None:
        file.state.cursor = end_of_lines(descriptor, status.st_size, start.slot)
        file.skip = False
        self._known.note(file)

    def _read(self, file: KnownFile, descriptor: int, status: os.stat_result, budget: Budget) -> bool:
        reader = BlockReader(descriptor, file.state.slot)
        live = self._parser(file, status, reader, budget)
        if live is None:
            return False
        if live.cursor.offset != file.state.cursor.offset:
            return True
        more, begun = True, live.cursor
        try:
            while more and budget.left:
                before = live.cursor.offset
                more = self._step(file, live, reader, budget)
                budget.bytes -= live.cursor.offset - before
        finally:
            # What was fed is in the capture, even when the next piece shows that the content has changed.
            if live.cursor != begun:
                self._advance(file, live, live.cursor.offset - begun.offset)
        return more and live.cursor.offset < status.st_size

    def _advance(self, file: KnownFile, live: LiveParser, size: int) -> None:
        file.state.cursor = live.cursor
        file.turn += size
        self.bytes_read += size
        self._known.note(file)

    def _parser(
        self, file: KnownFile, status: os.stat_result, reader: BlockReader, budget: Budget
    ) -> LiveParser | None:
        """The file's parser, at its cursor unless the budget ended or the content was other; None: nothing to read."""
        at = file.state.cursor
        live = self.parsers.kept(file.path)
        if live is None or live.cursor.offset != at.offset:
            if reader.next(at, None, BLOCK_BYTES, 0) is None:
                return None
            live = self.parsers.get(file.path, status)
            self._rebuild(file, live, reader, budget)
        return live

    def _step(self, file: KnownFile, live: LiveParser, reader: BlockReader, budget: Budget) -> bool:
        """Feed the next piece to the parser; returns whether there may be more."""
        piece = reader.next(live.cursor, live.unfinished, max(budget.bytes, MIN_BLOCK_BYTES), budget.quiet)
        if piece is None or isinstance(piece, Unfinished):
            return self._wait(live, piece, budget)
        live.unfinished = None
        for line in piece.lines():
            budget.elements.extend(live.feed(line, file.path))
            if len(budget.elements) >= MAX_ELEMENTS:
                live.cursor = piece.cursor(line.end)
                return True
        live.cursor = piece.cursor()
        return True

    def _wait(self, live: LiveParser, line: Unfinished | None, budget: Budget) -> bool:
        """Keep how far the end of a line was searched; returns whether the search stopped for want of budget."""
        before = live.unfinished.searched if live.unfinished else live.cursor.offset
        live.unfinished = line
        if line is None:
            return False
        budget.quiet -= max(line.searched - before, 0)
        return budget.quiet <= 0

    def _rebuild(self, file: KnownFile, live: LiveParser, reader: BlockReader, budget: Budget) -> None:
        """Feed the lines before the cursor and throw away what they give, as far as the budget goes.

        What is fed has to be what was consumed: else the file is read again from its start.
        """
        target, more = file.state.cursor, True
        while more and live.cursor.offset < target.offset:
            if budget.quiet <= 0:
                return
            more = self._refeed(file, live, reader, budget)
        if live.cursor.offset != target.offset or target.crc not in (None, live.cursor.crc):
            self._restart(file, str(Verdict.REWRITTEN), budget)
            raise ContentChangedError
        file.state.cursor = live.cursor

    def _refeed(self, file: KnownFile, live: LiveParser, reader: BlockReader, budget: Budget) -> bool:
        want = min(BLOCK_BYTES, file.state.cursor.offset - live.cursor.offset)
        piece = reader.next(live.cursor, live.unfinished, want, budget.quiet)
        if piece is None or isinstance(piece, Unfinished):
            return self._wait(live, piece, budget)
        live.unfinished = None
        for line in piece.lines():
            live.feed(line, file.path)
        budget.quiet -= piece.cursor().offset - live.cursor.offset
        live.cursor = piece.cursor()
        return True

    def _rest(self, file: KnownFile, status: os.stat_result) -> bool:
        """Close a file that was read to its end; returns whether its name leads to another file by now."""
        file.drained = True
        file.turn = 0
        self.handles.close(file.path)
        self.parsers.trim(file.path)
        try:
            return not os.path.samestat(os.stat(file.path), status)  # noqa: PTH116 - a plain string all the way
        except OSError:
            return False  # gone, or moved: the next search says which
