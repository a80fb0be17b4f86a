"""Messages of the Bot API become captured events, whichever kind of update brings them, and so do edits.

What belongs to the message (its id, its thread, its author) is made by the rules that exports share. Source: sections
2.3 and 2.4 of the chat platform notes; cases 05, 07, 09, 11, 13.
"""

from adapters.chat.identity import telegram_event_id
from adapters.chat.telegram_content import KNOWN, media, media_kind, person_name, service, shared, words
from adapters.chat.telegram_people import People, Speaker
from adapters.chat.telegram_places import BadUpdateError, Place
from adapters.chat.words import UNKNOWN_LABEL, integer, unix, unknown_body
from adapters.exports.fields import Object, identifier, misplaced, obj, word
from adapters.exports.media import MAX_ATTACHMENTS, placeholder
from schemas.captured import CapturedEvent
from schemas.event import Attachment, Citation, EventType


def message_event(message: Object, kind: str, where: Place, people: People) -> CapturedEvent | None:
    """Give the event of a message or of an edit; None when nothing was said and nothing came with it.

    `kind` is the member of the update that holds the message. Raises `BadUpdateError`.
    """
    own_id, date = integer(message.get("message_id")), unix(message.get("date"))
    if own_id is None:
        raise BadUpdateError("no-id", "a message without an id")
    if date is None:
        raise BadUpdateError("no-date", "a message whose date is no time")
    if misplaced(message.get("text")) or misplaced(message.get("caption")):
        raise BadUpdateError("bad-text", "a message whose words are no text")
    event = _said(message, kind) or _happened(message) or _unknown(message, kind)
    if event is None:
        return None
    speaker = people.speaker(message, where.owner)
    if event.role != "service":
        event.role = speaker.role
    _describe(event, message, own_id, where, speaker)
    event.times = [date]
    if kind.startswith("edited_"):
        _mark_edit(event, message, own_id, where)
    else:
        event.id = telegram_event_id(where.chat, own_id, account=where.account)
    return event


def _describe(event: CapturedEvent, message: Object, own_id: int, where: Place, speaker: Speaker) -> None:
    """Add what any message has: ids, whom it answers, where it was forwarded from, which album it is of."""
    event.author_id, event.message_id = speaker.author, str(own_id)
    event.parent_message_id = _parent(message, where)
    quote = word(obj(message.get("quote")).get("text"))
    event.citations = [Citation(quote=quote)] if quote else []
    if "forward_origin" in message or "forward_date" in message:
        event.labels.append("forwarded")
    if album := identifier(message.get("media_group_id")):
        event.labels.append(f"album:{album}")


def _mark_edit(event: CapturedEvent, message: Object, own_id: int, where: Place) -> None:
    """Make it the edit: a repeat under another update id has the same time of edit, and so the same id."""
    edited = unix(message.get("edit_date"))
    if edited is None:
        raise BadUpdateError("no-edit-date", "an edit whose date is no time")
    event.id = telegram_event_id(where.chat, own_id, account=where.account, edited=edited)
    event.times.insert(0, edited)
    event.labels.insert(0, "edit")
    if "location" in message:
        # A live location moves every few seconds: nobody says anything.
        event.type = "status"


def _said(message: Object, kind: str) -> CapturedEvent | None:
    attachments = media(message)[:MAX_ATTACHMENTS]
    said = "\n".join(part for part in (words(message), shared(message)) if word(part))
    if not said and not attachments:
        return None
    return _event(
        "message", said or placeholder(attachments), "/".join(filter(None, (kind, media_kind(message)))), attachments
    )


def _unknown(message: Object, kind: str) -> CapturedEvent | None:
    unknown = unknown_body(message, KNOWN)
    if unknown is None:
        return None
    event = _event("message", unknown[1] or f"[{unknown[0]}]", f"{kind}/{unknown[0]}", [])
    event.labels = [UNKNOWN_LABEL]
    return event


def _happened(message: Object) -> CapturedEvent | None:
    found = service(message)
    if found is None:
        return None
    name, details = found
    actor = person_name(obj(message.get("from")) or obj(message.get("sender_chat")))
    event = _event("status", ": ".join(filter(None, (actor, name.replace("_", " "), details))), f"service/{name}", [])
    event.role, event.labels = "service", ["service"]
    return event


def _event(kind: EventType, said: str, raw_type: str, attachments: list[Attachment]) -> CapturedEvent:
    return CapturedEvent(id="", type=kind, role="user", text=said, raw_type=raw_type, attachments=attachments)


def _parent(message: Object, where: Place) -> str | None:
    """Give the message that is answered, or pinned. In a topic what answers nothing points at the topic's beginning."""
    pinned = integer(obj(message.get("pinned_message")).get("message_id"))
    answered = obj(message.get("reply_to_message"))
    target = integer(answered.get("message_id"))
    elsewhere = integer(obj(answered.get("chat")).get("id")) not in (where.chat, None)
    if target is not None and not elsewhere and target != where.topic and "forum_topic_created" not in answered:
        return str(target)
    return None if pinned is None else str(pinned)
