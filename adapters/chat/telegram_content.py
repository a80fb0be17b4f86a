"""What a message of the Bot API says: its words, what came with it, what it shares, and what a service message tells.

Names of members are those of the Bot API 10.0. Source: section 2.4 of the chat platform notes.
"""

from collections.abc import Callable
from typing import Final

from adapters.chat.telegram_words import PHOTO_TYPE, contact
from adapters.chat.words import bracket, choices, place
from adapters.exports.fields import Object, first_word, number, obj, objects, text, word
from adapters.exports.media import attachment
from schemas.event import Attachment

MEDIA: Final = {
    "photo": "image",
    "live_photo": "image",
    "sticker": "image",
    "animation": "video",
    "video": "video",
    "video_note": "video",
    "voice": "audio",
    "audio": "audio",
    "document": None,
}
"""Members that are files, and what kind of attachment each is; a document's media type tells it."""

SERVICE: Final = frozenset(
    {
        "new_chat_members", "new_chat_member", "new_chat_participant", "left_chat_member", "left_chat_participant",
        "chat_owner_left", "chat_owner_changed", "new_chat_title", "new_chat_photo", "delete_chat_photo",
        "group_chat_created", "supergroup_chat_created", "channel_chat_created", "message_auto_delete_timer_changed",
        "migrate_to_chat_id", "migrate_from_chat_id", "pinned_message", "successful_payment", "refunded_payment",
        "users_shared", "user_shared", "chat_shared", "gift", "unique_gift", "gift_upgrade_sent", "connected_website",
        "write_access_allowed", "passport_data", "proximity_alert_triggered", "boost_added", "chat_background_set",
        "checklist_tasks_done", "checklist_tasks_added", "direct_message_price_changed", "forum_topic_created",
        "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened", "general_forum_topic_hidden",
        "general_forum_topic_unhidden", "giveaway_created", "giveaway_completed", "managed_bot_created",
        "paid_message_price_changed", "suggested_post_approved", "suggested_post_approval_failed",
        "suggested_post_declined", "suggested_post_paid", "suggested_post_refunded", "video_chat_scheduled",
        "video_chat_started", "video_chat_ended", "video_chat_participants_invited", "voice_chat_scheduled",
        "voice_chat_started", "voice_chat_ended", "voice_chat_participants_invited", "web_app_data",
    }
)  # fmt: skip
"""Members of messages that nobody wrote: something happened in the chat."""

KNOWN: Final = SERVICE | {
    "message_id", "message_thread_id", "direct_messages_topic", "from", "sender_chat", "sender_boost_count",
    "sender_business_bot", "sender_tag", "date", "guest_query_id", "business_connection_id", "chat", "forward_origin",
    "forward_from", "forward_from_chat", "forward_date", "is_topic_message", "is_automatic_forward",
    "reply_to_message", "external_reply", "quote", "reply_to_story", "reply_to_checklist_task_id", "via_bot",
    "guest_bot_caller_user", "guest_bot_caller_chat", "edit_date", "author_signature", "text", "entities",
    "link_preview_options", "suggested_post_info", "effect_id", "caption", "caption_entities", "reply_markup",
    "effect",
}  # fmt: skip
"""Members that are about a message, or told elsewhere here: what else has a shape is shown by its name."""


def words(message: Object) -> str:
    """Give the text of a message, or the caption of what came with it."""
    return word(message.get("text")) or text(message.get("caption"))


def media(message: Object) -> list[Attachment]:
    """Give the files that came with a message."""
    found = [_file(message, name, kind) for name, kind in MEDIA.items() if message.get(name)]
    # An animation comes a second time as a document, for programs that know no animations.
    if "animation" in message and "document" in message:
        found.pop()
    for item in objects(obj(message.get("paid_media")).get("paid_media")):
        kind = word(item.get("type"))
        found.append(_file(item, kind, MEDIA[kind]) if kind in MEDIA else attachment("image"))
    return found


def media_kind(message: Object) -> str | None:
    """Give the name of the first file member, or of what the message shares."""
    names = (*MEDIA, "paid_media", *_SHARED)
    return next((name for name in names if message.get(name)), None)


def _file(message: Object, name: str, kind: str | None) -> Attachment:
    if name == "photo":
        largest = max(objects(message.get("photo")), key=lambda size: number(size.get("file_size")) or 0, default={})
        return attachment(kind, None, PHOTO_TYPE, None, largest.get("file_size"))
    file = obj(message.get(name))
    media_type = file.get("mime_type") or ("video/mp4" if name == "video_note" else None)
    return attachment(
        kind, first_word(file.get("file_name"), file.get("title")), media_type, None, file.get("file_size")
    )


def _poll(poll: Object) -> str:
    return choices(
        "poll", text(poll.get("question")), (text(answer.get("text")) for answer in objects(poll.get("options")))
    )


def _checklist(checklist: Object) -> str:
    return choices(
        "checklist", text(checklist.get("title")), (text(task.get("text")) for task in objects(checklist.get("tasks")))
    )


def _dice(dice: Object) -> str:
    return bracket("dice", dice.get("emoji"), str(number(dice.get("value")) or ""))


def _venue(venue: Object) -> str:
    return place(obj(venue.get("location")), venue.get("title"), venue.get("address"))


# A venue comes a second time as a location, a poll of a message alone.
_SHARED: Final[dict[str, Callable[[Object], str]]] = {
    "venue": _venue,
    "location": place,
    "contact": contact,
    "poll": _poll,
    "checklist": _checklist,
    "dice": _dice,
    "game": lambda game: bracket("game", game.get("title"), game.get("description")),
    "invoice": lambda invoice: bracket("invoice", invoice.get("title"), invoice.get("description")),
    "story": lambda _: bracket("story"),
    "giveaway": lambda giveaway: bracket("giveaway", giveaway.get("prize_description")),
    "giveaway_winners": lambda giveaway: bracket("giveaway winners", giveaway.get("prize_description")),
}


def shared(message: Object) -> str:
    """Say what a message shares that is no file: a place, a contact, a poll; empty when it shares nothing."""
    for name, told in _SHARED.items():
        if isinstance(message.get(name), dict):
            return told(message[name])
    return ""


def service(message: Object) -> tuple[str, str] | None:
    """Give the name of what a service message is about, and its details in words; None when it is another message."""
    name = next((name for name in message if name in SERVICE), None)
    return None if name is None else (name, _details(message[name]))


def _details(value: object) -> str:
    return ", ".join(filter(None, map(_one_detail, value if isinstance(value, list) else [value])))


def _one_detail(value: object) -> str:
    if isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return value.strip()
    inner = obj(value)
    if "first_name" in inner:
        return person_name(inner) or ""
    told = first_word(words(inner), inner.get("name"), inner.get("title"), inner.get("data"))
    return told or ""


def person_name(person: Object) -> str | None:
    """Give the name of a user or a chat, as people see it."""
    whole = " ".join(found.strip() for key in ("first_name", "last_name") if (found := word(person.get(key))))
    return whole or first_word(person.get("title"), person.get("username"))
