"""What a message of a Telegram Desktop export says: its text in all forms, and what came with it.

Source: section 2.5 of the chat platform notes; the exporter's own `export_output_json.cpp` for the names of members.
"""

from typing import Final

from adapters.chat.telegram_words import PHOTO_TYPE, contact
from adapters.chat.words import bracket, choices, joined, nested_words, place
from adapters.exports.fields import Object, first_word, obj, objects, text, word
from adapters.exports.media import attachment
from schemas.event import Attachment

_MEDIA_KINDS: Final = {
    "sticker": "image",
    "animation": "video",
    "video_file": "video",
    "video_message": "video",
    "voice_message": "audio",
    "audio_file": "audio",
}

KNOWN: Final = frozenset(
    {
        "id", "type", "date", "date_unixtime", "edited", "edited_unixtime", "from", "from_id", "actor", "actor_id",
        "action", "author", "text", "text_entities", "reply_to_message_id", "reply_to_peer_id", "reply_to_story_id",
        "forwarded_from", "forwarded_from_id", "saved_from", "via_bot", "photo", "file", "photo_file_size",
        "file_name", "file_size", "thumbnail", "thumbnail_file_size", "media_type", "mime_type", "duration_seconds",
        "width", "height", "media_spoiler", "self_destruct_period_seconds", "sticker_emoji", "performer", "title",
        "contact_information", "contact_vcard", "contact_vcard_file_size", "location_information",
        "live_location_period_seconds", "place_name", "address", "poll", "reactions", "inline_bot_buttons", "members",
        "views", "signature", "message_id",
    }
)  # fmt: skip
"""Members of a message that are about it, not of it: what else has words in an unknown shape is shown."""


def words(message: Object) -> str:
    """Give the text of a message: whole strings and entities joined, whichever form the exporter's version has."""
    whole = joined(message.get("text"))
    return whole if word(whole) else joined(message.get("text_entities"))


def odd_text(message: Object) -> tuple[str, str] | None:
    """Give the name and the words of a text in a form that no version of the exporter was known to have."""
    value = message.get("text")
    return ("text", nested_words(value)) if value and not isinstance(value, str) else None


def media(message: Object) -> list[Attachment]:
    """Give what came with a message. A sentence in the place of a path says why a file is missing, and is no name."""
    if "photo" in message:
        path = _path(message["photo"])
        return [attachment("image", _name(path), PHOTO_TYPE, path, message.get("photo_file_size"))]
    if "file" in message or word(message.get("media_type")):
        path = _path(message.get("file"))
        name = first_word(message.get("file_name"), _name(path), message.get("title"))
        kind = _MEDIA_KINDS.get(text(message.get("media_type")))
        return [attachment(kind, name, message.get("mime_type"), path, message.get("file_size"))]
    return []


def _path(value: object) -> str | None:
    found = word(value)
    return None if found is None or found.startswith("(") or found.endswith(".)") else found


def _name(path: str | None) -> str | None:
    return path.rpartition("/")[2] or None if path else None


def shared(message: Object) -> str:
    """Say what a message shares that is no file: a contact, a place, a poll, a game; empty when it shares nothing."""
    if "contact_information" in message:
        return contact(obj(message["contact_information"]))
    if "location_information" in message or word(message.get("place_name")):
        return place(obj(message.get("location_information")), message.get("place_name"), message.get("address"))
    if isinstance(message.get("poll"), dict):
        poll: Object = message["poll"]
        answers = (joined(answer.get("text")) for answer in objects(poll.get("answers")))
        return choices("poll", joined(poll.get("question")), answers)
    if word(message.get("game_title")):
        return bracket("game", message["game_title"], message.get("game_description"))
    if isinstance(message.get("invoice_information"), dict | str):
        return bracket("invoice", obj(message["invoice_information"]).get("title"))
    return ""
