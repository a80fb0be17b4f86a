"""Messages that this program wrote: how each gives back the one event that it was made of.

A message says in PAM's own members whatever they can hold. `plain` reads those alone; what it does not give back stands
in `raw_metadata` under `MARK`: only the differences, null for what the event has not. The writer makes them by reading
its own message plainly, so that reading with them is exact by construction.
"""

from typing import Any, Final

import msgspec

from adapters.exports.fields import obj
from adapters.exports.pam_shapes import Message
from adapters.files.json_line import compact_json
from schemas.captured import CapturedEvent, RawTime
from schemas.event import Attachment, Citation, EventType

MARK: Final = "session-triage"
"""The member of `raw_metadata` that is this program's."""

EVENTS: Final = "events"
"""Below `MARK` of a conversation: the schema version of the events its messages were made of."""

PROVIDER: Final = "provider"
"""Below `MARK` of a conversation: a provider whose name PAM does not allow."""

TITLE: Final = "conversationTitle"
WORKSPACE: Final = "workspace"
CHANNEL: Final = "channelId"
INGESTED: Final = "ingestedAtIso"

UNNAMED: Final = "unnamed"
"""The tool of a call that names none: PAM requires a name."""

ARCHIVED: Final = "archived"
REASONING: Final = "reasoning"

_FIELDS: Final = tuple(zip(CapturedEvent.__struct_fields__, CapturedEvent.__struct_encode_fields__, strict=True))


class Own:
    """Reads the messages of one conversation in order; remembers where they stand, not what they say."""

    def __init__(self, *, archived: bool) -> None:
        self._archived = archived
        self._places: dict[str, tuple[str | None, str | None]] = {}

    def plain(self, message: Message) -> CapturedEvent:
        """Read what PAM's members say of a message."""
        calls = message.tool_calls
        call = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], dict) else None
        message_id = _text(message.provider_message_id) or None
        thought = message.is_thought is True
        labels = [ARCHIVED] if self._archived else []
        return CapturedEvent(
            id=_text(message.id) or "",
            type=_type(message.role, thought=thought, call=call is not None),
            role=_text(message.role) or "",
            text=_words(message, call),
            times=_times(message.created_at),
            labels=[*labels, REASONING] if thought else labels,
            message_id=message_id,
            parent_message_id=self._parent(message.parent_id, message_id),
            model=_text(message.model) or None,
            tool_name=(_text(call.get("name")) or None) if call else None,
            tool_call_id=(_text(call.get("id")) or None) if call else None,
            attachments=[_attachment(item) for item in _objects(message.attachments)],
            citations=[_citation(item) for item in _objects(message.citations)],
        )

    def _parent(self, parent_id: object, message_id: str | None) -> str | None:
        above = self._places.get(parent_id) if isinstance(parent_id, str) else None
        if above is None:
            return None
        # Events of one message follow each other, and share the parent.
        return above[1] if message_id is not None and above[0] == message_id else above[0]

    def note(self, event: CapturedEvent) -> None:
        """Remember an event for those below it."""
        self._places[event.id] = (event.message_id, event.parent_message_id)


def differences(plain: CapturedEvent, event: CapturedEvent) -> dict[str, Any]:
    """Give the members in which the event differs from what was read plainly; times are always told."""
    found: dict[str, Any] = {}
    for name, encoded in _FIELDS:
        wanted = getattr(event, name)
        if name not in {"id", "times"} and getattr(plain, name) != wanted:
            found[encoded] = msgspec.to_builtins(wanted)
    return found


def restore(plain: CapturedEvent, told: dict[str, Any]) -> CapturedEvent:
    """Put differences over what was read plainly; raises `msgspec.ValidationError` when they are none."""
    changed = {encoded for _, encoded in _FIELDS} & told.keys() - {"id", "times"}
    if not changed:
        return plain
    members = msgspec.to_builtins(plain)
    for name in changed:
        members.pop(name, None)
        if told[name] is not None:
            members[name] = told[name]
    return msgspec.convert(members, CapturedEvent)


def told_of(raw_metadata: object) -> dict[str, Any]:
    """Give what this program has told of a conversation or a message."""
    return obj(obj(raw_metadata).get(MARK))


def call_text(name: str, given: object) -> str:
    """Write a call as an event's text: the tool's name and the compact arguments; raises `RecursionError`."""
    shown = given if isinstance(given, str) else "" if given is None else compact_json(given)
    return f"{name} {shown}" if shown else name


def _type(role: object, *, thought: bool, call: bool) -> EventType:
    if call:
        return "tool_result" if role == "tool" else "tool_call"
    return "status" if thought else "message"


def _words(message: Message, call: dict[str, Any] | None) -> str:
    said = _text(obj(message.content).get("text"))
    if said is not None or call is None:
        return said or ""
    if message.role == "tool":
        return _text(call.get("output")) or ""
    try:
        return call_text(_text(call.get("name")) or UNNAMED, call.get("input"))
    except RecursionError:  # somebody else's arguments: ours were written by the same function
        return _text(call.get("name")) or UNNAMED


def _times(value: object) -> list[RawTime]:
    return [value] if isinstance(value, str) and value else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _attachment(item: dict[str, Any]) -> Attachment:
    size = item.get("size_bytes")
    return Attachment(
        kind=_text(item.get("type")) or "file",
        name=_text(item.get("name")),
        mime_type=_text(item.get("mime_type")),
        url=_text(item.get("ref")),
        size_bytes=size if type(size) is int and size >= 0 else None,
    )


def _citation(item: dict[str, Any]) -> Citation:
    return Citation(url=_text(item.get("url")), title=_text(item.get("title")), quote=_text(item.get("snippet")))
