"""The short way of an import's elements to canonical events, straight to the normaliser, where no log is written.

It gives the events of the other way (`import_lanes`; a test compares them), without encoding and decoding what was
captured, and builds the lines of usual events at once: together two thirds of what normalising costs an import. An
event that decoding might refuse sends the rest of its thread the other way.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, Protocol

import msgspec

from adapters.contract import Element, Heard
from ingest.clock import now_iso, now_ms
from ingest.import_lanes import FIRST_OFFSET, PackedLane, Sink
from ingest.log.contract import Record, Topic
from ingest.packing import key_of, last_time
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.times import first_iso
from ingest.processors.usual_lines import UsualLines
from schemas.captured import MAX_RECORD_BYTES, CapturedEvent, CapturedRecord, Thread
from schemas.event import Attachment
from schemas.report import FileReport

_EVENT_BYTES: Final = 1500
_BYTES_PER_CHAR: Final = 6
"""The most that a captured event takes beside what came with it: JSON escapes a control character by six bytes."""

_ID_CHARS: Final = 36
"""Of a UUID, as `schemas.ids` makes them."""

_MAX_INTEGER: Final = 2**63 - 1
"""Beyond this JSON's decoders do not agree."""


_encode: Final = msgspec.json.Encoder().encode


class LineSink(Sink, Protocol):
    """One that keeps canonical events alone."""

    def write(self, lines: Sequence[bytes]) -> None:
        """Take the lines of events."""
        ...


class StraightLane(PackedLane):
    """Straight to the normaliser, a thread at a time: usual events by `UsualLines`, the others by their drafts."""

    def __init__(self, sink: LineSink, normalize: NormalizeProcessor, report: FileReport) -> None:
        super().__init__(sink, normalize, report)
        self._write = sink.write
        self._first = sink.state.first
        self._thread: Thread | None = None
        self._heard: list[Heard] = []
        self._room = MAX_RECORD_BYTES
        self._before: tuple[str, ...] = ()
        """The last time in the parts of the thread that went this way."""
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
        self._room -= _most_bytes(element.event)
        if self._room < 0:
            self._divide()

    def _begin(self, thread: Thread) -> None:
        self.flush()
        self._thread, self._room, self._before = thread, MAX_RECORD_BYTES, ()
        self._packing = not _is_plain_thread(thread)

    def flush(self) -> None:
        """Take what is still open."""
        if self._heard and self._thread:
            self._normalise(self._thread, [element.event for element in self._heard])
        if self._packing:
            super().flush()
            self._packing = False

    def _divide(self) -> None:
        """Let the heard part of a long thread go ahead, if no event of it may take its time from a later one."""
        times = [element.event.times for element in self._heard]
        if len(times) == 1 or not self._thread or not all(map(first_iso, times[:-1])):
            self._pack()  # it knows where to part a thread, and where to cut a text
            return
        last = self._heard.pop()
        self._normalise(self._thread, [element.event for element in self._heard])
        if self._packing:
            super().feed(last)
            return
        self._before, self._room = last_time(times[:-1]), MAX_RECORD_BYTES
        self.feed(last)

    def _pack(self) -> None:
        """Go the other way with this thread."""
        heard, self._heard, self._packing = self._heard, [], True
        self._packer.resume(heard[0].thread, self._before)
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
            record.nearby_times = [*self._before, *self._heard[0].nearby]
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
        stub = Record(Topic.CAPTURED, FIRST_OFFSET, key_of(record.thread), b"", now_ms())
        outputs = self._normalize.process_captured(record, stub, self._sink.state)
        self._count(outputs)
        return [output.value for output in outputs if output.topic is Topic.EVENTS]


def _most_bytes(event: CapturedEvent) -> int:
    """Give what an event takes encoded at most: a whole record where it cannot be encoded, which is for the packer."""
    size = _BYTES_PER_CHAR * len(event.text) + _EVENT_BYTES
    if event.attachments or event.citations or event.refs:
        try:
            size += len(_encode((event.attachments, event.citations, event.refs)))
        except ValueError:  # half a surrogate pair
            return MAX_RECORD_BYTES + 1
    return size


def _usual_lines(thread: Thread, events: list[CapturedEvent], now: str) -> list[bytes | None]:
    """Give the lines of usual events; none at all where an event lacks a time, which it takes from another."""
    times = [first_iso(event.times) for event in events]
    if None in times:
        return [None] * len(events)
    return UsualLines(thread, now).lines(events, times)  # type: ignore[arg-type]  # none is None


_NAMES_OF: Final = attrgetter(
    "id", "message_id", "parent_message_id", "branch_id", "tool_call_id", "model", "raw_type", "tool_name", "author_id"
)


def _is_plain(event: CapturedEvent) -> bool:
    """Whether decoding would find nothing to refuse, by the type checker's word for members of the usual types."""
    refs = event.refs
    return (
        len(event.id) <= _ID_CHARS
        and "" not in _NAMES_OF(event)
        and "" not in event.labels
        and (refs is None or "" not in (*refs.task_ids, *refs.issue_ids, *refs.run_ids))
        and all(map(_is_plain_attachment, event.attachments))
    )


def _is_plain_attachment(item: Attachment) -> bool:
    return item.kind != "" and (item.size_bytes is None or 0 <= item.size_bytes <= _MAX_INTEGER)


def _is_plain_thread(thread: Thread) -> bool:
    return "" not in (
        thread.provider, thread.thread_id, thread.account, thread.workspace, thread.channel_id, thread.title
    )  # fmt: skip
