"""Packs what an adapter gives into log records: the one home of how elements become records of a topic.

Consecutive events of one thread share a record, bounded in bytes; a rejected element becomes a record of
`conversations.rejected`; everything is counted, so that seen = emitted + empty + hidden + duplicate + rejected. Pure:
live capture and import use it alike, and therefore agree.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import msgspec

from adapters.contract import MAX_SAMPLE_BYTES, Element, Heard, Rejected, Skipped, Warned
from ingest.log.contract import NewRecord, SourceProgress, Topic
from ingest.processors.size import cut_captured
from ingest.processors.times import first_iso
from schemas.captured import (
    MAX_RECORD_BYTES,
    CapturedEvent,
    CapturedRecord,
    RawTime,
    RejectedRecord,
    Thread,
    encode_record,
)
from schemas.keys import account_name, provider_account_key, provider_name, thread_key

UNENCODABLE: Final = "not-encodable"
TOO_LARGE: Final = "event-too-large"
REJECTED_PREFIX: Final = "rejected:"
"""Counts by reason stand under this prefix beside the sum `rejected`."""
UNKNOWN: Final = "unknown"
"""Count of those among the passed over that this version does not know: the measure of a change of format."""

_encode = msgspec.json.Encoder().encode


class Packer:
    """Turns a stream of elements of one source into records, holding at most one record's events."""

    def __init__(self, source: str, now_iso: Callable[[], str]) -> None:
        self._source = source
        self._now_iso = now_iso
        self._thread: Thread | None = None
        self._events: list[msgspec.Raw] = []
        self._times: list[Sequence[RawTime]] = []
        self._nearby: tuple[RawTime, ...] = ()
        self._before: tuple[str, ...] = ()
        """The last time in the thread's earlier records: what an event without one takes must not depend on bounds."""
        self._resumed: tuple[Thread | None, tuple[str, ...]] = (None, ())
        self._size = 0
        self.counts: Counter[str] = Counter()
        """Of what was fed: `seen`, its five parts, and `rejected:REASON`; events count once their record is given."""
        self.last_event_iso: str | None = None
        """When the last record of events was complete, by the injected clock."""
        self.warnings: list[Warned] = []

    def feed(self, element: Element) -> Sequence[NewRecord]:
        """Take one element; gives the records that are complete now, in order."""
        if isinstance(element, Heard):  # asked first, and without a generator: this is the hot path
            return self._hear(element)
        if isinstance(element, Rejected):
            return (self._reject(element),)
        if isinstance(element, Skipped):
            if element.unknown:
                self.counts[UNKNOWN] += element.count
            self.counts[element.outcome] += element.count
            self.counts["seen"] += element.count
        else:
            self.warnings.append(element)
        return ()

    def resume(self, thread: Thread, before: tuple[str, ...]) -> None:
        """Expect the rest of a thread whose earlier events went another way; `before` is their last time, if any."""
        self._resumed = (thread, before)

    def flush(self) -> Sequence[NewRecord]:
        """Give the record that is still open, if any."""
        if self._thread is None or not self._events:
            return ()
        now = self.last_event_iso = self._now_iso()
        record = CapturedRecord(
            thread=self._thread,
            # Events were encoded once to know their exact size; msgspec embeds Raw as it stands.
            events=cast("list[CapturedEvent]", self._events),
            nearby_times=_usable(self._nearby),
            captured_at=now,
        )
        self.counts["seen"] += len(self._events)
        self.counts["emitted"] += len(self._events)
        self._before = last_time(self._times) or self._before
        self._events, self._times = [], []
        self._size = 0
        return (NewRecord(Topic.CAPTURED, key_of(self._thread), encode_record(record)),)

    def _hear(self, heard: Heard) -> Sequence[NewRecord]:
        encoded = _encode_event(heard.event)
        complete: Sequence[NewRecord] = ()
        if heard.thread is not self._thread and not isinstance(encoded, Rejected):
            complete = self.flush()
            encoded = _unencodable_thread(heard) or encoded
        if isinstance(encoded, Rejected):
            return (*complete, self._reject(encoded))
        if heard.thread is not self._thread:
            resumed, before = self._resumed
            self._thread, self._before = heard.thread, before if resumed is heard.thread else ()
        if self._size + len(encoded) > MAX_RECORD_BYTES:
            complete = (*complete, *self.flush())
        if not self._events:
            self._nearby = (*self._before, *heard.nearby)
        self._events.append(msgspec.Raw(encoded))
        self._times.append(heard.event.times)
        self._size += len(encoded) + 1
        return complete

    def _reject(self, rejected: Rejected) -> NewRecord:
        self.counts["seen"] += 1
        self.counts["rejected"] += 1
        self.counts[REJECTED_PREFIX + rejected.reason] += 1
        record = RejectedRecord(
            source=self._source,
            where=_printable(rejected.where) or self._source,
            reason=rejected.reason,
            detail=_printable(rejected.detail),
            sample=rejected.sample[:MAX_SAMPLE_BYTES],
            size_bytes=rejected.size_bytes or len(rejected.sample),
            rejected_at=self._now_iso(),
        )
        return NewRecord(Topic.REJECTED, self._source, encode_record(record))


