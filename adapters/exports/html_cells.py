"""The cells of an activity page, one after another, in bounded memory.

A page is one line of many megabytes; its cells are cut at the class that begins each. Words cannot hold that mark:
inside them `<` is written `&lt;`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

MAX_CELL_BYTES: Final = 4 * 1024 * 1024
"""The longest answers known have some 100 KB; a larger cell is passed over."""

_CHUNK_BYTES: Final = 1024 * 1024
_SAMPLE_BYTES: Final = 64 * 1024
_MARK: Final = re.compile(rb"<div class=[\"']?outer-cell\b")
_MARK_BYTES: Final = 32
"""Longer than any spelling of the mark, so that one across two chunks is seen."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The bytes of one cell, and where they begin in the stream."""

    start: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class LongCell:
    """A cell above `MAX_CELL_BYTES`, passed over."""

    start: int
    size: int
    sample: bytes


def cells(stream: BinaryIO) -> Iterator[Cell | LongCell]:
    """Yield the cells of a seekable stream, which may be moved between two of them."""
    begin: int | None = None
    for place in _marks(stream):
        if begin is not None:
            yield _cell(stream, begin, place)
        begin = place
    if begin is not None:
        yield _cell(stream, begin, stream.seek(0, 2))


def _cell(stream: BinaryIO, start: int, end: int) -> Cell | LongCell:
    stream.seek(start)
    if end - start > MAX_CELL_BYTES:
        return LongCell(start, end - start, stream.read(_SAMPLE_BYTES))
    return Cell(start, stream.read(end - start))


def _marks(stream: BinaryIO) -> Iterator[int]:
    position = 0  # of the chunk
    last = -1
    while True:
        stream.seek(position)
        chunk = stream.read(_CHUNK_BYTES)
        for mark in _MARK.finditer(chunk):
            if position + mark.start() > last:
                last = position + mark.start()
                yield last
        if len(chunk) < _CHUNK_BYTES:
            return
        position += len(chunk) - _MARK_BYTES
