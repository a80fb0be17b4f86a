"""What Matrix events say in words: bodies without quotes of others, media, polls, changes of a room.

Source: section 3.4 of the chat platform notes; the Matrix specification, client-server API 1.11.
"""

from typing import Final

from adapters.chat.words import choices
from adapters.exports.fields import Object, obj, objects, text, word
from adapters.exports.media import attachment
from schemas.event import Attachment

MEDIA: Final = {"m.image": "image", "m.audio": "audio", "m.video": "video", "m.file": "file", "m.sticker": "image"}

POLLS: Final = ("m.poll.start", "org.matrix.msc3381.poll.start")

_TYPES: Final = frozenset({"m.room.message", "m.room.encrypted", "m.room.redaction", "m.reaction", "m.sticker", ""})
_FAMILIES: Final = ("m.poll.", "m.call.", "m.key.verification.", "m.rtc.", "m.beacon")
_WORDS: Final = frozenset({"m.text", "m.notice", "m.emote", "m.location", "m.server_notice", "m.bad.encrypted"})


def without_fallback(body: str) -> str:
    """Give the words of a reply without the quote before them: lines that begin with `> `, and a blank line."""
    if not body.startswith("> "):
        return body
    lines = body.split("\n")
    kept = next((place for place, line in enumerate(lines) if not line.startswith("> ")), len(lines))
    if kept < len(lines) and not lines[kept].strip():
        kept += 1
    return "\n".join(lines[kept:])


def media(kind: str, content: Object) -> Attachment:
    """Give what came with a message of a kind of `MEDIA`; an encrypted file has its address in `file`."""
    info = obj(content.get("info"))
    url = word(content.get("url")) or word(obj(content.get("file")).get("url"))
    name = word(content.get("filename")) or word(content.get("body"))
    return attachment(MEDIA[kind], name, info.get("mimetype"), url, info.get("size"))


def poll(content: Object) -> str:
    """Say what a poll asks, one answer a line."""
    asked = obj(content.get("m.poll")) or obj(content.get(POLLS[1]))
    answers = (_extensible(answer) for answer in objects(asked.get("answers")))
    return choices("poll", _extensible(obj(asked.get("question"))), answers)


def change(event: Object) -> str:
    """Say what a state event changes: its kind without `m.room.`, what it is set to, and whom or what it is about."""
    content = obj(event.get("content"))
    told = (content.get(name) for name in ("membership", "displayname", "name", "topic", "body", "replacement_room"))
    before = word(obj(content.get("predecessor")).get("room_id"))
    parts = (
        text(event.get("type")).removeprefix("m.room."),
        *map(word, told),
        f"continues {before}" if before else None,
        word(event.get("state_key")),
    )
    return " ".join(filter(None, parts))


def is_unknown(event: Object) -> bool:
    """Whether the specification has a kind of event or of message that this version does not know.

    Kinds outside of the `m.` of the specification are anybody's, and no sign of anything.
    """
    if "state_key" in event:
        return False
    kind, message = text(event.get("type")), text(obj(event.get("content")).get("msgtype"))
    if kind.startswith("m.") and kind not in _TYPES and not kind.startswith(_FAMILIES):
        return True
    known = message in MEDIA or message in _WORDS or message.startswith(_FAMILIES)
    return kind == "m.room.message" and message.startswith("m.") and not known


def _extensible(part: Object) -> str:
    found = part.get("m.text") or part.get("org.matrix.msc1767.text") or part.get("body")
    return text(found) or next((text(item.get("body")) for item in objects(found)), "")
