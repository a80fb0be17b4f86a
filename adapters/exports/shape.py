"""The outline of a JSON file's first bytes: which names stand at which depth, so that readers go by shape.

A head may be cut anywhere, and what it holds may be broken: the outline says what was seen until there.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

BOM: Final = b"\xef\xbb\xbf"

MAX_LEVELS: Final = 6
"""Depth of objects that is looked at: a conversation, its tree, a node, a message, its content, and one to spare."""

_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"[ \t\r\n]*+(:)?|\Z)|[\[\]{}]', re.DOTALL)
_WHITE: Final = re.compile(rb"[ \t\r\n]*+")
_NOTHING: Final[frozenset[str]] = frozenset()


@dataclass(slots=True)
class _Level:
    names: set[str] = field(default_factory=set)
    arrays: dict[str, int] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Outline:
    """What stands in the first bytes of a JSON file.

    `top` is its first bracket, empty when it begins otherwise; `start` where that stands. `levels` hold the names of
    members by depth of objects, the top object's first, or those of a top array's elements joined; `arrays` where the
    values of the first level begin that are arrays, `objects` which of them are objects.
    """

    top: Literal["[", "{", ""]
    start: int
    levels: tuple[frozenset[str], ...] = ()
    arrays: tuple[tuple[str, int], ...] = ()
    objects: frozenset[str] = _NOTHING

    def names(self, level: int = 0) -> frozenset[str]:
        """Names at a depth of objects, from 0."""
        return self.levels[level] if level < len(self.levels) else _NOTHING

    def array(self, name: str) -> int | None:
        """Where the array begins that is the member `name` of the top object, or of a top array's element."""
        return next((place for known, place in self.arrays if known == name), None)


@lru_cache(maxsize=8)
def outline(start: bytes, begin: int = 0) -> Outline:
    """Outline the JSON value that begins at or after the byte `begin`; never raises."""
    place = begin + (len(BOM) if start.startswith(BOM, begin) else 0)
    white = _WHITE.match(start, place)
    place = white.end() if white else place
    first = start[place : place + 1]
    if first not in (b"[", b"{"):
        return Outline("", place)
    levels = _Follower().follow(start, place)
    top = levels[0] if levels else _Level()
    return Outline(
        "[" if first == b"[" else "{",
        place,
        tuple(frozenset(level.names) for level in levels),
        tuple(top.arrays.items()),
        frozenset(top.objects),
    )


def conversations(start: bytes, wrapper: str = "conversations") -> Outline:
    """Outline what a file of conversations holds: the array inside `{"conversations": […]}`, else the file itself."""
    whole = outline(start)
    inside = whole.array(wrapper) if whole.top == "{" else None
    return whole if inside is None else outline(start, inside)


class _Follower:
    """Follows strings and brackets until the value ends, or the bytes do."""

    def __init__(self) -> None:
        self.levels: list[_Level] = []
        self.stack: list[bool] = []  # whether each open bracket is an object's
        self.depth = 0  # of objects
        self.name = ""  # the member whose value comes next

    def follow(self, start: bytes, place: int) -> list[_Level]:
        for token in _TOKEN.finditer(start, place):
            mark = token[0]
            if mark in (b"{", b"["):
                self._open(mark, token.start())
            elif mark in (b"}", b"]"):
                self._close()
                if not self.stack:
                    break
            elif token[2] and self.stack and self.stack[-1]:
                self.name = token[1].decode("utf-8", "replace")
                if self.depth <= MAX_LEVELS:
                    self.levels[self.depth - 1].names.add(self.name)
            else:
                self.name = ""
        return self.levels

    def _open(self, mark: bytes, place: int) -> None:
        if self.depth == 1 and self.name and mark == b"[":
            self.levels[0].arrays.setdefault(self.name, place)
        elif self.depth == 1 and self.name:
            self.levels[0].objects.add(self.name)
        self.name = ""
        self.stack.append(mark == b"{")
        if mark == b"{":
            self.depth += 1
            if len(self.levels) < self.depth <= MAX_LEVELS:
                self.levels.append(_Level())

    def _close(self) -> None:
        self.name = ""
        if self.stack and self.stack.pop():
            self.depth -= 1
