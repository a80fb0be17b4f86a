"""Chat items of a Signal export become captured events: messages with their older versions, reactions, updates.

A message is known by its author and the time its author's device gave it, live and here. Source: section 5.3 of the
chat platform notes; libsignal's `backup.proto` for the names of members.
"""

import re
from collections.abc import Iterator
from typing import Final

from adapters.chat.identity import SELF, signal_event_id, signal_message_id
from adapters.chat.signal_words import DELETED, contact, mentioned, poll
from adapters.chat.words import UNKNOWN_LABEL, nested_words
from adapters.contract import Element, Heard, Rejected, Skipped
from adapters.exports.fields import Object, array, identifier, number, obj, objects, text, word
from adapters.exports.media import attachment, placeholder
from adapters.exports.signal_export_people import People, Recipient, service_id
from schemas.captured import CapturedEvent, Thread
from schemas.event import Attachment

MAX_REVISIONS: Final = 1000
"""Older versions of one message; the apps allow ten."""

_WORDS: Final = frozenset({"body", "text"})
"""Members by which words are found in content of an unknown kind."""

_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CONTENTS: Final = (
    "standardMessage", "stickerMessage", "contactMessage", "viewOnceMessage", "directStoryReplyMessage", "poll",
    "paymentNotification", "giftBadge", "remoteDeletedMessage", "updateMessage",
)  # fmt: skip
_STATUSES: Final = frozenset({"updateMessage", "remoteDeletedMessage", "paymentNotification", "giftBadge"})
_ABOUT: Final = frozenset({"incoming", "outgoing", "directionless", "pinDetails"})
"""Members with a shape that are about an item; any other that is not among the contents is one of a newer app."""


class Items:
    """Makes the events of the items of one file, resolving its people and chats."""

    def __init__(self, people: People) -> None:
        self._people = people

    def elements(self, item: Object, where: str, raw: bytes) -> Iterator[Element]:
        """Yield the events of one chat item: its older versions, itself, the reactions to it."""
        thread = self._people.thread(item.get("chatId"))
        if thread is None:
            yield Rejected(where, "unknown-chat", "its chat is not in this file", raw, len(raw))
            return
        original = _sent([*objects(item.get("revisions")), item][0])
        if original is None or _sent(item) is None:
            yield Rejected(where, "no-id", "without the time it was sent, which is its id", raw, len(raw))
            return
        versions = objects(item.get("revisions"))[:MAX_REVISIONS]
        for place, version in enumerate([*versions, item]):
            event = self._event(version, thread, original, edit=place > 0)
            yield Heard(thread, event) if event else Skipped("empty", "item without content")
        for reaction in objects(_content(item)[1].get("reactions")):
            yield self._reaction(reaction, thread, signal_message_id(self._author(item), original))

    def _author(self, item: Object) -> str:
        if "outgoing" in item:
            return SELF
        found = self._people.recipient(item.get("authorId"))
        return found.key if found else ""

    def _event(self, item: Object, thread: Thread, original: int, *, edit: bool) -> CapturedEvent | None:
        sent = _sent(item)
        kind, content = _content(item)
        if sent is None or not kind:
            return None
        author = self._author(item)
        known = kind in _CONTENTS
        status = kind in _STATUSES or not known
        attachments = _attachments(kind, content)
        said = (self._words(kind, content) if known else nested_words(content, _WORDS)) or placeholder(attachments)
        if not said and not status:
            return None
        labels = ["edit"] if edit else _labels(kind)
        return CapturedEvent(
            id=signal_event_id(thread.thread_id, author, sent, *labels),
            type="status" if status else "message",
            role=self._role(item, kind),
            text=said or f"[{_spaced(kind)}]",
            times=[sent],
            labels=labels,
            author_id=author or None,
            message_id=signal_message_id(author, original),
            parent_message_id=self._quoted(content),
            raw_type=kind,
            attachments=attachments,
        )

    def _role(self, item: Object, kind: str) -> str:
        if kind == "updateMessage" or "directionless" in item:
            return "directionless"
        found = self._people.recipient(item.get("authorId"))
        if "outgoing" in item:
            return "outgoing"
        return found.role if found else "incoming"

    def _words(self, kind: str, content: Object) -> str:
        if kind == "standardMessage":
            return self._text(content.get("text"))
        if kind == "directStoryReplyMessage":
            return self._text(obj(content.get("textReply")).get("text")) or text(content.get("emoji"))
        if kind == "poll":
            return poll(content.get("question"), (option.get("option") for option in objects(content.get("options"))))
        if kind == "contactMessage":
            return contact(obj(obj(content.get("contact")).get("name")))
        if kind == "remoteDeletedMessage":
            return DELETED
        return _update(content) if kind == "updateMessage" else ""

    def _text(self, value: object) -> str:
        """Give a body with the names of those it mentions in the places that Signal keeps for them."""
        ranges = (
            (number(part.get("start")) or 0, service_id(part.get("mentionAci")))
            for part in objects(obj(value).get("bodyRanges"))
        )
        named = ((start, self._people.name_of(person)) for start, person in ranges if person)
        return mentioned(text(obj(value).get("body")), named)

    def _quoted(self, content: Object) -> str | None:
        quote = obj(content.get("quote"))
        sent = _integer(quote.get("targetSentTimestamp"))
        author = self._people.recipient(quote.get("authorId"))
        return signal_message_id(author.key, sent) if sent is not None and author else None

    def _reaction(self, reaction: Object, thread: Thread, target: str) -> Element:
        author: Recipient | None = self._people.recipient(reaction.get("authorId"))
        sent, emoji = _integer(reaction.get("sentTimestamp")), word(reaction.get("emoji"))
        if author is None or sent is None or emoji is None:
            return Skipped("empty", "reaction of nobody known")
        event = CapturedEvent(
            id=signal_event_id(thread.thread_id, author.key, sent, "reaction"),
            type="status",
            role=author.role,
            text=emoji,
            times=[sent],
            labels=["reaction"],
            author_id=author.key,
            message_id=f"{target}#reaction",
            parent_message_id=target,
            raw_type="reaction",
        )
        return Heard(thread, event)


