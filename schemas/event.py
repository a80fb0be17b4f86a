"""The canonical conversation event, version 1.0: the public contract of every topic but `captured`.

Readers are tolerant (unknown members are ignored, role `human` is understood), writers are strict:
`encode` refuses what the published JSON Schema refuses.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta as Rule
from msgspec import Struct

SCHEMA_VERSION: Final = "1.0"

MAX_EVENT_BYTES: Final = 1_000_000
"""Largest encoded event: Kafka's default `message.max.bytes` is 1,048,588 with key, headers and batch overhead."""

EventType = Literal["message", "summary", "status", "tool_call", "tool_result", "signal"]
Role = Literal["user", "assistant", "tool", "system", "agent", "operator", "bot"]

_TIME_PATTERN: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
_ID_PATTERN: Final = r"[^\x00-\x20]{1,200}"

NonEmpty = Annotated[str, Rule(min_length=1)]

# The patterns are part of the published schema; here `encode` and `decode` hold them with fullmatch, because `$` lets a
# newline pass and because a pattern of msgspec costs 1 us a member.
TimestampIso = Annotated[str, Rule(min_length=24, max_length=24, extra_json_schema={"pattern": f"^{_TIME_PATTERN}$"})]
EventId = Annotated[str, Rule(min_length=1, max_length=200, extra_json_schema={"pattern": f"^{_ID_PATTERN}$"})]
"""Ours are UUIDs; canonical files written by others may carry any id without spaces."""


class _Strict(Struct, rename="camel", omit_defaults=True, forbid_unknown_fields=True, kw_only=True, gc=False):
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


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(CanonicalEvent).decode
_is_time: Final = re.compile(_TIME_PATTERN).fullmatch
_NO_ID: Final = "an id without spaces or control characters is expected - at `$.event.id`"
_is_id: Final = re.compile(_ID_PATTERN).fullmatch
_are_ids: Final = re.compile(rf"{_ID_PATTERN}(?:\n{_ID_PATTERN})*").fullmatch


def encode(event: CanonicalEvent) -> bytes:
    """Encode an event as one line of UTF-8 JSON, without the newline.

    Raises `msgspec.ValidationError` when the event breaks the published schema: a program error, never bad input.
    """
    encoded = _encode(event)
    decode(encoded)
    return encoded


def encode_typed(event: CanonicalEvent) -> bytes:
    """Encode an event whose members the type checker has seen: only its id, which comes from outside, is checked.

    For the normaliser, which makes each event from typed parts: `encode` would cost it 3 us more an event. Raises
    `msgspec.ValidationError`.
    """
    check_id(event.event.id)
    return _encode(event)


def decode(line: bytes) -> CanonicalEvent:
    """Decode what `encode` wrote.

    Raises `msgspec.ValidationError` or `msgspec.DecodeError`. Files from outside go through the canonical reader
    in `adapters.exports.canonical`, which forgives what readers forgive.
    """
    event = _decode(line)
    _check_patterns(event)
    return event


def _check_patterns(event: CanonicalEvent) -> None:
    check_id(event.event.id)
    ingested = event.meta.ingested_at_iso
    if not _is_time(event.event.timestamp_iso) or not (ingested is None or _is_time(ingested)):
        message = "a time such as 2026-01-31T12:00:00.000Z is expected - at `$.event.timestampIso` or `$.meta`"
        raise msgspec.ValidationError(message)


def check_id(identifier: str) -> None:
    """Hold an event's id against the schema's pattern; raises `msgspec.ValidationError`."""
    if not _is_id(identifier):
        raise msgspec.ValidationError(_NO_ID)


def check_ids(identifiers: Iterable[str]) -> None:
    """Hold several ids against the schema's pattern, as `check_id` does one, at half the cost."""
    if not _are_ids("\n".join(identifiers)):  # a newline can be in none of them
        raise msgspec.ValidationError(_NO_ID)
