"""Records of an export one after another, decoded, with one `Rejected` for each that cannot be.

In the order of the file (`records`), oldest first (`records_by_time`), or the one object that a file is
(`elements_of_whole`).
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.contract import HEAD_BYTES, MAX_SAMPLE_BYTES, Element, PermanentSourceError, Rejected, Warned
from adapters.exports.documents import pieces, unread
from adapters.exports.fields import Object
from adapters.exports.order import oldest_first
from adapters.exports.shape import outline
from adapters.exports.tree import time_rank
from adapters.files.json_line import BadLine, LineDecoder
from adapters.files.json_stream import Slice
from adapters.files.json_values import MAX_ELEMENT_BYTES

MAX_SORTED: Final = 2_000_000
"""Records put in order by time, about 250 bytes of memory each while sorting; no known export has a tenth of them."""

_decoder: Final = LineDecoder[Object](dict[str, Any])


@dataclass(frozen=True, slots=True)
class Record:
    """One decoded record, and its place for a person."""

    value: Object
    where: str


def records(stream: BinaryIO, path: Path) -> Iterator[Record | Rejected]:
    """Yield each record of an array, of `{"conversations": […]}`, or the one object that a file is."""
    for piece in pieces(stream, path):
        if isinstance(piece, Slice):
            yield decoded(piece.raw, f"{path}: byte {piece.start}")
        else:
            yield unread(piece, path)


def decoded(raw: bytes, where: str) -> Record | Rejected:
    """Decode one record; what is no object is rejected with its place and its bytes."""
    try:
        return Record(_decoder.decode(raw), where)
    except BadLine as error:
        return Rejected(where, error.reason, str(error), raw[:MAX_SAMPLE_BYTES], len(raw))


def elements_of_whole(
    stream: BinaryIO, path: Path, elements: Callable[[Record], Iterable[Element]]
) -> Iterator[Element]:
    """Yield what `elements` gives of a file that is one object: one conversation; or its one rejection.

    Raises `PermanentSourceError` when it is no object at all.
    """
    record = _whole(stream, path)
    if isinstance(record, Record):
        yield from elements(record)
    else:
        yield record


def _whole(stream: BinaryIO, path: Path) -> Record | Rejected:
    stream.seek(0)
    found = outline(stream.read(HEAD_BYTES))
    if found.top != "{":
        raise PermanentSourceError(f"{path}: no JSON object at byte {found.start}")
    stream.seek(found.start)
    raw = stream.read(MAX_ELEMENT_BYTES + 1)
    if len(raw) > MAX_ELEMENT_BYTES:
        detail = f"a conversation of more than {MAX_ELEMENT_BYTES} bytes"
        return Rejected(str(path), "element-too-long", detail, raw[:MAX_SAMPLE_BYTES], len(raw))
    return decoded(raw.strip(), str(path))


def records_by_time(
    stream: BinaryIO, path: Path, time_of: Callable[[Object], object], rank_of: Callable[[Object], int] | None = None
) -> Iterator[Record | Rejected | Warned]:
    """Yield the records of an array, oldest first, holding one at a time: a first pass notes where each stands.

    What cannot be decoded comes first. A file of more than `MAX_SORTED` records is read in its own order.
    """
    index = _Index()
    for piece in pieces(stream, path):
        if not isinstance(piece, Slice):
            yield unread(piece, path)
            continue
        record = decoded(piece.raw, _where(path, piece.start))
        if isinstance(record, Rejected):
            yield record
        elif not index.full:
            rank = rank_of(record.value) if rank_of else 0
            index.add(piece.start, len(piece.raw), time_rank(time_of(record.value)), rank)
    if index.full:
        yield Warned(str(path), f"more than {MAX_SORTED} records: read in the order of the file, not of time")
        yield from (record for record in records(stream, path) if isinstance(record, Record))
        return
    for place in index.order():
        stream.seek(index.starts[place])
        yield decoded(stream.read(index.sizes[place]), _where(path, index.starts[place]))


def _where(path: Path, start: int) -> str:
    return f"{path}: byte {start}"


class _Index:
    """Where records stand, and when they were made."""

    def __init__(self) -> None:
        self.starts = array("q")
        self.sizes = array("q")
        self.times = array("d")
        self.ranks = array("b")

    @property
    def full(self) -> bool:
        return len(self.starts) >= MAX_SORTED

    def add(self, start: int, size: int, time: float, rank: int) -> None:
        self.starts.append(start)
        self.sizes.append(size)
        self.times.append(time)
        self.ranks.append(rank)

    def order(self) -> list[int]:
        return oldest_first(self.times, self.ranks)