def last_time(times: Sequence[Sequence[RawTime]]) -> tuple[str, ...]:
    """Give the last usable one of the times of events in order; none where no event has one."""
    found = next(filter(None, map(first_iso, reversed(times))), None)
    return (found,) if found else ()


@dataclass(frozen=True, slots=True)
class Packed:
    """All records of one capture, and what they count."""

    records: Sequence[NewRecord]
    progress: SourceProgress
    warnings: Sequence[Warned] = field(default_factory=list)


def pack(elements: Iterable[Element], source: str, now_iso: Callable[[], str]) -> Packed:
    """Pack the elements of one capture whole."""
    packer = Packer(source, now_iso)
    records: list[NewRecord] = []
    for element in elements:
        records += packer.feed(element)
    records += packer.flush()
    return Packed(records, SourceProgress(dict(packer.counts), packer.last_event_iso), packer.warnings)


def key_of(thread: Thread) -> str:
    """Give the key of a thread's records."""
    provider_key = provider_account_key(provider_name(thread.provider), account_name(thread.account))
    return thread_key(provider_key, thread.thread_id)


def _encode_event(event: CapturedEvent) -> bytes | Rejected:
    """Encode an event within the bound of a record, its text cut if need be; what cannot be encoded is rejected."""
    for time in event.times:
        if type(time) is float and not math.isfinite(time):
            event = msgspec.structs.replace(event, times=_usable(event.times))
            break
    try:
        encoded = _encode(event)
        if len(encoded) > MAX_RECORD_BYTES:
            encoded = _encode(cut_captured(event, MAX_RECORD_BYTES))
    except (TypeError, ValueError) as error:
        return Rejected(f"event {event.id!a}", UNENCODABLE, str(error))
    if len(encoded) > MAX_RECORD_BYTES:
        return Rejected(
            f"event {event.id!a}", TOO_LARGE, "more than its text", encoded[:MAX_SAMPLE_BYTES], len(encoded)
        )
    return encoded


def _unencodable_thread(heard: Heard) -> Rejected | None:
    try:
        _encode((heard.thread, _usable(heard.nearby)))
    except (TypeError, ValueError) as error:
        return Rejected(f"event {heard.event.id!a}", UNENCODABLE, f"its thread: {error}")
    return None


def _usable(times: Iterable[RawTime]) -> list[RawTime]:
    """Without NaN and infinities: JSON has none, and one would make a whole record unreadable."""
    found = [time for time in times if not isinstance(time, float) or math.isfinite(time)]
    return [_printable(time) if isinstance(time, str) else time for time in found]


def _printable(text: str) -> str:
    """Escape what UTF-8 has no bytes for, such as undecodable bytes of a file's name."""
    return text.encode("utf-8", "backslashreplace").decode()
