"""Captured events: what an adapter hands on, in the provider's own role words and time values.

Internal (topic `conversations.captured`), yet kept: replaying it through the processors mends a wrong role
without importing again. A record holds consecutive events of one thread.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta as Rule
from msgspec import Struct
from msgspec.json import Decoder, Encoder

from schemas.event import Attachment, Citation, EventId, EventType, NonEmpty, Refs

CAPTURED_VERSION: Final = 1

MAX_RECORD_BYTES: Final = 768 * 1024
"""A record is closed before its texts pass this size, so that it stays under Kafka's default of 1 MiB once encoded."""

RawTime = str | int | float
"""A provider's own time value, unparsed: ISO text, seconds or milliseconds since 1970."""


class Thread(Struct, rename="camel", omit_defaults=True, kw_only=True, eq=False, gc=False):
    """The conversation that captured events belong to; one object is shared by all events of a thread."""

    provider: NonEmpty
    thread_id: NonEmpty
    account: NonEmpty | None = None
    workspace: NonEmpty | None = None
    channel_id: NonEmpty | None = None
    title: NonEmpty | None = None


class CapturedEvent(Struct, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """One element of a conversation as its source gives it.

    `id` is final (see `schemas.ids`). `role` is the provider's word. `times` are the provider's values, best first;
    empty when it gives none. `html` says that `text` is HTML and must become plain text.
    """

    id: EventId
    type: EventType
    role: str
    text: str
    times: list[RawTime] = []
    html: bool = False
    branch_id: NonEmpty | None = None
    labels: list[NonEmpty] = []
    refs: Refs | None = None
    author_id: NonEmpty | None = None
    message_id: NonEmpty | None = None
    parent_message_id: NonEmpty | None = None
    raw_type: NonEmpty | None = None
    model: NonEmpty | None = None
    tool_name: NonEmpty | None = None
    tool_call_id: NonEmpty | None = None
    attachments: list[Attachment] = []
    citations: list[Citation] = []


class Replay(Struct, rename="camel", omit_defaults=True, frozen=True):
    """Marks a captured record that was appended again, to be processed once more.

    `time_ms` is when its original was appended (Unix, ms): of several captured versions of an event the first counts,
    also in a replay. With `force` its events pass even if nothing about them has changed.
    """

    time_ms: Annotated[int, Rule(ge=0)]
    force: bool = False


class CapturedRecord(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Consecutive captured events of one thread: the value of one record of `conversations.captured`.

    `nearby_times` are raw time values to infer from when events have none, nearest first: the time of the entry before
    the first, the header's, the file's. `replay` is only on records that `session-ingest replay` or `rejected retry`
    appended again.
    """

    version: Annotated[int, Rule(ge=1)] = CAPTURED_VERSION
    thread: Thread
    events: list[CapturedEvent]
    nearby_times: list[RawTime] = []
    captured_at: str | None = None
    replay: Replay | None = None


class Origin(Struct, rename="camel", omit_defaults=True, frozen=True):
    """The record of the log that a processor rejected something of, for `session-ingest rejected retry`.

    `time_ms` is when it was appended (Unix, ms). Time and key find it again where the log was moved and its offsets
    changed.
    """

    topic: NonEmpty
    offset: Annotated[int, Rule(ge=1)]
    time_ms: int
    partition: Annotated[int, Rule(ge=0)] = 0


class RejectedRecord(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Something that could not be read: the value of one record of `conversations.rejected`.

    `sample` holds the original bytes, Base64 in JSON, cut to `adapters.contract.MAX_SAMPLE_BYTES`. `origin` says which
    record it comes from, where the stage is `processing`.
    """

    source: NonEmpty
    where: NonEmpty
    reason: NonEmpty
    detail: str = ""
    sample: bytes = b""
    size_bytes: int = 0
    stage: Literal["reading", "processing"] = "reading"
    rejected_at: str | None = None
    origin: Origin | None = None


_record_encoder = Encoder()
_record_decoder = Decoder(CapturedRecord)


def encode_record(record: CapturedRecord | RejectedRecord) -> bytes:
    """Encode a record as JSON."""
    return _record_encoder.encode(record)


def decode_record(value: bytes) -> CapturedRecord:
    """Decode a captured record; raises `msgspec.ValidationError` or `msgspec.DecodeError` when it is not one."""
    return _record_decoder.decode(value)