def _content(item: Object) -> tuple[str, Object]:
    """Give the name and the value of what an item holds: of a kind that is known, or of one that is not."""
    kinds = (*_CONTENTS, *(name for name in item if name not in _ABOUT))
    return next(((kind, item[kind]) for kind in kinds if isinstance(item.get(kind), dict)), ("", {}))


def _labels(kind: str) -> list[str]:
    if kind not in _CONTENTS:
        return [UNKNOWN_LABEL]
    return ["deleted"] if kind == "remoteDeletedMessage" else ["service"] if kind in _STATUSES else []


def _sent(item: Object) -> int | None:
    return _integer(item.get("dateSent"))


def _integer(value: object) -> int | None:
    """Give a 64-bit number, which protobuf's JSON writes as text; 0 means that there is none."""
    digits = identifier(value)
    if digits is None or not digits.isdecimal() or len(digits) > 18:  # noqa: PLR2004 - digits of 64 bits
        return None
    return int(digits) or None


def _attachments(kind: str, content: Object) -> list[Attachment]:
    if kind == "stickerMessage":
        sticker = obj(content.get("sticker"))
        return [attachment("image", word(sticker.get("emoji")), obj(sticker.get("data")).get("contentType"))]
    if kind == "viewOnceMessage":
        return [_attachment(obj(content.get("attachment")), "media")]
    if kind != "standardMessage":
        return []
    found = [_attachment(part, None) for part in objects(content.get("attachments"))]
    if isinstance(content.get("longText"), dict):
        found.append(_attachment({"pointer": content["longText"]}, None))
    return found


def _attachment(part: Object, kind: str | None) -> Attachment:
    pointer = obj(part.get("pointer"))
    if part.get("flag") == "VOICE_MESSAGE":
        kind = "audio"
    size = obj(pointer.get("locatorInfo")).get("size")
    return attachment(kind, pointer.get("fileName"), pointer.get("contentType"), size=size)


def _update(content: Object) -> str:
    """Say what an update is, by the names that its parts have."""
    kind, change = next(((name, obj(value)) for name, value in content.items() if isinstance(value, dict)), ("", {}))
    updates = [name for part in objects(change.get("updates")) for name in part]
    details = [word(change.get(name)) for name in ("type", "state", "direction", "newName", "question")]
    said = [_spaced(name) for name in [kind, *updates[:20]] if name]
    said += [_spaced(detail.lower()) for detail in details if detail]
    names = [
        text(part.get("newGroupName"))
        for holder in array(change.get("updates"))
        for part in obj(holder).values()
        if isinstance(part, dict)
    ]
    return ": ".join([*said, *filter(None, names)])


def _spaced(name: str) -> str:
    return _HUMPS.sub(" ", name).replace("_", " ").lower()
