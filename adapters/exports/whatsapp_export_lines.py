"""Where a message begins in a WhatsApp text export: the forms of its first line in all locales.

`[date, time] Author: text` (iOS) and `date, time - Author: text` (Android), with any digits, separators, words for the
halves of the day, and invisible marks of direction and narrow spaces between them. Source: section 4.1 of the chat
platform notes; cases 33 to 41.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from adapters.exports.whatsapp_export_clock import BEFORE, BEHIND, ERAS, HALVES, NOON, NOON_WORD, spoken

MAX_LOOKED_AT: Final = 200
"""A date and a time have at most 45 characters, marks of direction included."""

MAX_AUTHOR_CHARS: Final = 120
"""Names of contacts and groups have at most 100."""

_MARKS: Final = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff"
_SPACES: Final = " \u00a0\u2009\u202f\u3000"
_SPACE: Final = f"[{_SPACES}]"
# Spaces and marks come in any order; more than a few would be another text.
_GAP: Final = f"[{_SPACES}{_MARKS}]{{0,4}}"
_SEPARATOR: Final = f"[{_MARKS}]{{0,4}}[./\\-\u2010-\u2013年月년월]{_GAP}"
_WORD: Final = r"[^\W\d_][^\d\[\]\-\u2013:,]{0,17}?"
_HEADER: Final = re.compile(
    rf"[{_MARKS}]*(?P<open>\[)?[{_MARKS}]*"
    rf"(?P<first>\d{{1,4}})(?P<separator>{_SEPARATOR})(?P<second>\d{{1,2}}){_SEPARATOR}(?P<third>\d{{1,4}})"
    rf"[.日일]?(?:{_GAP}{ERAS})?{_GAP}(?P<comma>[,،、]?){_GAP}"
    rf"(?:(?P<before>{_WORD}){_SPACE}*)?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<seconds>\d\d))?"
    rf"(?:{_GAP}(?P<after>{_WORD}))?{_GAP}"
    rf"(?(open)\]{_SPACE}?|(?<=[{_SPACES}{_MARKS}])[-\u2013](?:{_SPACE}+|$))"
)

_BEFORE: Final = {"", *BEFORE, *HALVES}
_BEHIND: Final = {"", *BEHIND, *HALVES}

_INVISIBLE: Final = re.compile(f"[{_MARKS}]")
_BLANKS: Final = re.compile("[\u00a0\u2009\u202f]")


class Header(NamedTuple):
    """The beginning of a message: three numbers that are a date in some order, a time of day, and what follows."""

    numbers: tuple[int, int, int]
    lengths: tuple[int, int, int]
    hour: int
    minute: int
    second: int
    bracketed: bool
    twelve_hours: bool
    dotted: bool
    plain: bool
    """Like the lines of many programs' logs: year-month-day without a comma or a word for the half of the day."""
    shown: str
    rest: str

    @property
    def year_first(self) -> bool:
        """Whether the first number can only be the year."""
        return self.lengths[0] == 4  # noqa: PLR2004 - digits of a year


def read_header(line: str) -> Header | None:
    """Read the beginning of a message, or give None: the line goes on with the message before."""
    found = _HEADER.match(line[:MAX_LOOKED_AT])
    if found is None:
        return None
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["seconds"] or 0)
    before, after = spoken(found["before"]), spoken(found["after"])
    if before not in _BEFORE or after not in _BEHIND:
        return None
    half = after if after in HALVES else before if before in HALVES else ""
    if half and hour <= NOON:  # a clock of 24 hours needs no half
        hour = hour if half == NOON_WORD and hour == NOON - 1 else hour % NOON + HALVES[half]
    parts = (found["first"], found["second"], found["third"])
    lengths = (len(parts[0]), len(parts[1]), len(parts[2]))
    if hour > 23 or minute > 59 or second > 59 or 3 in lengths or lengths[0] + lengths[2] > 6:  # noqa: PLR2004 - clock
        return None
    return Header(
        numbers=(int(parts[0]), int(parts[1]), int(parts[2])),
        lengths=lengths,
        hour=hour,
        minute=minute,
        second=second,
        bracketed=bool(found["open"]),
        twelve_hours=bool(half),
        dotted="." in found["separator"],
        plain=lengths[0] == 4 and "-" in found["separator"] and not found["comma"] and not half,  # noqa: PLR2004 - year
        shown=visible(found[0]).strip("[] -\u2013"),
        rest=line[found.end() :],
    )


def split_author(rest: str) -> tuple[str | None, str]:
    """Split what follows the time into author and text; without `: ` there is no author, and it is a system line."""
    author, colon, said = rest.partition(": ")
    if not colon:
        author, colon, said = rest.partition(":\u200e ")
    if not colon and rest.rstrip().endswith(":"):  # an editor that strips white space has been at it
        author, colon, said = rest.rstrip()[:-1], ":", ""
    name = clean_author(author) if colon else ""
    return (name, said) if name and len(name) <= MAX_AUTHOR_CHARS else (None, rest)


@lru_cache(maxsize=1024)
def clean_author(name: str) -> str:
    """Give a name without marks of direction, and without the tilde of people who are no contacts."""
    plain = _BLANKS.sub(" ", visible(name)).strip().removeprefix("~").strip()
    return plain.replace("\u2011", "-") if plain.startswith("+") else plain


def visible(text: str) -> str:
    """Give the text without marks of direction."""
    return text if text.isascii() else _INVISIBLE.sub("", text)
