"""Elements of a huge JSON array, one after another, in bounded memory and with their exact place.

Each element is walked over by msgspec once (`json_values`). Where that meets something else than JSON, the damage is
kept as small as it can be (`json_damage`): the elements before it and behind it come out whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal

from adapters.files.json_damage import Damage, Effort, damaged, next_beginning
from adapters.files.json_shapes import Shapes
from adapters.files.json_values import MAX_ELEMENT_BYTES, SEPARATOR, WHITE, Window, members

_BOM: Final = b"\xef\xbb\xbf"
_SAMPLE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Slice:
    """The bytes of one element, or of a damaged place between two, and where they begin in the stream."""

    start: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class TooLong:
    """An element above `MAX_ELEMENT_BYTES`: passed over, with its beginning as a sample."""

    start: int
    size: int
    sample: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    """The stream ended inside the array; `raw` is the unfinished rest, up to a sample's size."""

    start: int
    raw: bytes


Piece = Slice | TooLong | Cut


@dataclass(frozen=True, slots=True)
class Top:
    """What a JSON file holds: `start` is where its value begins, behind a byte order mark and white space."""

    kind: Literal["array", "object", "other"]
    start: int


def top_level(stream: BinaryIO) -> Top:
    """Say what the first value of a seekable stream is."""
    window, start, byte = _open(stream)
    del window
    return Top("array" if byte == b"[" else "object" if byte == b"{" else "other", start)


def find_value(stream: BinaryIO, *keys: str, start: int | None = None) -> int | None:
    """Give where the value stands that `keys` lead to, one inside the other, from the object at `start`.

    `start` is the first value of the stream when left out. None when a key is not there. Values that are passed over
    may be of any length.
    """
    window, place, _ = _open(stream) if start is None else (Window(stream, start), start, b"")
    for key in keys:
        if window.skip(place)[1] != b"{":
            return None
        found = next((at for name, at in members(window, place) if name == key), None)
        if found is None:
            return None
        place = found
    return place


def json_elements(stream: BinaryIO, *wrappers: str | Sequence[str]) -> Iterator[Piece]:
    """Yield the elements that a JSON file holds, however it holds them.

    A top-level array: its elements. An object in which one of `wrappers` (a key, or keys one inside the other) leads to
    an array: that array's elements. Else the object itself, and further ones that stand behind it (JSON Lines).
    Damage comes as a `Slice` that cannot be decoded, between whole elements.
    """
    top = top_level(stream)
    if top.kind == "array":
        yield from array_elements(stream, top.start)
        return
    for keys in wrappers if top.kind == "object" else ():
        place = find_value(stream, *((keys,) if isinstance(keys, str) else keys))
        if place is not None and Window(stream, place).skip(place)[1] == b"[":
            yield from array_elements(stream, place)
            return
    yield from _elements(Window(stream, top.start), top.start, in_array=False)


def array_elements(stream: BinaryIO, start: int) -> Iterator[Piece]:
    """Yield the elements of the array whose `[` is the byte at `start` of a seekable stream.

    Ends at the closing bracket, unless more stands behind it than the rest of an object. A stream that ends earlier
    gives a last `Cut`.
    """
    window = Window(stream, start)
    if window.skip(start) != (start, b"["):
        message = f"no array at byte {start}"
        raise ValueError(message)
    yield from _elements(window, start + 1, in_array=True)


def _open(stream: BinaryIO) -> tuple[Window, int, bytes]:
    window = Window(stream, 0)
    window.fill(0)
    place, byte = window.skip(len(_BOM) if window.data.startswith(_BOM) else 0)
    return window, place, byte


def _elements(window: Window, place: int, *, in_array: bool) -> Iterator[Piece]:
    shapes, effort, shaken = Shapes(), Effort(), False
    while True:
        place, byte = window.skip(place, SEPARATOR)
        if not byte:
            if in_array:
                yield Cut(place, b"")
            return
        if in_array and byte == b"]":
            behind = _behind_end(window, place)
            if behind is None and shaken:  # it may have closed an array inside of a damaged element
                behind = next_beginning(window, place, shapes)
            if behind is None:
                return
            place = behind
            continue
        raw = window.value(place, effort.reach)
        if isinstance(raw, bytes) and len(raw) <= MAX_ELEMENT_BYTES:
            shapes.learn(raw)
            effort.passed(len(raw))
            yield Slice(place, raw)
            place += len(raw)
            continue
        shaken = True
        effort.wasted(len(raw) if isinstance(raw, bytes) else raw.reach)
        found = damaged(window, place, shapes, effort, in_array=in_array)
        yield _piece(found)
        if found.end is None:
            return
        place = found.end


def _behind_end(window: Window, place: int) -> int | None:
    """Give where elements go on behind the bracket at `place`; None when it ends the array, as it should."""
    after, byte = window.skip(place + 1)
    if byte in (b"", b"}"):
        return None
    if byte == b",":
        after, byte = window.skip(after + 1)
        return None if byte == b'"' else after  # the next key of the object around the array
    return after + 1 if byte == b"[" else after  # arrays written one behind the other


def _piece(found: Damage) -> Piece:
    if found.cut:
        return Cut(found.start, found.raw[:_SAMPLE_BYTES])
    if found.size > MAX_ELEMENT_BYTES:
        return TooLong(found.start, found.size, found.raw[:_SAMPLE_BYTES])
    return Slice(found.start, found.raw.strip(WHITE))
