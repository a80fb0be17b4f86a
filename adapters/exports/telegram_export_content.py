"""What a message of a Telegram Desktop export says: its text in all forms, and what came with it.

Source: section 2.5 of the chat platform notes; the exporter's own `export_output_json.cpp` for the names of members.
"""

from typing import Any, Final

from adapters.exports.fields import Object, first_word, obj, objects, text, word
from adapters.exports.media import attachment
from schemas.event import Attachment

MAX_NODES: Final = 20_000
"""Values looked at in a message of an unknown shape; a real one has a few hundred."""

_PHOTO_TYPE: Final = "image/jpeg"
"""Telegram makes every photo a JPEG."""

_MEDIA_KINDS: Final = {
    "sticker": "image",
    "animation": "video",
    "video_file": "video",
    "video_message": "video",
    "voice_message": "audio",
    "audio_file": "audio",
}

# Members of a message that are about it, not of it: what else has words in an unknown shape is shown.
_KNOWN: Final = frozenset(
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


def words(message: Object) -> str:
    """Give the text of a message: whole strings and entities joined, whichever form the exporter's version has."""
    whole = _joined(message.get("text"))
    return whole if word(whole) else _joined(message.get("text_entities"))


def _joined(value: object) -> str:
    """Join a text, or a list of texts and `{type, text}`; what is neither has no words."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "".join(part if isinstance(part, str) else text(obj(part).get("text")) for part in value)


def media(message: Object) -> list[Attachment]:
    """Give what came with a message. A sentence in the place of a path says why a file is missing, and is no name."""
    if "photo" in message:
        path = _path(message["photo"])
        return [attachment("image", _name(path), _PHOTO_TYPE, path, message.get("photo_file_size"))]
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
        contact = obj(message["contact_information"])
        return _bracket("contact", *(contact.get(key) for key in ("first_name", "last_name", "phone_number")))
    if "location_information" in message or word(message.get("place_name")):
        return _place(message)
    if isinstance(message.get("poll"), dict):
        poll: Object = message["poll"]
        lines = [_bracket("poll", _joined(poll.get("question")))]
        return "\n".join([*lines, *(f"- {_joined(answer.get('text'))}" for answer in objects(poll.get("answers")))])
    if word(message.get("game_title")):
        return _bracket("game", message["game_title"], message.get("game_description"))
    if isinstance(message.get("invoice_information"), dict | str):
        return _bracket("invoice", obj(message["invoice_information"]).get("title"))
    return ""


def _place(message: Object) -> str:
    place = obj(message.get("location_information"))
    spot = [str(place[key]) for key in ("latitude", "longitude") if isinstance(place.get(key), int | float)]
    return _bracket("location", message.get("place_name"), message.get("address"), ", ".join(spot))


def _bracket(what: str, *details: object) -> str:
    told = " ".join(found.strip() for detail in details if (found := word(detail)))
    return f"[{what}: {told}]" if told else f"[{what}]"


def unknown_body(message: Object) -> tuple[str, str] | None:
    """Give the name and the words of the first member that no version known here writes, such as `rich_message`."""
    for name, value in message.items():
        if name not in _KNOWN and isinstance(value, dict | list):
            return name, nested_words(value)
    return None


def nested_words(value: Any) -> str:
    """Collect the texts of a nested shape in their order, one a line; without recursion, up to `MAX_NODES` values."""
    found: list[str] = []
    waiting: list[Any] = [value]
    for _ in range(MAX_NODES):
        if not waiting:
            break
        node = waiting.pop()
        if isinstance(node, dict):
            waiting.extend(
                _joined(child) or child if key == "text" else child
                for key, child in reversed(node.items())
                if key == "text" or isinstance(child, dict | list)
            )
        elif isinstance(node, list):
            waiting.extend(reversed(node))
        elif word(node):
            found.append(node.strip())
    return "\n".join(found)
