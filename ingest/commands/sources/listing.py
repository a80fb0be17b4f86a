"""`session-ingest sources list`: every source of the settings, how it is, and where it looks."""

import sys

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ingest.commands.status import age
from ingest.log.contract import LogError
from ingest.settings import Settings
from ingest.sources import sources_of
from ingest.status import SourceView, Status, gather

OFF = "off"
"""The state of a source that is switched off."""


class Listed(Struct, rename="camel"):
    """One source: `state` is `off`, what a running daemon says, or null without one; ages are in seconds."""

    name: str
    enabled: bool
    state: str | None
    places: list[str]
    last_error: str | None = None
    last_event_age_seconds: float | None = None


def show_sources(settings: Settings, console: Console, *, as_json: bool) -> None:
    """Print all sources."""
    listed = listing(settings)
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(listed), indent=2).decode() + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("source", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("last event", justify="right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for source in listed:
        row = (Text(source.name), source.state or "-", age(source.last_event_age_seconds))
        table.add_row(*row, Text("\n".join(source.places)))
    console.print(table)


def listing(settings: Settings) -> list[Listed]:
    """Every source of the settings, in their order."""
    views = views_of(known_status(settings))
    return [_listed(source.name, source.enabled, list(source.places), views) for source in sources_of(settings)]


def known_status(settings: Settings) -> Status | None:
    """What log and daemon know; None before the first start, or while the log cannot be asked."""
    try:
        return gather(settings, {})
    except LogError:
        return None


def views_of(status: Status | None) -> dict[str, SourceView]:
    """What is known of sources, by name."""
    return {view.name: view for view in status.sources} if status else {}


def _listed(name: str, enabled: bool, places: list[str], views: dict[str, SourceView]) -> Listed:
    view = views.get(name, SourceView(name))
    state = view.state if enabled else OFF
    return Listed(name, enabled, state, places, view.last_error, view.last_event_age_seconds)
