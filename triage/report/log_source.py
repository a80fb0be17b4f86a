"""Canonical events from the daemon's log, read beside the daemon and without changing anything.

Only the part that can matter is read: the log is in order of appending, and no event is appended before it was said, so
what was appended before the cutoff is passed over by bisection.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import msgspec

from ingest.clock import iso
from ingest.log.contract import EventLog, LogError, Record, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors.roles import UNKNOWN_LABEL
from ingest.processors.times import to_ms
from schemas.captured import RejectedRecord
from schemas.event import decode
from triage.report.gather import Gatherer
from triage.report.model import Problem
from triage.report.reading import rejection
from triage.report.tally import Tally
from triage.report.words import path_text, quote

BATCH_RECORDS: Final = 2000
BATCH_BYTES: Final = 8 * 1024 * 1024
"""One read of the log: enough to be fast, little enough to hold."""

SLACK: Final = timedelta(days=1)
"""Clocks of sources that are ahead, at most by a time zone taken wrongly."""

_rejected: Final = msgspec.json.Decoder(RejectedRecord)


def read_log(gatherer: Gatherer, path: Path) -> None:
    """Read the events and the source summaries of a log from the cutoff on; trouble becomes a problem."""
    name = path_text(path)
    tally = Tally(f"canonical:{Path(name).name}", name, iso(path.stat().st_mtime), by_entry=False, file_format="log")
    source = gatherer.source(tally)
    try:
        log = EmbeddedLog.open(path, read_only=True)
        try:
            _read_events(gatherer, log, source, name)
            _read_rejected(gatherer, log)
        finally:
            log.close()
    except (LogError, OSError) as error:
        gatherer.problem(rejection(name, "unreadable", str(error)))


def offset_before(log: EventLog, topic: Topic, time_ms: int) -> int:
    """Give the offset after which records were appended at `time_ms` or later."""
    low, high = 0, log.end_offset(topic)
    while low < high:
        middle = (low + high) // 2
        found = log.read(topic, middle, 1, 1)
        if found and found[0].time_ms < time_ms:
            low = found[0].offset
        else:
            high = middle
    return low


def _read_events(gatherer: Gatherer, log: EventLog, source: int, name: str) -> None:
    for record in _records(log, Topic.EVENTS, gatherer.cutoff):
        try:
            event = decode(record.value)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            where = f"{name}: {record.topic} {record.offset}"
            gatherer.problem(rejection(where, "invalid-event", str(error), record.value))
            continue
        gatherer.add(event, source, _unknown_role(event.event.labels), obeys_cutoff=True)


def _read_rejected(gatherer: Gatherer, log: EventLog) -> None:
    """Name what the daemon could not read: it has counted that itself, so it is a warning here."""
    for record in _records(log, Topic.REJECTED, gatherer.cutoff):
        try:
            bad = _rejected.decode(record.value)
        except (msgspec.ValidationError, msgspec.DecodeError):
            bad = RejectedRecord(source="log", where=f"{record.topic} {record.offset}", reason="unreadable")
        if bad.rejected_at is None or bad.rejected_at >= gatherer.cutoff:
            detail = quote(f"{bad.source}: {bad.reason} {bad.detail}", 200)
            where = quote(bad.where, 400)
            gatherer.problem(Problem(severity="warning", where=where, reason="rejected-by-daemon", detail=detail))


def _records(log: EventLog, topic: Topic, cutoff: str) -> Iterator[Record]:
    after = offset_before(log, topic, to_ms(cutoff) - SLACK // timedelta(milliseconds=1))
    while batch := log.read(topic, after, BATCH_RECORDS, BATCH_BYTES):
        yield from batch
        after = batch[-1].offset


def _unknown_role(labels: list[str]) -> str | None:
    """Give a word for a role that nobody knows; which one it was is in the captured record only."""
    return "unknown" if UNKNOWN_LABEL in labels else None
