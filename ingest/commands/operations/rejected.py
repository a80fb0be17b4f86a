"""`session-ingest rejected list` and `show`: what could not be read or processed, and why."""

import sys
from collections import Counter, deque

import msgspec
from rich.console import Console

from ingest.commands.operations.places import parse_place
from ingest.commands.operations.rejected_view import Entry, Listing, entry_of, render, render_one
from ingest.export_selection import SelectionError
from ingest.log.contract import EventLog, Topic
from ingest.log.open import open_log
from ingest.rejections import Choice, Rejection, rejection_at, rejections
from ingest.settings import Settings


def list_rejected(settings: Settings, choice: Choice, limit: int, console: Console, *, as_json: bool) -> None:
    """Print the last `limit` rejections that are wanted, and how many there are by reason. Raises `LogError`."""
    with open_log(settings, read_only=True) as log:
        partitions = log.partitions(Topic.REJECTED)
        reasons, last = Counter[tuple[str, str]](), deque[Entry](maxlen=limit)
        for rejection in rejections(log, choice):
            reasons[rejection.bad.stage, rejection.bad.reason] += 1
            last.append(entry_of(rejection, partitions))
    listing = Listing.of(reasons, list(last))
    if as_json:
        _write(listing)
    else:
        render(listing, console)


def show_rejected(settings: Settings, place: str, console: Console, *, as_json: bool) -> None:
    """Print one rejection with the bytes that are kept of it; raises `SelectionError` and `LogError`."""
    with open_log(settings, read_only=True) as log:
        rejection = rejection_named(log, place)
        entry = entry_of(rejection, log.partitions(Topic.REJECTED), sample=True)
    if as_json:
        _write(entry)
    else:
        render_one(entry, console)


def rejection_named(log: EventLog, place: str) -> Rejection:
    """Give the rejection at `OFFSET` or `OFFSET:PARTITION`; raises `SelectionError`, also when there is none."""
    partition, offset = parse_place("rejected", place, log.partitions(Topic.REJECTED))
    if found := rejection_at(log, partition, offset):
        return found
    raise SelectionError(f"rejected {place}: nothing was rejected there; session-ingest rejected list shows the places")


def _write(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
