"""Members of untrusted JSON: what they must be to be used, or nothing.

Every function takes any JSON value and raises on none.
"""

import math
from typing import Any, Final

from schemas.captured import RawTime
from schemas.ids import event_id

MAX_ID_CHARS: Final = 200
"""Longest id taken as it is, the bound of an event's id; providers' ids have at most 64. Longer ones are digested."""

_INT64: Final = 2**63

Object = dict[str, Any]


def obj(value: object) -> Object:
    """Give an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def array(value: object) -> list[Any]:
    """Give an array, or an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Object]:
    """Give the objects of an array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """Give a text, or an empty one."""
    return value if isinstance(value, str) else ""


def word(value: object) -> str | None:
    """Give a text with something in it, or None."""
    return value if isinstance(value, str) and value and not value.isspace() else None


def misplaced(value: object) -> bool:
    """Whether something that is no text stands where words should."""
    return value is not None and not isinstance(value, str)


def first_word(*values: object) -> str | None:
    """Give the first text with something in it."""
    return next((found for value in values if (found := word(value))), None)


def identifier(value: object) -> str | None:
    """Give an id: a text, or a number as its digits; one that is too long to be one becomes its digest."""
    if isinstance(value, str):
        found = value.strip()
        return (found or None) if len(found) <= MAX_ID_CHARS else event_id("long-id", found)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _INT64:
        return str(value)
    return None


def number(value: object) -> int | None:
    """Give a whole number that is not negative, for sizes and indexes."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _INT64 else None


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal; what is nested too deeply to compare is not."""
    try:
        return one == other
    except RecursionError:  # the answer only decides whether something is named a copy
        return False


def raw_time(value: object) -> RawTime | None:
    """Give what may be a time; the normaliser decides. MongoDB's `{"$date": {"$numberLong": "…"}}` is opened."""
    if isinstance(value, dict):
        inner = value.get("$date")
        value = inner.get("$numberLong") if isinstance(inner, dict) else inner
    if isinstance(value, str):
        return value if value and not value.isspace() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    usable = math.isfinite(value) if isinstance(value, float) else abs(value) < _INT64
    return value if usable else None


def times(*values: object) -> list[RawTime]:
    """Give the values that may be times, best first."""
    return [found for value in values if (found := raw_time(value)) is not None]
