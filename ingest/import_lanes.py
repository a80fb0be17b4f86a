"""The two ways of an element to its canonical event: through the log's records, or straight where no log is written.

Both give the same events (a test compares them). The straight way leaves out encoding and decoding what was captured,
and builds the lines of usual events at once: together two thirds of what normalising costs an import. An event that
decoding might refuse sends its whole thread the other way.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final, Protocol

import msgspec

from adapters.contract import Element, Heard, Skipped, Warned
from ingest.clock import now_iso, now_ms
from ingest.import_state import MemoryState
from ingest.log.contract import NewRecord, Record, Topic
from ingest.packing import Packer, key_of
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.times import first_iso
from ingest.processors.usual_lines import UsualLines
from schemas.captured import MAX_RECORD_BYTES, CapturedEvent, CapturedRecord, RejectedRecord, Thread
from schemas.report import FileReport

SOURCE: Final = "import"
"""The name of imports in `conversations.rejected`."""

_EVENT_BYTES: Final = 1500
_BYTES_PER_CHAR: Final = 4
"""What a captured event may take encoded, about: only far below a record's bound is it certain to share one."""

_FIRST_OFFSET: Final = 1
"""What is imported into a file stands at no offset of a log; a record must name one."""

_ID_CHARS: Final = 36
"""Of a UUID, as `schemas.ids` makes them."""

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


class LineSink(Sink, Protocol):
    """One that keeps canonical events alone."""

    def write(self, lines: Sequence[bytes]) -> None:
        """Take the lines of events."""
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
            read = Record(record.topic, _FIRST_OFFSET, record.key, record.value, now_ms())
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


class StraightLane(PackedLane):
    """Straight to the normaliser, a thread at a time: usual events by `UsualLines`, the others by their drafts."""

    def __init__(self, sink: LineSink, normalize: NormalizeProcessor, report: FileReport) -> None:
        super().__init__(sink, normalize, report)
        self._write = sink.write
        self._first = sink.state.first
        self._thread: Thread | None = None
        self._heard: list[Heard] = []
        self._room = MAX_RECORD_BYTES
        self._packing = False

    def feed(self, element: Element) -> None:
        """Take one element."""
        if type(element) is not Heard:
            super().feed(element)
            return
        if element.thread is not self._thread:
            self._begin(element.thread)
        if self._packing:
            super().feed(element)
            return
        self._heard.append(element)
        self._room -= _BYTES_PER_CHAR * len(element.event.text) + _EVENT_BYTES
        if self._room < 0:
            self._pack()

    def _begin(self, thread: Thread) -> None:
        self.flush()
        self._thread, self._room = thread, MAX_RECORD_BYTES
        self._packing = not _is_plain_thread(thread)

    def flush(self) -> None:
        """Take what is still open."""
        if self._heard and self._thread:
            self._normalise(self._thread, [element.event for element in self._heard])
        if self._packing:
            super().flush()
            self._packing = False

    def _pack(self) -> None:
        """Go the other way with this thread."""
        heard, self._heard, self._packing = self._heard, [], True
        for element in heard:
            super().feed(element)

    def _normalise(self, thread: Thread, events: list[CapturedEvent]) -> None:
        now = now_iso()
        lines = _usual_lines(thread, events, now)
        if None not in lines:
            written = self._new(events, lines)
        elif all(line is not None or _is_plain(event) for event, line in zip(events, lines, strict=True)):
            written = self._mixed(CapturedRecord(thread=thread, events=events, captured_at=now), lines)
        else:
            self._pack()
            return
        self._heard = []
        self.threads.add(hash(key_of(thread)))
        self._write(written)

    def _new(self, events: list[CapturedEvent], lines: list[bytes | None]) -> list[bytes]:
        """Give the lines of events that were not seen before, and count all."""
        first = self._first([event.id for event in events])
        new = [line for line, is_first in zip(lines, first, strict=True) if is_first and line is not None]
        self._report.emit(len(new))
        if known := len(lines) - len(new):
            self._report.skip("duplicate", "known event", known)
        return new

    def _mixed(self, record: CapturedRecord, lines: list[bytes | None]) -> list[bytes]:
        """Give the lines of new events, in order; those without a line go by their drafts."""
        if not any(lines):  # perhaps there are events without a time, which take that of another
            record.nearby_times = list(self._heard[0].nearby)
            return self._drafted(record)
        written: list[bytes] = []
        pairs = zip(record.events, lines, strict=True)
        for usual, run in groupby(pairs, key=lambda pair: pair[1] is not None):
            events, own = map(list, zip(*run, strict=True))
            if usual:
                written += self._new(events, own)
            else:
                written += self._drafted(msgspec.structs.replace(record, events=events))
        return written

    def _drafted(self, record: CapturedRecord) -> list[bytes]:
        stub = Record(Topic.CAPTURED, _FIRST_OFFSET, key_of(record.thread), b"", now_ms())
        outputs = self._normalize.process_captured(record, stub, self._sink.state)
        self._count(outputs)
        return [output.value for output in outputs if output.topic is Topic.EVENTS]


def _usual_lines(thread: Thread, events: list[CapturedEvent], now: str) -> list[bytes | None]:
    """Give the lines of usual events; none at all where an event lacks a time, which it takes from another."""
    times = [first_iso(event.times) for event in events]
    if None in times:
        return [None] * len(events)
    return UsualLines(thread, now).lines(events, times)  # type: ignore[arg-type]  # none is None


def _is_plain(event: CapturedEvent) -> bool:
    """Whether decoding would find nothing to refuse, by the type checker's word for members of the usual types."""
    return (
        len(event.id) <= _ID_CHARS
        and "" not in (
            event.id, event.message_id, event.parent_message_id, event.branch_id, event.tool_call_id, event.model,
            event.raw_type, event.tool_name, event.author_id, *event.labels,
        )
        and not (event.attachments or event.citations or event.refs)
    )  # fmt: skip


def _is_plain_thread(thread: Thread) -> bool:
    return "" not in (
        thread.provider, thread.thread_id, thread.account, thread.workspace, thread.channel_id, thread.title
    )  # fmt: skip
