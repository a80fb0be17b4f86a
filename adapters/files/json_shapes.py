"""How the elements of one JSON array begin: by their first keys the next one is found behind damage."""

import re
from collections.abc import Iterator
from typing import Final

from adapters.files.json_values import WHITE, value_at

MAX_SHAPES: Final = 32
"""Beginnings of elements that are remembered: one program writes few."""

FIRST_STEP: Final = 256 * 1024
"""How far an end is looked for at first; the larger, the surer it is that the right one is found."""

_BRACE: Final = ord("{")
_KEYS: Final = re.compile(rb'\{[ \t\r\n]*+("[^"\\]*+")[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT_KEY: Final = re.compile(rb'[ \t\r\n]*+,[ \t\r\n]*+("[^"\\]*+")[ \t\r\n]*+:')

Shape = tuple[bytes, bytes | None]
"""The first two keys of an element."""


class Shapes:
    """How the elements of one array begin."""

    def __init__(self) -> None:
        self.known: set[Shape] = set()
        self._others: set[int] = set()  # first bytes of elements that are no objects
        self._last: bytes = b""
        self._pattern: re.Pattern[bytes] | None = None

    def learn(self, raw: bytes) -> None:
        """Remember how an element begins."""
        if self._last and raw.startswith(self._last):  # like the one before: nearly always
            return
        found = self.learn_beginning(raw, 0)
        if found:
            self._last = found[0]
        elif raw[0] != _BRACE:
            self._others.add(raw[0])

    def learn_beginning(self, data: bytes, index: int) -> re.Match[bytes] | None:
        """Remember how what stands at `index` begins, damaged or not: the fault is seldom in its first bytes."""
        found = _KEYS.match(data, index)
        if found and len(self.known) < MAX_SHAPES:
            shape = (found[1], _second_key(data, found.end()))
            if shape[1] or not any(first == shape[0] for first, _ in self.known):
                self.known.add(shape)
                self._pattern = None
        return found

    def beginnings(self, data: bytes, index: int, limit: int) -> Iterator[int]:
        """Give where elements may begin, from `index` to `limit`: behind anything but a colon."""
        if not self.known:
            return
        if self._pattern is None:
            keys = b"|".join(re.escape(key) for key in sorted({first for first, _ in self.known}))
            self._pattern = re.compile(rb"\{[ \t\r\n]*+(?:" + keys + rb")[ \t\r\n]*+:")
        for found in self._pattern.finditer(data, index, limit):
            if not data[max(index, found.start() - 64) : found.start()].rstrip(WHITE).endswith(b":"):
                yield found.start()

    def fits(self, data: bytes, index: int) -> bool:
        """Whether what stands at `index` begins like an element: with its first two keys, if they can be read."""
        if data[index] in self._others:
            return isinstance(value_at(data, index, index + FIRST_STEP), bytes)
        found = _KEYS.match(data, index)
        if found is None:
            return False
        second = _second_key(data, found.end())
        return any(first == found[1] and (second == other or None in (second, other)) for first, other in self.known)


def _second_key(data: bytes, index: int) -> bytes | None:
    value = value_at(data, index, index + FIRST_STEP)
    if isinstance(value, bytes):
        found = _NEXT_KEY.match(data, index + len(value))
        return found[1] if found else None
    return None
