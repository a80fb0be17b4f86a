"""Records that a topic would refuse as too large are cut or split by the rule of what they hold: never lost.

The topics of this project take whatever it writes; this is for brokers whose limit somebody set lower. An event's text
is cut and labelled `truncated`; a captured record is parted into several, in order; of a rejected element the sample
and the words are cut. What cannot be cut is refused with its name.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from ingest.log.contract import LogError, NewRecord, Topic
from ingest.processors.size import cut_captured, fit
from schemas.captured import RejectedRecord, decode_record, encode_record
from schemas.event import decode

_rejected: Final = msgspec.json.Decoder(RejectedRecord)

_ROOM_FOR_REST: Final = 512
"""Of a rejected record, what is left for member names, times and numbers."""

_FRAMING_BYTES: Final = 1024
"""What Kafka adds to a record at most: header of its batch (61), lengths, our headers. Source: Kafka, record format."""

_GROWTH: Final = 0.99
"""Bytes that do not compress grow by a few in a thousand when they are compressed."""


def room_for_record(max_message_bytes: int) -> int:
    """Bytes that key and value of one record may have where a topic takes so many at once."""
    return round(max_message_bytes * _GROWTH) - _FRAMING_BYTES


def fit_record(record: NewRecord, room: int) -> list[NewRecord]:
    """Give the record, or what takes its place, with at most `room` bytes of key and value each; raises `LogError`."""
    limit = room - len(record.key.encode())
    if len(record.value) <= limit:
        return [record]
    try:
        fitted = [NewRecord(record.topic, record.key, value) for value in _RULES[record.topic](record.value, limit)]
    except (ValueError, msgspec.MsgspecError):  # nothing that its rule could cut
        fitted = []
    if not fitted or any(len(each.value) > limit for each in fitted):
        raise LogError(
            f"a record of {record.topic} with {len(record.value)} bytes does not fit the topic, which takes {room};"
            " raise its max.message.bytes"
        )
    return fitted


def _fit_event(value: bytes, limit: int) -> Iterator[bytes]:
    yield msgspec.json.encode(fit(decode(value), limit))


def _fit_rejected(value: bytes, limit: int) -> Iterator[bytes]:
    record = _rejected.decode(value)
    room = max(0, limit - _ROOM_FOR_REST) // 8
    # A character of text takes six bytes at most in JSON, four bytes of Base64 hold three of the sample.
    yield encode_record(
        msgspec.structs.replace(
            record,
            where=record.where[: max(1, room // 6)],
            reason=record.reason[: max(1, room // 6)],
            detail=record.detail[: room // 6],
            sample=record.sample[: room * 3],
        )
    )


def _split_captured(value: bytes, limit: int) -> Iterator[bytes]:
    """Halve a record until each part fits; an event that is too large by itself is cut."""
    record = decode_record(value)
    encoded = encode_record(record)
    if len(encoded) <= limit:
        yield encoded
    elif len(record.events) == 1:
        frame = len(encoded) - len(msgspec.json.encode(record.events[0]))
        event = cut_captured(record.events[0], max(0, limit - frame))
        yield encode_record(msgspec.structs.replace(record, events=[event]))
    else:
        middle = len(record.events) // 2
        for part in (record.events[:middle], record.events[middle:]):
            yield from _split_captured(encode_record(msgspec.structs.replace(record, events=part)), limit)


_RULES: Final[dict[Topic, Callable[[bytes, int], Iterator[bytes]]]] = {
    **dict.fromkeys(Topic, _fit_event),
    Topic.CAPTURED: _split_captured,
    Topic.REJECTED: _fit_rejected,
}
