"""Matrix events of a room become captured events: words, edits, replies, reactions, redactions, and what changed.

Read from the raw event, as clients and servers write it; the same live and from an export of Element. Source: sections
3.4 and 6 of the chat platform notes; cases 27, 29, 31, 57.
"""

from collections.abc import Iterator
from typing import Final

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix_content import MEDIA, POLLS, change, is_unknown, media, poll, without_fallback
from adapters.chat.matrix_memory import Senders
from adapters.chat.matrix_people import People
from adapters.chat.words import UNKNOWN_LABEL
from adapters.contract import Skipped
from adapters.exports.fields import Object, identifier, obj, text, times, word
from adapters.exports.media import placeholder
from schemas.captured import CapturedEvent
from schemas.event import Attachment

PROVIDER: Final = "matrix"

ENCRYPTED: Final = "m.room.encrypted"
UNDECRYPTED_LABEL: Final = "undecrypted"
"""Also a part of the placeholder's id: the message itself, once it can be read, has the id of its event."""

_UNDECRYPTED: Final = frozenset({"m.bad.encrypted"})
_WORDLESS: Final = ("m.text", "m.notice", "m.emote")


class RoomEvents:
    """Makes the events of rooms, each in the order of its timeline.

    `bundled` says that an edit is known only from the event that it changes, as in an export; a live timeline has it in
    its own place. Likewise with redactions.
    """

    def __init__(self, people: People, senders: Senders, *, bundled: bool = False) -> None:
        self._people = people
        self._senders = senders
        self._bundled = bundled

    def events(self, event: Object) -> Iterator[CapturedEvent | Skipped]:
        """Yield what one event is, and the newest edit that came along with it; raises `KeyError` without an id."""
        own_id = identifier(event.get("event_id"))
        if own_id is None:
            raise KeyError("event_id")
        yield self._labelled(event, own_id)
        edit = obj(obj(obj(event.get("unsigned")).get("m.relations")).get("m.replace"))
        edit_id = identifier(edit.get("event_id"))
        if self._bundled and edit_id and isinstance(obj(edit.get("content")).get("m.new_content"), dict):
            yield self._event(edit, edit_id)

    def _labelled(self, event: Object, own_id: str) -> CapturedEvent | Skipped:
        found = self._event(event, own_id)
        if isinstance(found, CapturedEvent) and is_unknown(event):
            found.labels.append(UNKNOWN_LABEL)
        return found

    def _event(self, event: Object, own_id: str) -> CapturedEvent | Skipped:
        kind, content = text(event.get("type")), obj(event.get("content"))
        redaction = obj(obj(event.get("unsigned")).get("redacted_because"))
        if redacted_by := identifier(redaction.get("event_id")):
            return (
                self._redaction(redaction, redacted_by, own_id)
                if self._bundled
                else Skipped("empty", "redacted message")
            )
        if "state_key" in event:
            return self._status(event, own_id, change(event), _MEMBERSHIP.get(kind, "service"), None)
        if kind in ("m.room.message", "m.sticker", *POLLS):
            return self._words(event, own_id, kind, content)
        return self._done(event, own_id, kind, content)

    def _words(self, event: Object, own_id: str, kind: str, content: Object) -> CapturedEvent | Skipped:
        if kind == "m.sticker":
            return self._said(event, own_id, text(content.get("body")), kind, [media(kind, content)])
        if kind == "m.room.message":
            return self._message(event, own_id, content)
        return self._said(event, own_id, poll(content), kind, [])

    def _done(self, event: Object, own_id: str, kind: str, content: Object) -> CapturedEvent | Skipped:
        if kind == ENCRYPTED:
            return self._undecrypted(event, own_id) if content else Skipped("empty", "redacted message")
        if kind == "m.reaction":
            related = obj(content.get("m.relates_to"))
            key = word(related.get("key")) or "[reaction]"
            return self._status(event, own_id, key, "reaction", related.get("event_id"))
        if kind == "m.room.redaction":
            return self._redaction(event, own_id, identifier(event.get("redacts") or content.get("redacts")))
        about = obj(content.get("m.relates_to")).get("event_id")
        return self._status(event, own_id, f"[{kind or 'event'}]", "service", about)

    def _message(self, event: Object, own_id: str, content: Object) -> CapturedEvent | Skipped:
        kind = word(content.get("msgtype")) or "m.text"
        if not content:
            return Skipped("empty", "redacted message")
        if kind in _UNDECRYPTED:
            return self._undecrypted(event, own_id)
        related = obj(content.get("m.relates_to"))
        if edited(content) is not None:
            return self._edit(event, own_id, content, identifier(related.get("event_id")))
        body, parent, labels = text(content.get("body")), None, []
        reply = identifier(obj(related.get("m.in_reply_to")).get("event_id"))
        if reply:
            body, parent = without_fallback(body), reply
        if related.get("rel_type") == "m.thread":
            labels = ["thread"]
            root = identifier(related.get("event_id"))
            parent = root if related.get("is_falling_back") is True or parent is None else parent
        self._senders.put(own_id, text(event.get("sender")))
        return self._spoken(event, own_id, kind, content, body, parent, labels)

    def _edit(self, event: Object, own_id: str, content: Object, target: str | None) -> CapturedEvent | Skipped:
        new: Object = content["m.new_content"]
        kind = word(new.get("msgtype")) or "m.text"
        known = self._senders.get(target) if target else None
        if target is None or (known is not None and known != event.get("sender")):
            # Somebody else's edit is invalid: a message like any other.
            return self._spoken(event, own_id, kind, new, text(content.get("body")), None, [])
        found = self._spoken(event, own_id, kind, new, without_fallback(text(new.get("body"))), None, ["edit"])
        if isinstance(found, CapturedEvent):
            found.message_id = target
        return found

    def _spoken(
        self, event: Object, own_id: str, kind: str, content: Object, body: str, parent: str | None, labels: list[str]
    ) -> CapturedEvent | Skipped:
        attachments: list[Attachment] = []
        if kind in MEDIA:
            attachments = [media(kind, content)]
            name = word(content.get("filename"))
            body = body if name and name != body else ""  # without a file name of its own the body is that name
        elif not body.strip() and kind not in _WORDLESS:
            body = f"[{kind}]"
        found = self._said(event, own_id, body, f"m.room.message/{kind}", attachments)
        if isinstance(found, CapturedEvent):
            found.role = self._people.role(event, kind)
            found.parent_message_id = parent
            found.labels += [*labels, "emote"] if kind == "m.emote" else labels
        return found

    def _said(
        self, event: Object, own_id: str, body: str, raw_type: str, attachments: list[Attachment]
    ) -> CapturedEvent | Skipped:
        said = body if word(body) else placeholder(attachments)
        if not said:
            return Skipped("empty", "message without words")
        return CapturedEvent(
            id=matrix_event_id(own_id),
            type="message",
            role=self._people.role(event),
            text=said,
            times=times(event.get("origin_server_ts")),
            author_id=word(event.get("sender")),
            message_id=own_id,
            raw_type=raw_type,
            attachments=attachments,
        )

    def _status(self, event: Object, own_id: str, said: str, label: str, target: object) -> CapturedEvent:
        return CapturedEvent(
            id=matrix_event_id(own_id),
            type="status",
            role="service" if label in _BY_NOBODY else self._people.role(event),
            text=said,
            times=times(event.get("origin_server_ts")),
            labels=[label],
            author_id=word(event.get("sender")),
            message_id=own_id,
            parent_message_id=identifier(target),
            raw_type=word(event.get("type")),
        )

    def _undecrypted(self, event: Object, own_id: str) -> CapturedEvent:
        found = self._status(event, own_id, "[undecrypted message]", UNDECRYPTED_LABEL, None)
        found.id = matrix_event_id(own_id, UNDECRYPTED_LABEL)
        return found

    def _redaction(self, event: Object, own_id: str, target: str | None) -> CapturedEvent:
        reason = word(obj(event.get("content")).get("reason"))
        return self._status(event, own_id, f"[redaction: {reason}]" if reason else "[redaction]", "redaction", target)


def edited(content: Object) -> str | None:
    """Give what a message's content replaces, "" when it does not say; None when it is no edit."""
    related = obj(content.get("m.relates_to"))
    if related.get("rel_type") != "m.replace" or not isinstance(content.get("m.new_content"), dict):
        return None
    return identifier(related.get("event_id")) or ""


_MEMBERSHIP: Final = {"m.room.member": "membership"}
_BY_NOBODY: Final = frozenset({"service", "membership"})
