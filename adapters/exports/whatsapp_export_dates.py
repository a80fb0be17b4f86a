"""Which of a date's numbers is the day: decided over a whole file, for each line alone cannot tell.

A number above 12 proves it; else the order in which time runs backwards least often, then the one in which the chat is
the shorter; else what phones of that look usually write. Holds a few numbers, however long the file is. Source: section
4.1 of the chat platform notes.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from adapters.exports.whatsapp_export_lines import Header

Order = tuple[int, int, int]
"""Places of year, month and day."""

DAY_FIRST: Final[Order] = (2, 1, 0)
MONTH_FIRST: Final[Order] = (2, 0, 1)
YEAR_FIRST: Final[Order] = (0, 1, 2)

_TURNED: Final = {DAY_FIRST: MONTH_FIRST, MONTH_FIRST: DAY_FIRST}

_SHORT_YEAR: Final = 100
_CENTURY: Final = 2000
_BUDDHIST_FROM: Final = 2400
_BUDDHIST: Final = 543
_FIRST_PLAUSIBLE: Final = 2009
"""WhatsApp's first year: an order that gives earlier ones is hardly the right one."""
_FIRST_YEAR: Final = 1990
"""Phones whose clock is wrong show the year of their make; other calendars are far below."""


@dataclass(slots=True)
class _Candidate:
    order: Order
    invalid: int = 0
    backwards: int = 0
    first: int | None = None
    last: int = 0
    low: int = 0
    high: int = 0

    def take(self, numbers: tuple[int, int, int]) -> None:
        day = _day(numbers, self.order)
        if day is None or day.year < _FIRST_PLAUSIBLE:
            self.invalid += 1
            return
        place = day.toordinal()
        if self.first is None:
            self.first = self.low = self.high = place
        elif place < self.last:
            self.backwards += 1
        self.last, self.low, self.high = place, min(self.low, place), max(self.high, place)


@dataclass(slots=True)
class DateOrder:
    """Collects the dates of a file, one after another."""

    _candidates: list[_Candidate] = field(
        default_factory=lambda: [_Candidate(DAY_FIRST), _Candidate(MONTH_FIRST), _Candidate(YEAR_FIRST)]
    )
    _before: tuple[int, int, int] | None = None
    _american: int = 0
    _other: int = 0

    def take(self, header: Header) -> None:
        """Take one line's date; one like the line's before says nothing new."""
        if header.numbers == self._before or header.year_first:
            return
        self._before = header.numbers
        if header.twelve_hours and not header.dotted and header.lengths[2] < 4:  # noqa: PLR2004 - digits of a year
            self._american += 1
        else:
            self._other += 1
        for candidate in self._candidates:
            if candidate.order == YEAR_FIRST and header.lengths[2] > 2:  # noqa: PLR2004 - the year stands last
                candidate.invalid += 1
            else:
                candidate.take(header.numbers)

    def decide(self) -> tuple[Order, bool]:
        """Give the order, and whether it is known: proved by a number above 12, or by the run of time."""
        usual = MONTH_FIRST if self._american > self._other else DAY_FIRST
        ranked = sorted(
            self._candidates,
            key=lambda c: (c.invalid, c.backwards, c.order == YEAR_FIRST, c.high - c.low, c.order != usual),
        )
        best = ranked[0]
        # Two digits of a year in front are so rare that they never make the others doubtful.
        rivals = [other for other in ranked[1:] if best.order == YEAR_FIRST or other.order != YEAR_FIRST]
        return best.order, self._before is None or all(_tells(best, rival) for rival in rivals)


def _tells(best: _Candidate, rival: _Candidate) -> bool:
    """Whether the file tells two orders apart, or they come to the same."""
    same = (best.first, best.last, best.low, best.high) == (rival.first, rival.last, rival.low, rival.high)
    return same or (best.invalid, best.backwards) < (rival.invalid, rival.backwards)


def moment_of(header: Header, order: Order) -> datetime | None:
    """Give what the phone's clock showed, without a zone; None when the date is none.

    A date that is none in the file's order may be one in the other: its own number above 12 proves it.
    """
    day = _day(header.numbers, YEAR_FIRST if header.year_first else order)
    if day is None and not header.year_first and order in _TURNED:
        day = _day(header.numbers, _TURNED[order])
    return None if day is None else datetime(day.year, day.month, day.day, header.hour, header.minute, header.second)  # noqa: DTZ001 - a clock on the wall


def _day(numbers: tuple[int, int, int], order: Order) -> date | None:
    year, month, day = (numbers[place] for place in order)
    if year < _SHORT_YEAR:
        year += _CENTURY
    elif year >= _BUDDHIST_FROM:
        year -= _BUDDHIST
    try:
        return date(year, month, day) if year >= _FIRST_YEAR else None
    except ValueError:
        return None
