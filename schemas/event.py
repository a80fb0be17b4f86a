"""The canonical conversation event, version 1.0: the public contract of every topic but `captured`.

Readers are tolerant (unknown members are ignored, role `human` is understood), writers are strict:
`encode` refuses what the published JSON Schema refuses.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta as Rule
from msgspec import Struct

SCHEMA_VERSION: Final = "1.0"

MAX_EVENT_BYTES: Final = 1_000_000
"""Largest encoded event: Kafka's default `message.max.bytes` is 1,048,588 with key, headers and batch overhead."""

EventType = Literal["message", "summary", "status", "tool_call", "tool_result", "signal"]
Role = Literal["user", "assistant", "tool", "system", "agent", "operator", "bot"]

NonEmpty = Annotated[str, Rule(min_length=1)]
TimestampIso = Annotated[str, Rule(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")]
EventId = Annotated[str, Rule(pattern=r"^[^\x00-\x20]{1,200}$")]
"""Ours are UUIDs; canonical files written by others may carry any id without spaces."""


class _Strict(Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What all parts of an event have in common: camelCase members, absent rather than null."""


class Source(_Strict):
    """Where an event was said."""

    provider: NonEmpty
    provider_account_key: NonEmpty
    thread_id: NonEmpty
    account: NonEmpty | None = None
    workspace: NonEmpty | None = None
    channel_id: NonEmpty | None = None
    branch_id: NonEmpty | None = None


class Refs(_Strict):
    """What the words refer to, each list unique and in order of first sight."""

    task_ids: list[NonEmpty] = []
    issue_ids: list[NonEmpty] = []
    run_ids: list[NonEmpty] = []


class Event(_Strict):
    """What was said or done, by which role, when."""

    id: EventId
    type: EventType
    timestamp_iso: TimestampIso
    role: Role
    text: str
    labels: list[NonEmpty] = []
    refs: Refs | None = None


class Attachment(_Strict):
    """One item that came with a message; its bytes are never part of an event."""

    kind: NonEmpty
    name: str | None = None
    mime_type: str | None = None
    url: str | None = None
    size_bytes: Annotated[int, Rule(ge=0)] | None = None


class Citation(_Strict):
    """One source that an answer names."""

    url: str | None = None
    title: str | None = None
    quote: str | None = None


class EventMeta(_Strict):
    """What helps to find the thing again at its provider."""

    author_id: NonEmpty | None = None
    message_id: NonEmpty | None = None
    raw_type: NonEmpty | None = None
    ingested_at_iso: TimestampIso | None = None
    parent_message_id: NonEmpty | None = None
    conversation_title: NonEmpty | None = None
    model: NonEmpty | None = None
    tool_name: NonEmpty | None = None
    tool_call_id: NonEmpty | None = None
    attachments: list[Attachment] = []
    citations: list[Citation] = []


class CanonicalEvent(_Strict):
    """One canonical conversation event, schema version 1.0."""

    schema_version: Literal["1.0"]
    source: Source
    event: Event
    meta: EventMeta = msgspec.field(default_factory=EventMeta)


_encoder = msgspec.json.Encoder()
_strict_decoder = msgspec.json.Decoder(CanonicalEvent)


def encode(event: CanonicalEvent) -> bytes:
    """Encode an event as one line of UTF-8 JSON, without the newline.

    Raises `msgspec.ValidationError` when the event breaks the published schema: a program error, never bad input.
    """
    encoded = _encoder.encode(event)
    _strict_decoder.decode(encoded)
    return encoded


def decode(line: bytes) -> CanonicalEvent:
    """Decode what `encode` wrote.

    Raises `msgspec.ValidationError` or `msgspec.DecodeError`. Files from outside go through the canonical reader
    in `adapters.exports.canonical`, which forgives what readers forgive.
    """
    return _strict_decoder.decode(line)
