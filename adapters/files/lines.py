"""Lines of a JSONL file: split at byte 0x0A only, in bounded memory, whatever the bytes are.

Not at U+2028, U+2029 or U+0085, and not at a lone CR, as text-mode line splitting would. Sources: JSON Lines; B18, B19,
B20, E17, E19 of the session formats.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct

from adapters.contract import MAX_SAMPLE_BYTES

MAX_LINE_BYTES: Final = 32 * 1024 * 1024
"""Longest line that is read whole, newline included: room for several base64 images, and what one line may cost."""

CHUNK_BYTES: Final = 1024 * 1024
"""Size of a read: from 1 MiB on a larger one is no faster."""

_BOM: Final = b"\xef\xbb\xbf"
_CR: Final = 0x0D


class Line(Struct, frozen=True, gc=False):
    """A complete line: `raw` without its line end; it lies from byte `start` up to `end`, after the newline."""

    start: int
    end: int
    raw: bytes


class LongLine(Struct, frozen=True, gc=False):
    """A complete line above `MAX_LINE_BYTES` that was passed over; `sample` is its beginning, `size` its bytes."""

    start: int
    end: int
    size: int
    sample: bytes


def split_lines(block: bytes, base: int) -> Iterator[Line]:
    """Split whole lines that stand at `base` in their file; the last one may lack its newline.

    Blank lines are left out, a byte order mark at the start of the file is removed, and so is one CR before a newline.
    NUL bytes before data are passed over: a crash pads a file with them, and the next append follows. A line of nothing
    but NUL bytes is given as it is, so that its reader counts it as unreadable.
    """
    if base == 0 and block.startswith(_BOM):
        base, block = len(_BOM), block[len(_BOM) :]
    start = base
    *whole, unfinished = block.split(b"\n")
    for raw in whole:
        end = start + len(raw) + 1
        if raw and not raw.isspace():
            yield Line(start, end, raw) if raw[0] and raw[-1] != _CR else _trimmed(start, end, raw)
        start = end
    if unfinished and not unfinished.isspace():
        yield _trimmed(start, start + len(unfinished), unfinished)


def _trimmed(start: int, end: int, raw: bytes) -> Line:
    text = raw.removesuffix(b"\r")
    data = text.lstrip(b"\0")
    if not data or data.isspace():
        return Line(start, end, text)
    return Line(start + len(text) - len(data), end, data)


class _Held:
    """The beginning of a line whose newline has not been seen; above the limit only a sample and a size."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []
        self._sample = b""

    def add(self, data: bytes) -> None:
        self.size += len(data)
        if self._sample:
            return
        self._parts.append(data)
        if self.size > MAX_LINE_BYTES:
            self._sample = b"".join(self._parts)[:MAX_SAMPLE_BYTES]
            self._parts.clear()

    def lines(self, start: int) -> Iterator[Line | LongLine]:
        if self._sample:
            yield LongLine(start, start + self.size, self.size, self._sample)
        else:
            yield from split_lines(b"".join(self._parts), start)


def read_lines(stream: BinaryIO, start: int, limit_bytes: int | None, *, final: bool) -> Iterator[Line | LongLine]:
    """Yield complete lines from byte `start`, until the end or about `limit_bytes` further on (one line at least).

    A stream that cannot seek must stand at `start`. With `final` (a finished file) the last line counts without its
    newline too; else it is left for later. Holds at most `MAX_LINE_BYTES` and a chunk.
    """
    if stream.seekable():
        stream.seek(start)
    held, position = _Held(), start
    while limit_bytes is None or position - start < limit_bytes:
        chunk = stream.read(CHUNK_BYTES)
        if not chunk:
            if final and held.size:
                yield from held.lines(position)
            return
        first = chunk.find(b"\n") + 1 if held.size else 0
        cut = chunk.rfind(b"\n") + 1
        if first:
            held.add(chunk[:first])
            yield from held.lines(position)
            position, held = position + held.size, _Held()
        if cut > first:
            yield from split_lines(chunk[first:cut], position)
            position += cut - first
        if cut < len(chunk):
            held.add(chunk[cut:])
