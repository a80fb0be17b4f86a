"""The size limit: an event that a broker would refuse is cut until it fits, and says so.

Source: E24 of the session formats. What counts is UTF-8 bytes of the whole encoded event. The one home of the rule, for
events as they are captured and as they become canonical.
"""

from typing import Final

import msgspec

from schemas.captured import CapturedEvent
from schemas.event import MAX_EVENT_BYTES, CanonicalEvent, EventMeta, Refs

TRUNCATED_LABEL: Final = "truncated"

_MAX_MEMBER_CHARS: Final = 4_096
"""Of a title, a name, a link: PATH_MAX, and more than a person reads."""

_MAX_ITEMS: Final = 100
"""Attachments, citations, labels and references kept when an event is too large: 100 of them fill a screen."""

_encoder: Final = msgspec.json.Encoder()


def fit(event: CanonicalEvent, limit: int = MAX_EVENT_BYTES) -> CanonicalEvent:
    """Give the event if it encodes to at most `limit` bytes, else a copy that does, labelled `truncated`.

    The text is cut first, at a character; what else is too large is cut only where the text cannot pay for it. Raises
    `ValueError` when the members that identify the event alone pass the limit.
    """
    excess = len(_encoder.encode(event)) - limit
    if excess <= 0:
        return event
    labels = event.event.labels
    marked = labels if TRUNCATED_LABEL in labels else [*labels, TRUNCATED_LABEL]
    event = msgspec.structs.replace(event, event=msgspec.structs.replace(event.event, labels=marked))
    if len(_encoder.encode(event.event.text)) < excess + _MAX_MEMBER_CHARS:
        event = _trim_members(event)
    return _cut_text(event, limit)


def cut_captured(event: CapturedEvent, limit: int) -> CapturedEvent:
    """Give a copy labelled `truncated` whose text is cut, as little as possible, so that it encodes to `limit` bytes.

    Members other than the text are left: where they alone pass the limit, the copy is still too large.
    """
    labels = event.labels if TRUNCATED_LABEL in event.labels else [*event.labels, TRUNCATED_LABEL]
    without = msgspec.structs.replace(event, text="", labels=labels)
    room = limit - len(_encoder.encode(without))
    return msgspec.structs.replace(without, text=cut_to_bytes(event.text, max(0, room)))


def _cut_text(event: CanonicalEvent, limit: int) -> CanonicalEvent:
    text = event.event.text
    room = limit - (len(_encoder.encode(event)) - len(_encoder.encode(text))) - 2
    if room < 0:
        raise ValueError("identifying members are larger than an event may be")
    return msgspec.structs.replace(event, event=msgspec.structs.replace(event.event, text=cut_to_bytes(text, room)))


def cut_to_bytes(text: str, room: int) -> str:
    """Give the longest beginning of a text whose JSON form, without quotes, has at most `room` bytes."""
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_encoder.encode(text[:middle])) - 2 <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def _trim_members(event: CanonicalEvent) -> CanonicalEvent:
    refs = event.event.refs
    body = msgspec.structs.replace(
        event.event,
        labels=[_short(label) for label in event.event.labels[: _MAX_ITEMS - 1]] + [TRUNCATED_LABEL],
        refs=_trim_refs(refs) if refs else None,
    )
    body.labels = list(dict.fromkeys(body.labels))
    return msgspec.structs.replace(event, event=body, meta=_trim_meta(event.meta))


def _trim_refs(refs: Refs) -> Refs:
    return Refs(
        task_ids=[_short(item) for item in refs.task_ids[:_MAX_ITEMS]],
        issue_ids=[_short(item) for item in refs.issue_ids[:_MAX_ITEMS]],
        run_ids=[_short(item) for item in refs.run_ids[:_MAX_ITEMS]],
    )


def _trim_meta(meta: EventMeta) -> EventMeta:
    trimmed: dict[str, object] = {}
    for name in meta.__struct_fields__:
        value = getattr(meta, name)
        if isinstance(value, str):
            trimmed[name] = _short(value)
        elif isinstance(value, list):
            trimmed[name] = [_trim_item(item) for item in value[:_MAX_ITEMS]]
    return msgspec.structs.replace(meta, **trimmed)


def _trim_item(item: msgspec.Struct) -> msgspec.Struct:
    # 100 items of three members of 1024 characters, four bytes each, still leave room for the text.
    long = {
        name: value[: _MAX_MEMBER_CHARS // 8]
        for name in item.__struct_fields__
        if isinstance(value := getattr(item, name), str)
    }
    return msgspec.structs.replace(item, **long)


def _short(text: str) -> str:
    return text[:_MAX_MEMBER_CHARS]
