"""The two ways of an element to its canonical event: through the log's records, or straight where no log is written.

Both give the same events (a test compares them). The straight way leaves out encoding and decoding what was captured,
a third of an import's time; whatever is unusual in a thread sends all of it the other way.
"""

import time
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from adapters.contract import Element, Heard, Skipped, Warned
from ingest.clock import now_iso
from ingest.import_state import MemoryState
from ingest.log.contract import NewRecord, Record, Topic
from ingest.packing import Packer, key_of
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import MAX_RECORD_BYTES, CapturedEvent, CapturedRecord, RejectedRecord, Thread
from schemas.report import FileReport

SOURCE: Final = "import"
"""The name of imports in `conversations.rejected`."""

_EVENT_BYTES: Final = 1500
_BYTES_PER_CHAR: Final = 4
"""What a captured event may take encoded, about: only far below a record's bound is it certain to share one."""

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
            read = Record(record.topic, 0, record.key, record.value, int(time.time() * 1000))
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
    """Straight to the normaliser, a thread at a time."""

    def __init__(self, sink: Sink, normalize: NormalizeProcessor, report: FileReport) -> None:
        super().__init__(sink, normalize, report)
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
            self.flush()
            self._thread, self._room = element.thread, MAX_RECORD_BYTES
            self._packing = not _is_plain_thread(element.thread)
        if self._packing:
            super().feed(element)
            return
        self._heard.append(element)
        self._room -= _BYTES_PER_CHAR * len(element.event.text) + _EVENT_BYTES
        if self._room < 0 or not _is_plain(element.event):
            self._pack()

    def flush(self) -> None:
        """Take what is still open."""
        if self._packing:
            super().flush()
            self._packing = False
        elif self._heard and self._thread:
            self._normalise(self._thread)

    def _pack(self) -> None:
        """Go the other way with this thread."""
        heard, self._heard, self._packing = self._heard, [], True
        for element in heard:
            super().feed(element)

    def _normalise(self, thread: Thread) -> None:
        heard, self._heard = self._heard, []
        captured = CapturedRecord(
            thread=thread,
            events=[element.event for element in heard],
            nearby_times=list(heard[0].nearby),
            captured_at=now_iso(),
        )
        key = key_of(thread)
        stub = Record(Topic.CAPTURED, 0, key, b"", int(time.time() * 1000))
        outputs = self._normalize.process_captured(captured, stub, self._sink.state)
        self.threads.add(hash(key))
        self._count(outputs)
        self._sink.take(None, outputs)


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
