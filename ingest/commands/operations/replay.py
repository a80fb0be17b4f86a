"""`session-ingest replay`: captured records go through the processors once more, which mends what they got wrong."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ingest.commands.operations.places import start_of
from ingest.commands.process import open_existing_log, process_appended
from ingest.export_selection import Selection
from ingest.log.contract import EventLog, Topic
from ingest.log.walk import Offsets, ends
from ingest.replay import Replayed, replay
from ingest.settings import Settings
from schemas.captured import Thread
from schemas.keys import account_name, provider_name

_SHOWN_EVERY: Final = 100
"""Records between two looks of the progress bar."""

_PASSED: Final = {
    "replays": "{} copies of earlier replays",
    "other": "{} of others",
    "repeated": "{} whose events are in another one of the same moment",
    "unreadable": "{} that are no captured records",
}


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What a person asked for on the command line."""

    start: str
    selection: Selection
    dry_run: bool


class Told(msgspec.Struct, rename="camel"):
    """What `--json` prints."""

    dry_run: bool
    records: int
    events: int
    bytes: int
    passed_over: dict[str, int]
    processed: bool
    """Whether the processors have worked it off by now."""


def run_replay(request: ReplayRequest, settings: Settings, console: Console) -> Told:
    """Replay, and tell people on `console`.

    Raises `ingest.export_selection.SelectionError` and `ingest.log.contract.LogError`.
    """
    with open_existing_log(settings, read_only=request.dry_run) as log:
        after = start_of(log, Topic.CAPTURED, "--from", request.start)
        with _progress(log, after, console) as on_progress:
            result = replay(log, after, _wanted(request.selection), dry_run=request.dry_run, on_progress=on_progress)
        console.print(_words(result, dry_run=request.dry_run), soft_wrap=True)
        processed = False
        if result.records and not request.dry_run:
            processed = process_appended(log, settings, console, "what was appended")
    return Told(request.dry_run, result.records, result.events, result.bytes, dict(result.passed), processed)


def _wanted(selection: Selection) -> Callable[[Thread], bool]:
    return lambda thread: selection.wants_account(provider_name(thread.provider), account_name(thread.account))


def _words(result: Replayed, *, dry_run: bool) -> str:
    done = "would be appended" if dry_run else "were appended"
    words = f"{result.records:,} captured records with {result.events:,} events ({result.bytes:,} bytes) {done} again"
    passed = [_PASSED[reason].format(f"{count:,}") for reason, count in sorted(result.passed.items())]
    return f"{words}; passed over: {', '.join(passed)}" if passed else words


@contextmanager
def _progress(log: EventLog, after: Offsets, console: Console) -> Iterator[Callable[[int], None]]:
    """Show a bar over all records, on a terminal only."""
    if not console.is_terminal:
        yield lambda _: None
        return
    total = sum(max(0, end - after.get(partition, 0)) for partition, end in ends(log, Topic.CAPTURED).items())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("captured records", total=total)

        def show(count: int) -> None:
            if count % _SHOWN_EVERY == 0:
                bar.update(task, completed=count)

        yield show
