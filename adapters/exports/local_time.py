"""Times as people read them, in several languages, made into ISO 8601; and zones, which they often lack.

Structure only: what is found is handed on as ISO text, and the normaliser parses that like any other. Abbreviations of
zones that mean more than one zone (IST, CST, BST) are not guessed. Source: Takeout's MyActivity.html and the Copilot
CSV files, sections 3.2 and 4 of the export formats.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from adapters.contract import PermanentSourceError

ASSUMED_LABEL: Final = "time-zone-assumed"

MAX_CHARS: Final = 80
"""Longest text looked at; the longest real one, Spanish with a long month, has 47."""

# Names of months by number; a text matches a name it is a beginning of, from three letters on.
_MONTHS: Final = (
    ("january", "januar", "januari", "janvier", "enero", "janeiro", "gennaio", "styczeń", "stycznia"),
    ("february", "februar", "februari", "février", "fevrier", "febrero", "fevereiro", "febbraio", "luty", "lutego"),
    ("march", "märz", "mars", "marzo", "março", "maart", "mrt", "marzec", "marca"),
    ("april", "avril", "abril", "aprile", "kwiecień", "kwietnia"),
    ("may", "mai", "maj", "mayo", "maio", "maggio", "mei", "maja"),
    ("june", "juni", "juin", "junio", "junho", "giugno", "czerwiec", "czerwca"),
    ("july", "juli", "juillet", "julio", "julho", "luglio", "lipiec", "lipca"),
    ("august", "augusti", "août", "aout", "agosto", "augustus", "sierpień", "sierpnia"),
    ("september", "septembre", "septiembre", "setembro", "settembre", "wrzesień", "września"),
    ("october", "oktober", "octobre", "octubre", "outubro", "ottobre", "październik", "października"),
    ("november", "novembre", "noviembre", "novembro", "listopad", "listopada"),
    ("december", "dezember", "décembre", "decembre", "diciembre", "dezembro", "dicembre", "desember", "grudzień",
     "grudnia"),
)  # fmt: skip
_MIN_MONTH_CHARS: Final = 3

# Only what has one meaning in practice; hours east of Greenwich.
_ZONES: Final[dict[str, float]] = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "WEZ": 0, "WESZ": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2,
    "EET": 2, "EEST": 3, "OEZ": 2, "OESZ": 3, "MSK": 3, "JST": 9, "KST": 9, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7,
    "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10, "BRT": -3, "AEST": 10, "AEDT": 11, "ACST": 9.5,
    "ACDT": 10.5, "AWST": 8, "NZST": 12, "NZDT": 13, "SAST": 2,
}  # fmt: skip

_CLOCK: Final = re.compile(r"(?<!\d)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?(?!\d)")
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?[ ]?([+\-\u2212])(\d{1,2})(?::?(\d\d))?")
_PIECE: Final = re.compile(r"\d+|[^\W\d_]+")
_HALVES: Final = {"am": 0, "pm": 12, "오전": 0, "오후": 12, "上午": 0, "下午": 12, "午前": 0, "午後": 12}
_HALF: Final = re.compile(r"\b([ap])\.?\s?m\b\.?|(오전|오후|上午|下午|午前|午後)", re.IGNORECASE)
# Words that stand in dates and mean nothing; the second line is Russian and Ukrainian for "year".
_FILLERS: Final = frozenset(
    {
        "de", "del", "at", "kl", "um", "le", "den", "年", "月", "日", "년", "월", "일",
        "\u0433", "\u0440\u043e\u043a\u0443",
    }
)  # fmt: skip
_NOON: Final = 12
_YEAR_CHARS: Final = 4


class LocalTime(NamedTuple):
    """A clock's time without its zone, and what the text says of the zone: words, or nothing."""

    clock: datetime
    zone: str


