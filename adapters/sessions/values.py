"""Values of session files that may serve as names and times; a file may hold anything in their place."""

from typing import Final

from schemas.captured import RawTime

MAX_NAME_CHARS: Final = 200
"""Longest id, tool name or model taken from a file, the bound of an event's id; real ones have at most 64."""

MAX_TIME_CHARS: Final = 64
"""Longest time text passed on; RFC 3339 with nanoseconds and an offset has 35."""

MAX_TIME_NUMBER: Final = 1 << 62
"""Larger numbers are no time in any unit, and would not fit what records are encoded with."""


def name(value: object) -> str | None:
    """Give a text that may serve as an id or a name, or None."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_NAME_CHARS else None


def raw_time(value: object) -> RawTime | None:
    """Give what may be a time and can be written into a record, or None."""
    if isinstance(value, str):
        return value if 0 < len(value) <= MAX_TIME_CHARS else None
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_TIME_NUMBER:
        return value  # NaN and infinities are not smaller
    return None


def blank(text: str) -> bool:
    """Whether a text has no words."""
    return not text or text.isspace()
