"""How long ago something was, in the shortest words that decide anything."""

from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_HOURS_UNTIL: Final = 48 * _HOUR
"""Up to two days hours say more than days."""


def age(seconds: float) -> str:
    """Say an age: `now`, `5 min`, `3 h`, `4 d`; what lies in the future is `now`."""
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)} min"
    if seconds < _HOURS_UNTIL:
        return f"{int(seconds // _HOUR)} h"
    return f"{int(seconds // _DAY)} d"


def length(days: float) -> str:
    """Say a number of days by itself, as in `older than a day`."""
    return "a day" if days == 1 else span(days)


def span(days: float) -> str:
    """Say a number of days, as in `the last day`, `the last 12 hours`, `the last 7 days`."""
    if days == 1:
        return "day"
    if days < 1:
        hours = days * 24
        return f"{hours:g} hours" if hours >= 1 else f"{max(1, round(hours * 60))} minutes"
    return f"{days:g} days"
