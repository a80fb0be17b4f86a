"""Damage in a JSON array: how far it reaches, so that it costs no whole element before or behind it.

Two things can end it. Its own brackets, when the fault leaves them in balance (`{"a":nope}`). Or the beginning of the
next element, known by the keys that elements of this array begin with, when a bracket or quote is missing or bytes are
(`{"id":"x","name":"to{"id":"y",…`). An end is believed when a whole element, or the array's end, stands behind it.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Final

from adapters.files.json_brackets import Brackets
from adapters.files.json_line import BadLine, decode_line
from adapters.files.json_shapes import FIRST_STEP, Shapes
from adapters.files.json_values import MAX_ELEMENT_BYTES, SEPARATOR, WHITE, Window, value_at

MAX_TRIES: Final = 4096
"""Beginnings that turn out to be none, for one window: more are not looked at, so that time stays linear."""

_MIN_REACH: Final = 256
_MAX_CHAINS: Final = 64
_MAX_BEGINNING: Final = 4096
_SAMPLE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Damage:
    """A place that is no JSON, or too long: its first bytes, its size, and where to go on (None: nowhere).

    `cut` says that the stream ended inside. A value that forgiving decoders read comes as damage too: its bytes are
    whole.
    """

    start: int
    raw: bytes
    size: int
    end: int | None
    cut: bool = False


class Effort:
    """How far to look ahead: what is looked at in vain is paid for by what is passed, so that all time is linear.

    A file must be hostile, or nothing but damage, to run out of it; then ends are only found when they are near.
    """

    def __init__(self) -> None:
        self._credit = 2 * MAX_ELEMENT_BYTES

    @property
    def reach(self) -> int:
        """Bytes that one more look may take."""
        return max(_MIN_REACH, min(self._credit, MAX_ELEMENT_BYTES))

    def passed(self, size: int) -> None:
        """Bytes were done with."""
        self._credit = min(self._credit + 2 * size, 2 * MAX_ELEMENT_BYTES)

    def wasted(self, size: int) -> None:
        """Bytes were looked at and will be again."""
        self._credit = max(0, self._credit - size)


def damaged(window: Window, start: int, shapes: Shapes, effort: Effort, *, in_array: bool) -> Damage:
    """Give the extent of what stands at `start`, where no whole value does."""
    while window.end - start < FIRST_STEP and window.fill(start):
        pass
    search = _Search(window, start, shapes, in_array)
    step = min(FIRST_STEP, effort.reach)
    limit = start + step
    while True:
        limit = min(limit, window.end)
        found = search.look(limit)
        if found:
            break
        if limit == window.end and not search.read_on():
            found = search.rest()
            break
        step *= 2
        limit += step
    effort.wasted(limit - (found.end or limit))
    effort.passed((found.end or limit) - start)
    return found


def next_beginning(window: Window, place: int, shapes: Shapes) -> int | None:
    """Find where an element begins, anywhere from `place` on."""
    while True:
        first = max(0, place - window.base)
        index = next(
            (at for at in shapes.beginnings(window.data, first, len(window.data)) if shapes.fits(window.data, at)), None
        )
        if index is not None:
            return window.base + index
        place = max(place, window.end - _MAX_BEGINNING)
        if not window.fill(place):
            return None


class _Search:
    """Looks for the end of one damage, ever further; keeps no more than one element may have."""

    def __init__(self, window: Window, start: int, shapes: Shapes, in_array: bool) -> None:
        self.window = window
        self.start = start
        self.shapes = shapes
        self.in_array = in_array
        self.brackets = Brackets(ends=b",]")
        self.balanced: int | None = None
        # Up to where brackets were followed; a stray one must not end what it begins.
        self.bracketed = start + window.part(start, start + 1).count(b"]")
        self.searched = start + 1  # up to where beginnings were looked for
        self.head = b""  # what is kept once the damage is longer than an element
        shapes.learn_beginning(window.data, start - window.base)

    def look(self, limit: int) -> Damage | None:
        """Look for an end before `limit`, which is in the window."""
        self._follow_brackets(limit)
        end = self.balanced
        if end is not None and self._is_forgivable(end):
            return self._until(end)
        found = self._swallowed(end) if end is not None and self._goes_on(end) else self._beginning(limit)
        found = end if found is None else found
        return None if found is None else self._until(found)

    def read_on(self) -> bool:
        """Read the next window; False at the end of the stream."""
        window = self.window
        if self.head or window.end - self.start > MAX_ELEMENT_BYTES:
            self.head = self.head or window.part(self.start, self.start + _SAMPLE_BYTES)
            return window.fill(min(self.searched, window.end))
        return window.fill(self.start)

    def rest(self) -> Damage:
        """Take all there is: nothing whole follows."""
        raw = self._raw(self.window.end)
        size = self.window.end - self.start
        whole = raw.rstrip(WHITE)
        if self.in_array and not self.head and whole.endswith(b"]") and self.brackets.lost:
            return Damage(self.start, whole[:-1], size, None)
        return Damage(self.start, raw, size, None, cut=self.in_array)

    def _follow_brackets(self, limit: int) -> None:
        if self.balanced is None and not self.brackets.lost and self.bracketed < limit:
            base = self.window.base
            end = self.brackets.feed(self.window.data, self.bracketed - base, limit - base)
            self.bracketed = limit
            self.balanced = None if end is None else base + end

    def _is_forgivable(self, end: int) -> bool:
        """Whether the reader's decoder forgives what msgspec does not."""
        if self.head or end - self.start > MAX_ELEMENT_BYTES:
            return True  # no other element can be told from what is inside a long one
        try:
            decode_line(self.window.part(self.start, end))
        except BadLine:
            return False
        return True

    def _goes_on(self, end: int) -> bool:
        """Whether an element begins, or the array ends, where brackets say that this one ends."""
        data, index = self.window.data, end - self.window.base
        gap = SEPARATOR.match(data, index)
        index = gap.end() if gap else index
        if index >= len(data):
            return False
        if data[index : index + 1] == b"]":
            return data[index + 1 : index + 64].strip(WHITE)[:1] in (b"", b"}", b",")
        if self.shapes.fits(data, index):
            return True
        # What stands there may be damaged too: then its brackets speak for it.
        brackets = Brackets(ends=b",]")
        return brackets.feed(data, index, min(index + FIRST_STEP, len(data))) is not None and not brackets.lost

    def _swallowed(self, end: int) -> int | None:
        """Find the first of whole elements that fill all bytes up to `end`: with a quote lost, brackets count wrong."""
        base, data, last = self.window.base, self.window.data, end - self.window.base
        if self.start < base:
            return None
        for index in islice(self.shapes.beginnings(data, self.start + 1 - base, last), _MAX_CHAINS):
            place = index
            while place < last and isinstance(value := value_at(data, place, last), bytes):
                gap = SEPARATOR.match(data, place + len(value))
                place = gap.end() if gap else last
            if place >= last and self.shapes.fits(data, index):
                return base + index
        return None

    def _beginning(self, limit: int) -> int | None:
        """Find where the next element begins, before `limit`."""
        base, data = self.window.base, self.window.data
        for index in islice(self.shapes.beginnings(data, self.searched - base, limit - base), MAX_TRIES):
            if self.shapes.fits(data, index) and self._may_be_whole(index):
                return base + index
        # A beginning may stand across the limit.
        self.searched = max(self.searched, limit - _MAX_BEGINNING)
        return None

    def _may_be_whole(self, index: int) -> bool:
        value = value_at(self.window.data, index, index + FIRST_STEP)
        return isinstance(value, bytes) or value.more

    def _until(self, end: int) -> Damage:
        raw = self._raw(end).rstrip(b" \t\r\n,")
        return Damage(self.start, raw, max(end - self.start, len(raw)) if self.head else len(raw), end)

    def _raw(self, end: int) -> bytes:
        return self.head or self.window.part(self.start, end)
