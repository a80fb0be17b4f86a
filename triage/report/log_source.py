"""Canonical events from the daemon's log, read beside the daemon and without changing anything.

Only the part that can matter is read: the log is in order of appending, and no event is appended before it was said, so
what was appended before the cutoff is passed over by bisection.
"""

import time
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from ingest.clock import iso
from ingest.log.contract import EventLog, LogError, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.open import open_log
from ingest.log.walk import ends, offsets_before, walk
from ingest.mended import Mended, unmarked
from ingest.processors.roles import UNKNOWN_LABEL
from ingest.processors.times import to_ms
from schemas.captured import RejectedRecord
from schemas.event import decode
from triage.report.gather import Gatherer
from triage.report.model import Problem
from triage.report.options import SharedLog
from triage.report.reading import rejection
from triage.report.tally import Tally
from triage.report.words import path_text, quote

SLACK: Final = timedelta(days=1)
"""Clocks of sources that are ahead, at most by a time zone taken wrongly."""

_rejected: Final = msgspec.json.Decoder(RejectedRecord)


def read_log(gatherer: Gatherer, place: Path | SharedLog) -> None:
    """Read the events and the source summaries of a log from the cutoff on; trouble becomes a problem."""
    name = place_text(place)
    file = Path(name).name if isinstance(place, Path) else name
    updated = place.stat().st_mtime if isinstance(place, Path) else time.time()
    source = gatherer.source(Tally(f"canonical:{file}", name, iso(updated), by_entry=False, file_format="log"))
    try:
        with _open(place) as log:
            read_records(gatherer, log, source, name)
    except (LogError, OSError) as error:
        gatherer.problem(rejection(name, "unreadable", str(error)))


def place_text(place: Path | SharedLog) -> str:
    """Give where a log is as text that can be written anywhere."""
    return path_text(place) if isinstance(place, Path) else quote(place.where)


def _open(place: Path | SharedLog) -> EventLog:
    if isinstance(place, Path):
        return EmbeddedLog.open(place, read_only=True)
    return open_log(place.settings, read_only=True)


def read_records(gatherer: Gatherer, log: EventLog, source: int, name: str) -> None:
    """Read the events, and what was rejected, from the cutoff on, of all partitions; raises `LogError`."""
    _read_events(gatherer, log, source, name)
    _read_rejected(gatherer, log)


def _read_events(gatherer: Gatherer, log: EventLog, source: int, name: str) -> None:
    start, end = _start(log, Topic.EVENTS, gatherer.cutoff), ends(log, Topic.EVENTS)
    with Mended(log, start, end) as mended:
        for record in walk(log, Topic.EVENTS, start, end):
            try:
                event = decode(record.value)
            except (msgspec.ValidationError, msgspec.DecodeError) as error:
                where = f"{name}: {record.topic} {record.offset}"
                gatherer.problem(rejection(where, "invalid-event", str(error), record.value))
                continue
            if not mended.outdates(record, event):
                event = unmarked(record, event)[1]
                gatherer.add(event, source, _unknown_role(event.event.labels), obeys_cutoff=True)


def _read_rejected(gatherer: Gatherer, log: EventLog) -> None:
    """Name what the daemon could not read: it has counted that itself, so it is a warning here."""
    for record in walk(log, Topic.REJECTED, _start(log, Topic.REJECTED, gatherer.cutoff)):
        try:
            bad = _rejected.decode(record.value)
        except (msgspec.ValidationError, msgspec.DecodeError):
            bad = RejectedRecord(source="log", where=f"{record.topic} {record.offset}", reason="unreadable")
        if bad.rejected_at is None or bad.rejected_at >= gatherer.cutoff:
            detail = quote(f"{bad.source}: {bad.reason} {bad.detail}", 200)
            where = quote(bad.where, 400)
            gatherer.problem(Problem(severity="warning", where=where, reason="rejected-by-daemon", detail=detail))


def _start(log: EventLog, topic: Topic, cutoff: str) -> dict[int, int]:
    return offsets_before(log, topic, to_ms(cutoff) - SLACK // timedelta(milliseconds=1))


def _unknown_role(labels: list[str]) -> str | None:
    """Give a word for a role that nobody knows; which one it was is in the captured record only."""
    return "unknown" if UNKNOWN_LABEL in labels else None
