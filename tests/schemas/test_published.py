"""The published JSON Schemas are current, and refuse exactly what writers refuse."""

import json

import jsonschema
import msgspec
import pytest

from schemas.event import CanonicalEvent, Event, EventMeta, Source, decode, encode
from schemas.publish import FOLDER, NAMES, json_schema, text

EVENT = CanonicalEvent(
    schema_version="1.0",
    source=Source(provider="pi", provider_account_key="pi", thread_id="t"),
    event=Event(id="e1", type="message", timestamp_iso="2026-02-02T07:18:14.251Z", role="user", text="hello"),
    meta=EventMeta(message_id="m"),
)


@pytest.mark.parametrize("name", NAMES)
def test_published_schema_is_current(name: str) -> None:
    """`make schemas` writes them anew."""
    assert (FOLDER / f"{name}.schema.json").read_bytes() == text(name)


@pytest.mark.parametrize("name", NAMES)
def test_published_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema(name))


def test_absent_members_are_left_out_not_null() -> None:
    assert json.loads(encode(EVENT)) == {
        "schemaVersion": "1.0",
        "source": {"provider": "pi", "providerAccountKey": "pi", "threadId": "t"},
        "event": {
            "id": "e1",
            "type": "message",
            "timestampIso": "2026-02-02T07:18:14.251Z",
            "role": "user",
            "text": "hello",
        },
        "meta": {"messageId": "m"},
    }


@pytest.mark.parametrize(
    ("part", "member", "value"),
    [
        ("event", "id", ""),
        ("event", "type", "chat"),
        ("event", "role", "human"),
        ("event", "timestampIso", "2026-02-02T07:18:14Z"),
        ("event", "text", None),
        ("event", "extra", 1),
        ("source", "provider", ""),
        ("source", "threadId", 7),
        ("meta", "attachments", [{"name": "a"}]),
        ("meta", "messageId", ""),
    ],
)
def test_schema_and_writer_refuse_the_same(part: str, member: str, value: object) -> None:
    """What the published schema forbids cannot be written, and the other way round."""
    raw = json.loads(encode(EVENT))
    raw[part][member] = value
    assert list(jsonschema.Draft202012Validator(json_schema("canonical-event")).iter_errors(raw))
    with pytest.raises(msgspec.ValidationError):
        decode(json.dumps(raw).encode())


def test_writing_a_broken_event_is_an_error() -> None:
    """`encode` is strict: a program error does not reach the log."""
    broken = msgspec.structs.replace(EVENT, event=msgspec.structs.replace(EVENT.event, role="human"))
    with pytest.raises(msgspec.ValidationError):
        encode(broken)
