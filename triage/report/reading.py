"""From what a reader gives to what the report takes: the same packing and normalising as in the stream.

An event means the same thing whether it comes from a file or from the log, because the same objects made it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from adapters.contract import Element, Warned
from ingest.clock import now_iso
from ingest.log.contract import NewRecord, Topic
from ingest.packing import Packer
from ingest.processors.normalize import Normalizer
from ingest.processors.roles import UNKNOWN_LABEL
from schemas.captured import CapturedRecord, RejectedRecord, decode_record
from triage.report.gather import Gatherer
from triage.report.model import Problem
from triage.report.words import quote

SAMPLE_CHARS: Final = 80
"""Characters of a bad line that a problem shows: one line of a terminal."""

_normalizer: Final = Normalizer()
_rejected: Final = msgspec.json.Decoder(RejectedRecord)


def take(gatherer: Gatherer, elements: Iterable[Element], source: int, name: str, *, obeys_cutoff: bool) -> None:
    """Read every element of a source into the gatherer; `name` is what problems call the source."""
    packer = Packer(name, now_iso)
    for element in elements:
        for record in packer.feed(element):
            _record(gatherer, record, source, obeys_cutoff=obeys_cutoff)
    for record in packer.flush():
        _record(gatherer, record, source, obeys_cutoff=obeys_cutoff)
    for warned in packer.warnings:
        gatherer.problem(_warning(warned))
    _count(gatherer, packer.counts)
    if obeys_cutoff and packer.counts["empty"] and not packer.counts["emitted"]:
        words = "it holds no words that can be read here; session-ingest import reads other kinds of files"
        gatherer.problem(Problem(severity="warning", where=name, reason="no-events", detail=words))


def _count(gatherer: Gatherer, counts: Mapping[str, int]) -> None:
    """Count what gave no event."""
    for outcome in ("empty", "hidden"):
        gatherer.skipped[outcome] += counts.get(outcome, 0)
    gatherer.duplicates += counts.get("duplicate", 0)


def rejection(where: str, reason: str, detail: str = "", sample: bytes = b"") -> Problem:
    """Name something that could not be read."""
    return Problem(
        severity="rejected",
        where=quote(where, 400),
        reason=reason,
        detail=quote(detail, 200),
        sample=quote(sample[: SAMPLE_CHARS * 8].decode("utf-8", "replace"), SAMPLE_CHARS),
    )


def _record(gatherer: Gatherer, record: NewRecord, source: int, *, obeys_cutoff: bool) -> None:
    if record.topic is Topic.REJECTED:
        bad = _rejected.decode(record.value)
        gatherer.problem(rejection(bad.where, bad.reason, bad.detail, bad.sample))
        return
    captured = decode_record(record.value)
    for event in _normalizer.events(captured):
        if isinstance(event, RejectedRecord):
            gatherer.problem(rejection(event.where, event.reason, event.detail, event.sample))
            continue
        unknown = _role_word(captured, event.event.id) if UNKNOWN_LABEL in event.event.labels else None
        gatherer.add(event, source, unknown, obeys_cutoff=obeys_cutoff)


def _role_word(record: CapturedRecord, identifier: str) -> str:
    word = next((captured.role for captured in record.events if captured.id == identifier), "")
    return quote(word.lower(), 40)


def _warning(warned: Warned) -> Problem:
    return Problem(
        severity="warning", where=quote(warned.where, 400), reason="warning", detail=quote(warned.message, 200)
    )
