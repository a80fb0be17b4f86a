"""The time of now, as records carry it."""

import time
from datetime import UTC, datetime


def now_iso() -> str:
    """The time of now in UTC with milliseconds, as in `2026-01-31T09:30:00.000Z`."""
    return iso(datetime.now(UTC).timestamp())


def now_ms() -> int:
    """The time of now in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def iso(seconds: float) -> str:
    """Unix seconds as the same text."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
