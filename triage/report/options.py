"""The options of a report, with the origin's forgiving numbers.

Source: formats/session-triage-origin.md 1.2. A number that is missing, no number, zero, negative or infinite is the
default; fractions are fine.
"""

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ingest.settings import Settings

DEFAULT_DAYS: Final = 1
DEFAULT_LIMIT: Final = 8
DEFAULT_TAIL_LINES: Final = 160
DEFAULT_WINDOW: Final = 1

MAX_DAYS: Final = 36_600
"""A century: before any conversation that a file can hold, and no overflow on the way."""

MAX_LINES: Final = 10_000_000
"""No session file has as many lines; a larger budget means the same."""

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class SharedLog:
    """The daemon's log where it is on Kafka: what opens it, and where that is in words for people."""

    settings: "Settings"
    where: str


@dataclass(frozen=True, slots=True)
class Options:
    """What to read and how much of it; every value is usable as it is."""

    workspace: Path
    days: float = DEFAULT_DAYS
    limit: float = DEFAULT_LIMIT
    tail_lines: float = DEFAULT_TAIL_LINES
    window: float = DEFAULT_WINDOW
    expand: bool = False
    events: tuple[Path, ...] = ()
    log: Path | SharedLog | None = None
    ideas: tuple[Path, ...] = ()
    summary_store: Path | None = None
    global_fallback: bool = False

    def since(self, now: datetime) -> datetime:
        """Give the begin of the time that the report looks at."""
        return now - timedelta(days=min(self.days, MAX_DAYS))

    @property
    def effective_window(self) -> float:
        """The window after `--expand`: at least 1, with it at least 2."""
        return max(1, max(2, self.window) if self.expand else self.window)

    @property
    def line_budget(self) -> int:
        """Lines to read of the end of each session file."""
        lines = max(1, math.floor(min(self.tail_lines, MAX_LINES)))
        return math.floor(min(lines * min(self.effective_window, MAX_LINES), MAX_LINES))

    @property
    def file_limit(self) -> int:
        """Session files to read; a fraction below 1 reads none, as a slice in the origin does."""
        return min(MAX_LINES, math.floor(self.limit))


def positive(raw: str | None, default: float) -> float:
    """Give a number above 0, or the default for everything else; whole numbers come as `int`."""
    if raw is None or not _NUMBER.fullmatch(text := raw.strip()):
        return default
    number = float(text)
    if not math.isfinite(number) or number <= 0:
        return default
    return int(number) if number.is_integer() and number < MAX_LINES else number
