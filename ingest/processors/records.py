"""Reading records that may be bad: one bad event costs that event, one bad record that record.

The one home, too, of how a processor's rejection becomes a record of `conversations.rejected`.
"""

from typing import Final

import msgspec

from ingest.log.contract import NewRecord, Record, Topic
from ingest.processors.times import from_ms
from schemas.captured import (
    CAPTURED_VERSION,
    CapturedEvent,
    CapturedRecord,
    Origin,
    RawTime,
    RejectedRecord,
    Replay,
    Thread,
    decode_record,
    encode_record,
)
from schemas.event import CanonicalEvent, decode

MAX_SAMPLE_BYTES: Final = 64 * 1024
"""As much as adapters keep of what they reject."""

_MAX_DETAIL_CHARS: Final = 500


class _Loose(msgspec.Struct, rename="camel"):
    """A captured record whose events are not looked at yet."""

    thread: Thread
    events: list[msgspec.Raw]
    version: int = CAPTURED_VERSION
    nearby_times: list[RawTime] = []
    captured_at: str | None = None
    replay: Replay | None = None


class MadeEvent(NewRecord, frozen=True, gc=False):
    """An event on its way to `conversations.events`, with what it was made from, for who goes on with it at once."""

    event: CanonicalEvent
    origin: Record


class EventRecord(Record, frozen=True, gc=False, kw_only=True):
    """A record of `conversations.events` whose event need not be decoded: it was made in this process.

    Its offset is none of the log's; `captured` is the record of the log that the event was made from.
    """

    event: CanonicalEvent
    captured: Record


def event_of(record: Record) -> CanonicalEvent:
    """Give the event of a record; raises `ValueError` or `RecursionError` where it holds none."""
    return record.event if isinstance(record, EventRecord) else decode(record.value)


_loose_decoder: Final = msgspec.json.Decoder(_Loose)
_event_decoder: Final = msgspec.json.Decoder(CapturedEvent)


def read_captured(record: Record) -> tuple[CapturedRecord | None, list[RejectedRecord]]:
    """Give the captured record that a log record holds, and its events that are none."""
    try:
        captured = decode_record(record.value)
    except (ValueError, RecursionError):  # msgspec.DecodeError is a ValueError
        return _salvage(record)
    if captured.version > CAPTURED_VERSION:
        return None, [_bad_record(record, "newer-version", ValueError(f"version {captured.version} is not known"))]
    return captured, []


def rejection(source: str, where: str, reason: str, error: Exception, sample: bytes = b"") -> RejectedRecord:
    """Say what a processor could not use; whatever is wrong with the words, the rejection itself can be written."""
    return RejectedRecord(
        source=_writable(source) or "unknown",
        where=_writable(where) or "unknown",
        reason=reason,
        detail=_writable(str(error)),
        sample=sample[:MAX_SAMPLE_BYTES],
        size_bytes=len(sample),
        stage="processing",
    )


def rejected(record: Record, bad: RejectedRecord) -> NewRecord:
    """Give the record of `conversations.rejected` for something of `record`, with its time, and its place in the log.

    A record that is in no log, as while an import reads, has the offset 0.
    """
    bad.rejected_at = from_ms(record.time_ms)
    place = record.captured if isinstance(record, EventRecord) else record
    if place.offset:
        bad.origin = Origin(place.topic, place.offset, place.time_ms, place.partition)
    return NewRecord(Topic.REJECTED, record.key, encode_record(bad))


def _writable(text: str) -> str:
    return text[:_MAX_DETAIL_CHARS].encode("utf-8", "replace").decode()


def _bad_record(record: Record, reason: str, error: Exception) -> RejectedRecord:
    return rejection(record.topic, f"offset {record.offset}", reason, error, record.value)


def _salvage(record: Record) -> tuple[CapturedRecord | None, list[RejectedRecord]]:
    try:
        loose = _loose_decoder.decode(record.value)
    except (ValueError, RecursionError) as error:
        return None, [_bad_record(record, "invalid-record", error)]
    events: list[CapturedEvent] = []
    bad: list[RejectedRecord] = []
    for position, raw in enumerate(loose.events):
        try:
            events.append(_event_decoder.decode(raw))
        except (ValueError, RecursionError) as error:
            where = f"{record.topic} offset {record.offset}: event {position}"
            bad.append(rejection(loose.thread.provider, where, "invalid-event", error, bytes(raw)))
    if not bad:
        return None, [_bad_record(record, "invalid-record", ValueError("not a captured record"))]
    captured = CapturedRecord(
        thread=loose.thread,
        events=events,
        nearby_times=loose.nearby_times,
        captured_at=loose.captured_at,
        replay=loose.replay,
    )
    return captured, bad
