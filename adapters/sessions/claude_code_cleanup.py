"""What Claude Code deletes by itself: at its start, without a word, session files that are older than a setting says.

`cleanupPeriodDays` counts from a file's last change and is 30 unless set; 0 deletes every file at the next start. What
an organisation sets goes before what a user does. Sources: 3.1 of the session formats, the vendor's settings page,
anthropics/claude-code#23710, #90866.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode

from adapters.files.discover import Discovery

DEFAULT_DAYS: Final = 30.0

NOTICE_DAYS: Final = 7.0
"""How long before a deletion it is told: a person looks at a daemon once a week."""

MANAGED: Final = (
    Path("/etc/claude-code/managed-settings.json"),
    Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
)
_MAX_SETTINGS_BYTES: Final = 1024 * 1024
_DAY: Final = 86_400.0


class _Settings(Struct):
    cleanupPeriodDays: float | None = None  # noqa: N815 - the vendor's name


@dataclass(frozen=True, slots=True)
class Expiring:
    """Session files that Claude Code will soon delete: how many, and after how many days the first.

    `first_days` is 0 or less when its next start may delete one; `period_days` is what it is set to.
    """

    files: int
    first_days: float
    period_days: float


def expiring(
    roots: Iterable[Path], read_until: float, now: float, managed: Sequence[Path] = MANAGED
) -> Expiring | None:
    """Find the files changed since `read_until` that will be deleted within `NOTICE_DAYS`; times in Unix seconds.

    Looks at every file below `roots`, and reads none but the agent's settings. None when nothing is in danger.
    """
    found = [each for root in roots if (each := _below(root, read_until, now, managed)) is not None]
    if not found:
        return None
    first = min(found, key=lambda each: each.first_days)
    return Expiring(sum(each.files for each in found), first.first_days, first.period_days)


def kept_days(folder: Path, managed: Sequence[Path] = MANAGED) -> float:
    """How many days after their last change the files of a configuration folder are kept."""
    for path in (*managed, folder / "settings.json"):
        days = _days_in(path)
        if days is not None:
            return days
    return DEFAULT_DAYS


def _below(root: Path, read_until: float, now: float, managed: Sequence[Path]) -> Expiring | None:
    period = kept_days(root.parent, managed)
    changed = [status.st_mtime for status in Discovery([root]).scan().files.values() if status.st_mtime > read_until]
    left = [(mtime - now) / _DAY + period for mtime in changed]
    soon = [days for days in left if days <= NOTICE_DAYS]
    return Expiring(len(soon), min(soon), period) if soon else None


def _days_in(path: Path) -> float | None:
    try:
        with path.open("rb") as stream:
            days = decode(stream.read(_MAX_SETTINGS_BYTES), type=_Settings).cleanupPeriodDays
    except (OSError, DecodeError, ValidationError, RecursionError):
        return None  # none there, or none that the agent could use either
    return days if days is not None and math.isfinite(days) and days >= 0 else None
