"""Where a JSON value ends, by its brackets and strings alone: for what is no JSON inside, or longer than memory.

Whole runs of text are passed over by one regular expression; the state is kept between windows.
"""

import re
from typing import Final

MAX_DEPTH: Final = 1_000_000
"""Open brackets that are remembered, a byte each; no value that anybody wrote is so deep."""

_OUTSIDE: Final = re.compile(rb'[^"\[\]{},]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{},]*+)*+', re.DOTALL)
_NESTED: Final = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', re.DOTALL)
_INSIDE: Final = re.compile(rb'[^"\\]*+')
_QUOTE: Final = ord('"')
_CLOSED_BY: Final = {ord("["): ord("]"), ord("{"): ord("}")}


class Brackets:
    """Follows one value over any number of windows, to the byte of `ends` behind it, outside of all brackets."""

    def __init__(self, ends: bytes) -> None:
        self._ends = ends
        self.lost = False
        """Whether a bracket was closed by one of another kind, or there are too many: then there is no end."""
        self._open = bytearray()  # the brackets that must close, innermost last
        self._in_string = False
        self._escaped = False

    def feed(self, data: bytes, index: int, limit: int) -> int | None:
        """Look at data from `index` to `limit`; gives where the value ends, None when it does not end there."""
        while index < limit and not self.lost:
            if self._escaped:
                self._escaped = False
                index += 1
            elif self._in_string:
                index = self._leave_string(data, index, limit)
            else:
                index = _skip(data, index, limit, _NESTED if self._open else _OUTSIDE)
                if index < limit:
                    if not self._open and data[index] in self._ends:
                        return index
                    self._step(data[index])
                    index += 1
        return None

    def _step(self, byte: int) -> None:
        if byte == _QUOTE:  # a string that does not end in this window
            self._in_string = True
        elif closing := _CLOSED_BY.get(byte):
            self._open.append(closing)
            self.lost = len(self._open) > MAX_DEPTH
        elif self._open:
            self.lost = self._open.pop() != byte

    def _leave_string(self, data: bytes, index: int, limit: int) -> int:
        index = _skip(data, index, limit, _INSIDE)
        if index < limit:
            self._in_string = data[index] != _QUOTE
            self._escaped = self._in_string
            index += 1
        return index


def _skip(data: bytes, index: int, limit: int, pattern: re.Pattern[bytes]) -> int:
    found = pattern.match(data, index, limit)
    return found.end() if found else index
