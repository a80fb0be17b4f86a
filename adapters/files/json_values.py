"""One JSON value after another in a stream: where each ends, by the fastest parser there is, in a bounded window.

msgspec walks over a value without building anything (1 GB/s) and says where it met something else. Only its verdict is
used, so what a value means is left to who decodes it: invalid UTF-8 inside a string passes here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import msgspec

from adapters.files.json_brackets import Brackets

CHUNK_BYTES: Final = 96 * 1024
"""One read: below the 128 KiB from which malloc asks the system for a block anew, a fortieth of an import's time."""

MAX_ELEMENT_BYTES: Final = 64 * 1024 * 1024
"""One conversation of an export may be tens of MB; what is longer is passed over and reported."""

WHITE: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class NoValue:
    """Why no value was found: the bytes end inside it (`more`), or are no JSON; `reach` of them were looked at."""

    reach: int
    more: bool = False


_walk: Final = msgspec.json.Decoder(msgspec.Raw).decode
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_PLACE: Final = re.compile(r"\(byte (\d+)\)")
_NUMBER: Final = frozenset(b"-0123456789")
_GAP: Final = re.compile(rb"[ \t\r\n]*+")
SEPARATOR: Final = re.compile(rb"[ \t\r\n,]*+")
_MAX_KEY_BYTES: Final = 4096
_DEEP_REACH: Final = 8192
"""Bytes walked over before Python's limit of recursion, about."""


def value_at(data: bytes, index: int, limit: int | None = None) -> bytes | NoValue:
    """Give the bytes of the value that begins at `index`, looking no further than `limit`, or why there is none."""
    view = memoryview(data)[index:limit]
    try:
        return bytes(_walk(view))
    except RecursionError:
        return NoValue(min(len(view), _DEEP_REACH))
    except msgspec.DecodeError as error:
        message = str(error)
    if found := _TRAILING.search(message):  # the number of the first byte behind value and white space, counted from 1
        return bytes(view[: int(found[1]) - 1]).rstrip(WHITE)
    place = _PLACE.search(message)
    reach = int(place[1]) if place else len(view)
    return NoValue(reach, more=reach >= len(view))


class Window:
    """The part of a stream that is being looked at; places are counted from the stream's beginning."""

    def __init__(self, stream: BinaryIO, position: int) -> None:
        self.stream = stream
        self.base = position
        self.data = b""
        self.ended = False

    @property
    def end(self) -> int:
        """The place behind the window's last byte."""
        return self.base + len(self.data)

    def fill(self, keep: int) -> bool:
        """Read on, at least as much as is kept, and forget what stands before `keep`; False at the end."""
        if self.ended:
            return False
        kept = self.data[keep - self.base :]
        self.stream.seek(self.end)
        more = self.stream.read(max(CHUNK_BYTES, len(kept)))
        self.base, self.data = keep, kept + more
        self.ended = not more
        return bool(more)

    def skip(self, place: int, gap: re.Pattern[bytes] = _GAP) -> tuple[int, bytes]:
        """Pass over what `gap` matches; gives the place and the byte there, none at the end of the stream."""
        while True:
            found = gap.match(self.data, place - self.base)
            place = self.base + found.end() if found else place
            if place < self.end:
                return place, self.data[place - self.base : place - self.base + 1]
            if not self.fill(place):
                return place, b""

    def value(self, place: int, longest: int) -> bytes | NoValue:
        """Give the value at a place, reading on for it and looking at `longest` bytes, about.

        A number that the stream's end cuts short cannot be told from a whole one, and counts as cut off.
        """
        while True:
            index = place - self.base
            found = value_at(self.data, index, index + longest)
            if isinstance(found, bytes):
                if place + len(found) < self.end or found[0] not in _NUMBER:
                    return found
                found = NoValue(len(found), more=True)
            if not found.more or self.end - place >= longest or not self.fill(place):
                return found

    def part(self, start: int, end: int) -> bytes:
        """Give bytes that are in the window."""
        return self.data[start - self.base : end - self.base]


def members(window: Window, place: int) -> Iterator[tuple[str, int]]:
    """Yield each key of the object whose `{` stands at `place`, and where its value begins.

    Asking for the next one passes over a value, however long. Ends where the object does, or is no JSON.
    """
    place, byte = window.skip(place + 1)
    while byte == b'"':
        key = window.value(place, _MAX_KEY_BYTES)
        if not isinstance(key, bytes):
            return
        place, byte = window.skip(place + len(key))
        if byte != b":":
            return
        place, byte = window.skip(place + 1)
        yield _text(key), place
        passed = pass_over(window, place)
        if passed is None:
            return
        place, byte = window.skip(passed, SEPARATOR)


def _text(key: bytes) -> str:
    try:
        return msgspec.json.decode(key, type=str)
    except msgspec.DecodeError:  # no UTF-8, or half a surrogate pair: no key that anybody asks for
        return key[1:-1].decode("utf-8", "replace")


def pass_over(window: Window, place: int) -> int | None:
    """Give the place behind a value that may be longer than any window; None when it has no end."""
    found = value_at(window.data, place - window.base)
    if isinstance(found, bytes) and place + len(found) < window.end:
        return place + len(found)
    brackets = Brackets(ends=b",}")
    while True:
        inside = brackets.feed(window.data, place - window.base, len(window.data))
        if inside is not None:
            return window.base + inside
        if brackets.lost or not window.fill(window.end):
            return None
        place = window.base
