"""The conversations of an export file, piece by piece, whether it holds an array, a wrapped one, or objects alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import MAX_SAMPLE_BYTES, PermanentSourceError, Rejected
from adapters.exports.json_members import place_of
from adapters.files.json_stream import Cut, Piece, Slice, TooLong, array_elements, json_elements, top_level

__all__ = ["Cut", "Piece", "Slice", "TooLong", "pieces", "unread"]

WRAPPER: Final = "conversations"
"""The member by which tools wrap the array of an export."""


def pieces(stream: BinaryIO, path: Path) -> Iterator[Piece]:
    """Yield the bytes of each conversation of a seekable file, in order.

    Known are an array, `{"conversations": […]}`, and conversations alone or one behind the other. Raises
    `PermanentSourceError` when the file is no JSON.
    """
    top = top_level(stream)
    if top.kind == "other":
        raise PermanentSourceError(f"{path}: no JSON array or object at byte {top.start}")
    place = place_of(stream, WRAPPER) if top.kind == "object" else None
    if place is not None and _byte_at(stream, place) == b"[":
        return array_elements(stream, place)
    return json_elements(stream)


def _byte_at(stream: BinaryIO, place: int) -> bytes:
    stream.seek(place)
    return stream.read(1)


def unread(piece: TooLong | Cut, path: Path) -> Rejected:
    """Name what could not be taken as a piece: too long, or cut off by the end of the file."""
    where = f"{path}: byte {piece.start}"
    if isinstance(piece, TooLong):
        return Rejected(where, "element-too-long", f"{piece.size} bytes", piece.sample, piece.size)
    return Rejected(where, "file-cut", "the file ends inside its array", piece.raw[:MAX_SAMPLE_BYTES], len(piece.raw))
