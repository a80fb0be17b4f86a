"""The next whole lines of an open, growing file at a cursor, checked to follow what was consumed before.

A block is read together with the bytes before it, in one call, so that a rewrite between check and read shows. A line
that does not end yet is searched on from where the search stopped, never from its start, and never held beyond a
sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from adapters.contract import MAX_SAMPLE_BYTES
from adapters.files.fingerprint import MARKER_BYTES, Cursor, checksum, read_at
from adapters.files.lines import CHUNK_BYTES, MAX_LINE_BYTES, Line, LongLine, split_lines

BLOCK_BYTES: Final = CHUNK_BYTES


class ContentChangedError(Exception):
    """The bytes before the cursor are no longer what was consumed: the file must be looked at anew."""


class Piece(Protocol):
    """Consecutive whole lines."""

    def lines(self) -> Iterator[Line | LongLine]:
        """The lines in order."""
        ...

    def cursor(self, end: int | None = None) -> Cursor:
        """The cursor after the line that ends at `end`, or after all of them, blank ones included."""
        ...


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines in memory: `data` at `start`, `lead` the marker's bytes before it."""

    start: Cursor
    lead: bytes
    data: bytes
    slot: int

    def lines(self) -> Iterator[Line]:
        """See `Piece`."""
        return split_lines(self.data, self.start.offset)

    def cursor(self, end: int | None = None) -> Cursor:
        """See `Piece`."""
        data = self.data if end is None else self.data[: end - self.start.offset]
        return self.start.advanced(self.lead, data, self.slot)


@dataclass(frozen=True, slots=True)
class Passed:
    """One line that was too long to be read."""

    line: LongLine
    after: Cursor

    def lines(self) -> Iterator[LongLine]:
        """See `Piece`."""
        return iter((self.line,))

    def cursor(self, end: int | None = None) -> Cursor:  # noqa: ARG002 - there is one place to stop
        """See `Piece`."""
        return self.after


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A line longer than a block that does not end before `searched`.

    `crc` goes on from the cursor's up to there, `tail` are the last bytes before it, `sample` the line's first.
    """

    searched: int
    crc: int | None
    tail: bytes
    sample: bytes


class BlockReader:
    """Reads the pieces of one open file. Raises OSError and `ContentChangedError`."""

    def __init__(self, descriptor: int, slot: int) -> None:
        self._descriptor = descriptor
        self._slot = slot

    def next(self, at: Cursor, unfinished: Unfinished | None, want: int, search: int) -> Piece | Unfinished | None:
        """Read whole lines of about `want` bytes after the cursor; None when there is none yet.

        Searches at most about `search` bytes for the end of a long line, and says how far it came.
        """
        if unfinished is not None and self._goes_on(unfinished):
            return self._search(at, unfinished, search)
        lead, data = self._read(at, want)
        cut = data.rfind(b"\n") + 1
        if cut:
            return Block(at, lead, data[:cut], self._slot)
        if len(data) < want:
            return None
        begun = Unfinished(at.offset, at.crc, lead, b"")
        return self._search(at, self._further(begun, data), search)

    def _read(self, at: Cursor, size: int) -> tuple[bytes, bytes]:
        data = read_at(self._descriptor, at.offset - at.marker_length, at.marker_length + size)
        lead = data[: at.marker_length]
        if not at.follows(lead):
            raise ContentChangedError
        return lead, data[at.marker_length :]

    def _goes_on(self, unfinished: Unfinished) -> bool:
        tail = unfinished.tail
        return read_at(self._descriptor, unfinished.searched - len(tail), len(tail)) == tail

    def _further(self, line: Unfinished, data: bytes) -> Unfinished:
        crc = None if line.crc is None else checksum(data[max(self._slot - line.searched, 0) :], line.crc)
        sample = line.sample if len(line.sample) == MAX_SAMPLE_BYTES else (line.sample + data)[:MAX_SAMPLE_BYTES]
        return Unfinished(line.searched + len(data), crc, (line.tail + data[-MARKER_BYTES:])[-MARKER_BYTES:], sample)

    def _search(self, at: Cursor, line: Unfinished, budget: int) -> Piece | Unfinished:
        limit = line.searched + budget
        while line.searched < limit:
            data = read_at(self._descriptor, line.searched, CHUNK_BYTES)
            cut = data.find(b"\n") + 1
            if cut:
                return self._ended(at, self._further(line, data[:cut]))
            if data:
                line = self._further(line, data)
            if len(data) < CHUNK_BYTES:
                break
        return line

    def _ended(self, at: Cursor, line: Unfinished) -> Piece:
        size = line.searched - at.offset
        if size > MAX_LINE_BYTES:
            after = Cursor.at(line.searched, line.crc, line.tail, self._slot)
            return Passed(LongLine(at.offset, line.searched, size, line.sample), after)
        lead, data = self._read(at, size)
        if not data.endswith(b"\n"):
            raise ContentChangedError
        return Block(at, lead, data, self._slot)
