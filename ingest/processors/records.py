"""Reading records that may be bad: one bad event costs that event, one bad record that record."""

from typing import Final

import msgspec

from ingest.log.contract import Record
from schemas.captured import (
    CAPTURED_VERSION,
    CapturedEvent,
    CapturedRecord,
    RawTime,
    RejectedRecord,
    Thread,
    decode_record,
)

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
        thread=loose.thread, events=events, nearby_times=loose.nearby_times, captured_at=loose.captured_at
    )
    return captured, bad
