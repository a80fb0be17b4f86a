"""Members of one big JSON object, looked at without reading the rest."""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import msgspec

from adapters.files.json_line import BadLine, decode_line
from adapters.files.json_stream import find_value
from adapters.files.json_values import Window, members

MAX_SMALL_BYTES: Final = 64 * 1024
"""A member above this is no name, type or id."""


def beginning(head: bytes) -> BinaryIO:
    """Make a stream of the beginning of a file."""
    return io.BytesIO(head)


def place_of(stream: BinaryIO, *keys: str, start: int | None = None) -> int | None:
    """Give where the value stands that `keys` lead to; None when it is not there, or the file is no JSON."""
    try:
        return find_value(stream, *keys, start=start)
    except msgspec.DecodeError:  # a key that is no UTF-8
        return None


def members_of(stream: BinaryIO, place: int) -> Iterator[tuple[str, int]]:
    """Yield each key of the object that stands at a place, and where its value does; none when it is no object."""
    window = Window(stream, place)
    if window.skip(place)[1] != b"{":
        return
    try:
        yield from members(window, place)
    except msgspec.DecodeError:  # a key that is no UTF-8 ends what can be read
        return


def small_value(stream: BinaryIO, place: int | None) -> Any:
    """Decode the value that stands at a place; None when there is none, or it is long or no JSON."""
    if place is None:
        return None
    found = Window(stream, place).value(place, MAX_SMALL_BYTES)
    if not isinstance(found, bytes) or len(found) > MAX_SMALL_BYTES:
        return None
    try:
        return decode_line(found)
    except BadLine:
        return None


def small_member(stream: BinaryIO, *keys: str, start: int | None = None) -> Any:
    """Decode the short value that `keys` lead to, or give None."""
    return small_value(stream, place_of(stream, *keys, start=start))
