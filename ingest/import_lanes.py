"""The way of an import's elements to canonical events through the records of the log, as live capture goes.

Where no log is written there is a shorter one (`import_straight`), which gives the same events.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from adapters.contract import Element, Skipped, Warned
from ingest.clock import now_iso, now_ms
from ingest.import_state import MemoryState
from ingest.log.contract import NewRecord, Record, Topic
from ingest.packing import Packer
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import RejectedRecord
from schemas.report import FileReport

SOURCE: Final = "import"
"""The name of imports in `conversations.rejected`."""

FIRST_OFFSET: Final = 1
"""What is imported into a file stands at no offset of a log; a record must name one."""

_rejected: Final = msgspec.json.Decoder(RejectedRecord)


class Sink(Protocol):
    """Where an import goes: a file of canonical events, or the log."""

    @property
    def state(self) -> MemoryState:
        """What is known already: the normaliser's store."""
        ...

    keeps_captured: bool
    """Whether it writes records of captured events, and not their canonical events alone."""

    def take(self, record: NewRecord | None, outputs: Sequence[NewRecord]) -> None:
        """Take one record, when it was made, with what the normaliser makes of it."""
        ...


class PackedLane:
    """Through the records of the log, as live capture goes."""

    def __init__(self, sink: Sink, normalize: NormalizeProcessor, report: FileReport) -> None:
        self._sink = sink
        self._normalize = normalize
        self._report = report
        self._packer = Packer(SOURCE, now_iso)
        self.threads: set[int] = set()
        """Hashes, not keys: a file may hold a million conversations."""

    def feed(self, element: Element) -> None:
        """Take one element."""
        if isinstance(element, Skipped):
            self._report.skip(element.outcome, element.what, element.count)
        elif isinstance(element, Warned):
            self._report.warn(f"{element.where}: {element.message}")
        else:
            for record in self._packer.feed(element):
                self._take(record)

    def flush(self) -> None:
        """Take what is still open."""
        for record in self._packer.flush():
            self._take(record)

    def _take(self, record: NewRecord) -> None:
        outputs: Sequence[NewRecord] = ()
        if record.topic is Topic.CAPTURED:
            self.threads.add(hash(record.key))
            read = Record(record.topic, FIRST_OFFSET, record.key, record.value, now_ms())
            outputs = self._normalize.process([read], self._sink.state)
        self._count((record, *outputs))
        self._sink.take(record, outputs)

    def _count(self, records: Sequence[NewRecord]) -> None:
        report, counts = self._report, self._normalize.counts()
        report.emit(counts.get("emitted", 0))
        if empty := counts.get("empty", 0):
            report.skip("empty", "no words left", empty)
        if known := counts.get("duplicate", 0):
            report.skip("duplicate", "known event", known)
        for record in records:
            if record.topic is Topic.REJECTED:
                found = _rejected.decode(record.value)
                report.reject(found.where, f"{found.reason}: {found.detail}" if found.detail else found.reason)