def read_local(words: str, *, day_first: bool = True) -> LocalTime | None:
    """Read a date with a time of day; None unless the whole text is one.

    `day_first` says what `3/4/2026` means; a number above 12 decides for itself.
    """
    if len(words) > MAX_CHARS:
        return None
    line = " ".join(words.replace("\u200e", "").replace("\u200f", "").split())
    clock = _CLOCK.search(line)
    if not clock:
        return None
    day_words, rest = line[: clock.start()], line[clock.end() :].strip(" ()")
    half = _HALF.search(day_words)
    if half:
        day_words = day_words[: half.start()] + day_words[half.end() :]
    elif half := _HALF.match(rest):
        rest = rest[half.end() :].strip(" ()")
    day = _date(day_words.removesuffix("T"), day_first=day_first)
    if day is None or not _is_zone(rest):
        return None
    hour = int(clock[1])
    if half:
        hour = hour % _NOON + _HALVES[half[2] or half[1].lower() + "m"]
    fraction = int((clock[4] or "").ljust(6, "0"))
    try:
        return LocalTime(datetime(*day, hour, int(clock[2]), int(clock[3] or 0), fraction), rest)  # noqa: DTZ001 - a wall clock has no zone
    except ValueError:
        return None


def _is_zone(words: str) -> bool:
    return not words or bool(re.fullmatch(r"[A-Z]{1,6}|" + _OFFSET.pattern, words))


def _date(words: str, *, day_first: bool) -> tuple[int, int, int] | None:
    """Give year, month and day of a date in which every word has a meaning."""
    numbers: list[str] = []
    month: int | None = None
    for piece in _PIECE.findall(words.lower()):
        if piece.isdigit():
            numbers.append(piece)
        elif piece not in _FILLERS:
            found = _month(piece)
            if found is None or month is not None:
                return None
            month = found
    return _named(numbers, month) if month else _numeric(numbers, day_first=day_first)


@lru_cache(maxsize=256)
def _month(piece: str) -> int | None:
    if len(piece) < _MIN_MONTH_CHARS:
        return None
    found = {number for number, names in enumerate(_MONTHS, 1) if any(name.startswith(piece) for name in names)}
    return found.pop() if len(found) == 1 else None


def _named(numbers: list[str], month: int) -> tuple[int, int, int] | None:
    years = [number for number in numbers if len(number) == _YEAR_CHARS]
    days = [number for number in numbers if len(number) < _YEAR_CHARS]
    return (int(years[0]), month, int(days[0])) if len(years) == len(days) == 1 else None


def _numeric(numbers: list[str], *, day_first: bool) -> tuple[int, int, int] | None:
    if len(numbers) != 3 or any(len(number) > _YEAR_CHARS for number in numbers):  # noqa: PLR2004 - year, month, day
        return None
    first, second, third = (int(number) for number in numbers)
    if len(numbers[0]) == _YEAR_CHARS:
        return first, second, third
    if len(numbers[2]) != _YEAR_CHARS:
        return None
    if first > 12 or (day_first and second <= 12):  # noqa: PLR2004 - months
        return third, second, first
    return third, first, second


class Clock:
    """Puts local times into the zone a person named, or into UTC with the label that says it was assumed.

    Raises `PermanentSourceError` when there is no such zone. `unknown` collects abbreviations that were not understood.
    """

    def __init__(self, zone: str | None) -> None:
        self._zone: tzinfo | None = _zone(zone) if zone else None
        self.unknown: dict[str, int] = {}

    def place(self, local: LocalTime) -> tuple[str, list[str]]:
        """Give ISO text with an offset, and the labels it needs."""
        offset = _offset(local.zone)
        if offset is None and local.zone:
            self.unknown[local.zone] = self.unknown.get(local.zone, 0) + 1
        known = offset or self._zone
        iso = local.clock.replace(tzinfo=known or UTC).isoformat()
        return iso, [] if known else [ASSUMED_LABEL]

    def place_text(self, raw: str) -> tuple[str, list[str]]:
        """Do the same for ISO text, which may have an offset; any other text is given back as it is."""
        try:
            parsed = datetime.fromisoformat(raw.strip())
        except ValueError:
            return raw, []
        return (raw, []) if parsed.tzinfo else self.place(LocalTime(parsed, ""))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError; a folder's name gives an OSError
        raise PermanentSourceError(f"there is no time zone {name!r}; use a name such as Europe/Berlin") from None


def _offset(zone: str) -> timezone | None:
    hours = _ZONES.get(zone.upper())
    if hours is not None:
        return timezone(timedelta(hours=hours))
    match = _OFFSET.fullmatch(zone)
    if not match:
        return None
    span = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    if span >= timedelta(days=1):
        return None
    return timezone(-span if match[1] != "+" else span)
