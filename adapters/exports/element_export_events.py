"""Matrix events of a room become captured events: words, edits, replies, reactions, redactions, and what changed.

Read from the raw event, as clients and servers write it. Source: sections 3.4 and 6 of the chat platform notes; cases
27, 29, 31, 57.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from adapters.chat.identity import matrix_event_id
from adapters.contract import Skipped
from adapters.exports.fields import Object, identifier, obj, objects, text, times, word
from adapters.exports.media import attachment, placeholder
from schemas.captured import CapturedEvent
from schemas.event import Attachment

MAX_SENDERS: Final = 20_000
"""Latest messages whose senders are remembered: an edit by anybody else is none."""

_MEDIA: Final = {"m.image": "image", "m.audio": "audio", "m.video": "video", "m.file": "file", "m.sticker": "image"}
_UNDECRYPTED: Final = frozenset({"m.bad.encrypted"})
_POLLS: Final = ("m.poll.start", "org.matrix.msc3381.poll.start")
_MAX_REPLY_LINES: Final = 10_000


class RoomEvents:
    """Makes the events of one room, in the order of its timeline. `own_id` is the user id whose words are ours."""

    def __init__(self, own_id: str | None) -> None:
        self._own_id = (own_id or "").strip().casefold()
        self._senders: OrderedDict[str, str] = OrderedDict()

    def events(self, event: Object) -> Iterator[CapturedEvent | Skipped]:
        """Yield what one event is, and the newest edit that came along with it; raises `KeyError` without an id."""
        own_id = identifier(event.get("event_id"))
        if own_id is None:
            raise KeyError("event_id")
        yield self._event(event, own_id)
        edit = obj(obj(obj(event.get("unsigned")).get("m.relations")).get("m.replace"))
        edit_id = identifier(edit.get("event_id"))
        if edit_id and isinstance(obj(edit.get("content")).get("m.new_content"), dict):
            yield self._event(edit, edit_id)

    def _event(self, event: Object, own_id: str) -> CapturedEvent | Skipped:
        kind, content = text(event.get("type")), obj(event.get("content"))
        redaction = obj(obj(event.get("unsigned")).get("redacted_because"))
        if redacted_by := identifier(redaction.get("event_id")):
            return self._redaction(redaction, redacted_by, own_id)
        if "state_key" in event:
            return self._changed(event, own_id, kind, content)
        if kind in ("m.room.message", "m.sticker", *_POLLS):
            return self._words(event, own_id, kind, content)
        return self._done(event, own_id, kind, content)

    def _words(self, event: Object, own_id: str, kind: str, content: Object) -> CapturedEvent | Skipped:
        if kind == "m.sticker":
            return self._said(event, own_id, text(content.get("body")), kind, [_attachment(kind, content)])
        if kind == "m.room.message":
            return self._message(event, own_id, content)
        return self._said(event, own_id, _poll(content), kind, [])

    def _done(self, event: Object, own_id: str, kind: str, content: Object) -> CapturedEvent:
        if kind == "m.room.encrypted":
            return self._undecrypted(event, own_id)
        if kind == "m.reaction":
            related = obj(content.get("m.relates_to"))
            key = word(related.get("key")) or "[reaction]"
            return self._status(event, own_id, key, "reaction", related.get("event_id"))
        if kind == "m.room.redaction":
            return self._redaction(event, own_id, identifier(event.get("redacts") or content.get("redacts")))
        return self._status(event, own_id, f"[{kind or 'event'}]", "service", None)

    def _message(self, event: Object, own_id: str, content: Object) -> CapturedEvent | Skipped:
        kind = word(content.get("msgtype")) or "m.text"
        if not content:
            return Skipped("empty", "redacted message")
        if kind in _UNDECRYPTED:
            return self._undecrypted(event, own_id)
        related = obj(content.get("m.relates_to"))
        if related.get("rel_type") == "m.replace" and isinstance(content.get("m.new_content"), dict):
            return self._edit(event, own_id, content, identifier(related.get("event_id")))
        body, parent, labels = text(content.get("body")), None, []
        reply = identifier(obj(related.get("m.in_reply_to")).get("event_id"))
        if reply:
            body, parent = without_fallback(body), reply
        if related.get("rel_type") == "m.thread":
            labels = ["thread"]
            root = identifier(related.get("event_id"))
            parent = root if related.get("is_falling_back") is True or parent is None else parent
        self._remember(own_id, event)
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
        if kind in _MEDIA:
            attachments = [_attachment(kind, content)]
            name = word(content.get("filename"))
            body = body if name and name != body else ""  # without a file name of its own the body is that name
        elif not body.strip() and kind not in ("m.text", "m.notice", "m.emote"):
            body = f"[{kind}]"
        found = self._said(event, own_id, body, f"m.room.message/{kind}", attachments)
        if isinstance(found, CapturedEvent):
            found.parent_message_id = parent
            found.labels += [*labels, "emote"] if kind == "m.emote" else labels
            if kind == "m.notice" and found.role == "user":
                found.role = "notice"
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
            role=self._role(event),
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
            role="service" if label == "service" else self._role(event),
            text=said,
            times=times(event.get("origin_server_ts")),
            labels=[label],
            author_id=word(event.get("sender")),
            message_id=own_id,
            parent_message_id=identifier(target),
            raw_type=word(event.get("type")),
        )

    def _undecrypted(self, event: Object, own_id: str) -> CapturedEvent:
        return self._status(event, own_id, "[undecrypted message]", "undecrypted", None)

    def _redaction(self, event: Object, own_id: str, target: str | None) -> CapturedEvent:
        reason = word(obj(event.get("content")).get("reason"))
        return self._status(event, own_id, f"[redaction: {reason}]" if reason else "[redaction]", "redaction", target)

    def _changed(self, event: Object, own_id: str, kind: str, content: Object) -> CapturedEvent:
        details = (content.get("membership"), content.get("displayname"), content.get("name"), content.get("topic"))
        said = " ".join(filter(None, (kind.removeprefix("m.room."), *map(word, details), word(event.get("state_key")))))
        found = self._status(event, own_id, said, "service", None)
        if kind == "m.room.member":
            found.labels = ["membership"]
        return found

    def _role(self, event: Object) -> str:
        return "self" if self._own_id and text(event.get("sender")).casefold() == self._own_id else "user"

    def _remember(self, own_id: str, event: Object) -> None:
        self._senders[own_id] = text(event.get("sender"))
        if len(self._senders) > MAX_SENDERS:
            self._senders.popitem(last=False)


def without_fallback(body: str) -> str:
    """Give the words of a reply without the quote before them: lines that begin with `> `, and a blank line."""
    if not body.startswith("> "):
        return body
    lines = body.split("\n")
    kept = next((place for place, line in enumerate(lines) if not line.startswith("> ")), len(lines))
    if kept < len(lines) and not lines[kept].strip():
        kept += 1
    return "\n".join(lines[kept:])


def _attachment(kind: str, content: Object) -> Attachment:
    info = obj(content.get("info"))
    url = word(content.get("url")) or word(obj(content.get("file")).get("url"))
    name = word(content.get("filename")) or word(content.get("body"))
    return attachment(_MEDIA[kind], name, info.get("mimetype"), url, info.get("size"))


def _poll(content: Object) -> str:
    poll = obj(content.get("m.poll")) or obj(content.get("org.matrix.msc3381.poll.start"))
    answers = [f"- {_extensible(answer)}" for answer in objects(poll.get("answers"))]
    return "\n".join([f"[poll: {_extensible(obj(poll.get('question')))}]", *answers])


def _extensible(part: Object) -> str:
    found = part.get("m.text") or part.get("org.matrix.msc1767.text") or part.get("body")
    return text(found) or next((text(item.get("body")) for item in objects(found)), "")
