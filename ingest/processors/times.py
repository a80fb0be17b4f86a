"""The one home of time parsing: any provider's time value becomes UTC ISO 8601 text with milliseconds.

Source: case E16 of the session formats; `Date.prototype.toISOString` has exactly three decimals and `Z`.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

EPOCH_ISO: Final = "1970-01-01T00:00:00.000Z"

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - all arithmetic is in naive UTC, which is twice as fast
_FIRST_MS: Final = -62_135_596_800_000  # 0001-01-01, the first day that datetime knows
_LAST_MS: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999

_HOUR_MS: Final = 3_600_000
_MILLISECOND: Final = timedelta(milliseconds=1)

MILLISECONDS_FROM: Final = 10**11
"""A number from here on is milliseconds: as seconds it would be the year 5138, as milliseconds it is 1973."""

_NO_TIME: Final = (0, -1)
"""Numbers by which programs say that there is no time, as Telegram's date 0 of messages it cannot show."""

_EXACT_LENGTH: Final = len(EPOCH_ISO)

_ISO: Final = re.compile(
    r"(\d{4})(-?)(\d\d)\2(\d\d)"
    r"(?:(?:[Tt]|[ \u00a0]+)(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?"
    r"[ \u00a0]*(Z|z|UTC|GMT|(?:[+\-\u2212]\d\d(?::?\d\d)?))?)?",
    re.ASCII,
)
_DIGITS: Final = re.compile(r"(-?)(\d{9,17})(?:\.(\d{1,30}))?", re.ASCII)
"""Numbers written as text, such as Telegram's `date_unixtime` and Slack's `ts`; eight digits are a calendar day."""

_LAST_HOUR: Final = 23
_LAST_MINUTE: Final = 59
_LEAP_SECOND: Final = 60


def to_iso(raw: object) -> str | None:
    """Give a provider's time value as `YYYY-MM-DDTHH:MM:SS.mmmZ`, or None when it is no usable time.

    Text is ISO 8601 (date alone means midnight, no offset means UTC, fractions are cut to milliseconds) or a number of
    at least nine digits. Numbers are milliseconds from `MILLISECONDS_FROM` on, else seconds; 0 and -1 mean no time.
    Week dates, ordinal dates and everything outside the years 1 to 9999 give None. What it gives, it gives again.
    """
    if type(raw) is float and 0.0 < raw < MILLISECONDS_FROM:  # seconds, as nearly all numbers are
        return _from_ms(round(raw * 1_000_000) // 1000)  # `_exact_ms`, without another call
    if isinstance(raw, str):
        return _from_exact(raw) or _from_text(raw.strip())
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return _from_number(raw)


def first_iso(raws: Iterable[object]) -> str | None:
    """Give the first of several time values that is usable, as `to_iso` writes it."""
    for raw in raws:
        if iso := to_iso(raw):
            return iso
    return None


def to_ms(iso: str) -> int:
    """Milliseconds since 1970 of what `to_iso` gave; negative before."""
    within = _MS_OF_SECONDS.get(iso[14:19])
    if within is None or len(iso) != _EXACT_LENGTH:  # none of ours: a whole day, or a leap second
        return (datetime.fromisoformat(iso[:-1]) - _EPOCH) // _MILLISECOND
    return _hour_ms(iso[:13]) + within + int(iso[20:23])


def from_ms(milliseconds: int) -> str:
    """ISO text of milliseconds since 1970; out of range gives the nearest day that can be written."""
    return _from_ms(min(max(milliseconds, _FIRST_MS), _LAST_MS))


def _from_ms(milliseconds: int) -> str:
    hours, rest = divmod(milliseconds, _HOUR_MS)
    return f"{_hour(hours)}{_SECONDS[rest // 1000]}{_MILLISECONDS[rest % 1000]}"


_SECONDS: Final = [f"{minute:02d}:{second:02d}" for minute in range(60) for second in range(60)]
_MILLISECONDS: Final = [
    f".{millisecond:03d}Z" for millisecond in range(1000)
]  # tables: a third of what formatting costs


_MS_OF_SECONDS: Final = {text: 1000 * second for second, text in enumerate(_SECONDS)}


@lru_cache(maxsize=256)
def _hour_ms(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND


@lru_cache(maxsize=256)  # conversations stay within an hour for long: a fifth of what isoformat costs
def _hour(hours: int) -> str:
    return (_EPOCH + timedelta(hours=hours)).isoformat(timespec="hours") + ":"


def _from_exact(raw: str) -> str | None:
    # Nearly every text has this form already, up to digits behind the milliseconds; what fromisoformat would forgive is
    # told apart by the separators.
    if len(raw) < _EXACT_LENGTH or raw[-1] != "Z" or raw[4:11:3] != "--T" or raw[13:20:3] != "::.":
        return None
    exact = raw if len(raw) == _EXACT_LENGTH else f"{raw[: _EXACT_LENGTH - 1]}Z"
    if exact is not raw and not (raw.isascii() and raw[_EXACT_LENGTH - 1 : -1].isdigit()):
        return None
    try:
        datetime.fromisoformat(exact)
    except ValueError:
        return None
    return exact


def _from_text(text: str) -> str | None:
    number = _DIGITS.fullmatch(text)
    if number:
        return _from_digits(number[1], number[2], number[3] or "")
    match = _ISO.fullmatch(text)
    if not match:
        return None
    year, _, month, day, hour, minute, second, fraction, offset = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day))  # noqa: DTZ001 - naive UTC, see _EPOCH
        moment += _time_of_day(int(hour or 0), int(minute or 0), int(second or 0), fraction or "")
        moment -= _offset(offset)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat(timespec="milliseconds") + "Z"


def _time_of_day(hour: int, minute: int, second: int, fraction: str) -> timedelta:
    """Raises ValueError; 24:00:00 and a leap second are the first moment after them."""
    span = timedelta(hours=hour, minutes=minute, seconds=second, milliseconds=int(fraction[:3].ljust(3, "0")))
    if minute > _LAST_MINUTE or second > _LEAP_SECOND or (hour > _LAST_HOUR and span != timedelta(days=1)):
        raise ValueError("no time of day")
    return span


def _offset(text: str | None) -> timedelta:
    """Raises ValueError; an offset is less than a day."""
    if text is None or text[0] in "ZzUG":
        return timedelta()
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > _LAST_HOUR or minutes > _LAST_MINUTE:
        raise ValueError("no offset")
    span = timedelta(hours=hours, minutes=minutes)
    return span if text[0] == "+" else -span


def _from_digits(sign: str, whole: str, fraction: str) -> str | None:
    # Exact arithmetic: a float of Slack's `seconds.microseconds` would lose digits.
    number = int(whole)
    if number < MILLISECONDS_FROM:
        number = number * 1000 + int(fraction[:3].ljust(3, "0"))
    return _from_exact_ms(-number if sign else number)


def _from_number(number: float) -> str | None:
    # Comparing first keeps NaN, infinities and integers of any size out of the arithmetic.
    if number in _NO_TIME or not _FIRST_MS <= number <= _LAST_MS:
        return None
    if not -MILLISECONDS_FROM < number < MILLISECONDS_FROM:
        return _from_exact_ms(int(number // 1))
    return _from_exact_ms(_exact_ms(number))


def _exact_ms(seconds: float) -> int:
    # Rounding to microseconds first undoes the error of a binary fraction: 0.123 s is 123 ms, not 122.
    return round(seconds * 1_000_000) // 1000


def _from_exact_ms(milliseconds: int) -> str | None:
    return _from_ms(milliseconds) if _FIRST_MS <= milliseconds <= _LAST_MS else None
