"""Small parts that the sections of the text report share."""

from collections.abc import Iterator
from typing import Final

from ingest.processors.times import to_iso, to_ms
from triage.report.ages import age
from triage.report.layout import Line, Span
from triage.report.words import one_line

SHORT_ID: Final = 14
"""Characters of an id that are shown: enough to find it in the JSON, and to tell it from others."""


def heading(title: str, count: int | None = None) -> Iterator[Line]:
    """Give an empty line and a heading."""
    yield ()
    yield (Span(title, "heading"), Span(f"  {count:,}" if count else "", "dim"))


def more(hidden: int) -> Iterator[Line]:
    """Say how many were left out, and where they are."""
    if hidden > 0:
        yield (Span(f"    … and {hidden:,} more, all of them in --json", "dim"),)


def ago(iso: str | None, now_ms: int) -> str:
    """Say how long ago a time was; nothing when nobody knows."""
    exact = to_iso(iso) if iso else None
    if exact is None:
        return ""
    said = age((now_ms - to_ms(exact)) / 1000)
    return said if said == "now" else f"{said} ago"


def clock(iso: str | None) -> str:
    """Say a time to the minute, UTC; nothing when nobody knows."""
    return f"{iso[:10]} {iso[11:16]} UTC" if iso else ""


def place_name(workspace: str | None, title: str | None) -> str:
    """Say where a conversation is, for a person: its title, else the last part of its workspace."""
    name = one_line(title or "")
    if name:
        return name
    return one_line(workspace or "").rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def short_id(identifier: str) -> str:
    """Shorten the id of a thread or an event; one that is little longer stays whole."""
    line = one_line(identifier)
    return line if len(line) <= SHORT_ID + 6 else line[: SHORT_ID - 1] + "…"
