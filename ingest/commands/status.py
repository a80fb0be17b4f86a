"""`session-ingest status`: a table for people, JSON for scripts."""

import sys

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ingest.log.contract import LogError, Topic
from ingest.settings import Settings
from ingest.sources import places_of
from ingest.status import SourceView, Status, gather
from ingest.status_log import LogView, ProcessorView

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_KIB = 1024
_MANY = 10_000_000


def show_status(settings: Settings, console: Console, *, as_json: bool = False) -> int:
    """Print the status; gives the exit status: 1 when there is no log that can be read, which is said."""
    try:
        status = gather(settings, places_of(settings))
    except LogError as error:
        sys.stderr.write(f"session-ingest: {error}\n")
        return 1
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(status), indent=2).decode() + "\n")
    else:
        render(status, console)
    return 1 if status.log.problem else 0


def render(status: Status, console: Console) -> None:
    """Print the tables, within the width of the console."""
    console.print(Text(_daemon(status)), soft_wrap=True)
    for reason in status.daemon.reasons:
        console.print(Text(f"  not ready: {reason}"), soft_wrap=True)
    for warning in status.warnings:
        console.print(Text(f"  warning: {warning}"), soft_wrap=True)
    events = status.log.records.get(Topic.EVENTS, 0)
    console.print(Text(_log(status.log, events)), soft_wrap=True)
    console.print(Text(f"  {status.log.path}"), soft_wrap=True)
    console.print()
    console.print(_sources(status.sources))
    for source in status.sources:
        if source.last_error:
            console.print(Text(f"{source.name}: last error: {source.last_error}"), soft_wrap=True)
    console.print()
    console.print(_processors(status.processors))
    if status.processors_run is False and any(view.lag for view in status.processors):
        console.print("Nobody runs the processors now: start session-ingest run to work off what waits.")


def _daemon(status: Status) -> str:
    daemon = status.daemon
    if not daemon.running:
        return "daemon not running; start it with session-ingest run"
    answers = {True: "ready", False: "not ready", None: "does not answer over HTTP"}[daemon.ready]
    return f"daemon running: process {daemon.pid}, since {daemon.since}, {answers}"


def _log(log: LogView, events: int) -> str:
    if log.problem:
        return f"log: cannot be read: {log.problem}"
    size = "" if log.size_bytes is None else f"{_size(log.size_bytes)}, "
    return f"log: {size}{'' if log.exact else 'at most '}{events:,} canonical events"


def _sources(sources: list[SourceView]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("source", max_width=18, overflow="ellipsis", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for name in ("last event", "checkpoint", "seen", "events", "bad"):
        table.add_column(name, justify="right", no_wrap=True)
    for source in sources:
        counts = source.counts
        table.add_row(
            Text(source.name),
            source.state or "-",
            age(source.last_event_age_seconds),
            age(source.checkpoint_age_seconds),
            *(_count(counts.get(name, 0)) for name in ("seen", "emitted", "rejected")),
        )
    return table


def _processors(processors: list[ProcessorView]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("processor", max_width=16, overflow="ellipsis", no_wrap=True)
    table.add_column("reads", max_width=25, overflow="ellipsis", no_wrap=True)
    for name in ("lag", "oldest", "out", "bad"):
        table.add_column(name, justify="right", no_wrap=True)
    for view in processors:
        oldest = age(view.lag_seconds, "") if view.lag else "-"
        # What nobody counted here is unknown, not none: workers on Kafka count in their metrics.
        counts = (_count(view.counts.get(name, 0)) if view.counts else "-" for name in ("emitted", "rejected"))
        table.add_row(Text(view.name), view.topic, _count(view.lag), oldest, *counts)
    return table


def age(seconds: float | None, suffix: str = " ago") -> str:
    """A span for people, in its largest unit."""
    if seconds is None:
        return "-"
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}{suffix}"
    return f"{seconds:.0f} s{suffix}"


def _count(number: int) -> str:
    """A number in at most nine characters; JSON has every digit."""
    return f"{number:,}" if number < _MANY else f"{number / 1_000_000:.1f} M"


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _KIB:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIB
    return f"{size:.1f} TiB"
