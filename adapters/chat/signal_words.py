"""What Signal's messages say in words: the same live and from its own export.

Names of members are signal-cli's. Source: section 5.1 of the chat platform notes; signal-cli's records in
`org.asamk.signal.json`.
"""

from collections.abc import Iterable
from typing import Final

from adapters.chat.words import bracket, choices
from adapters.exports.fields import Object, array, number, obj, objects, text
from adapters.exports.media import attachment
from schemas.event import Attachment

PROVIDER: Final = "signal"
NOTE_TITLE: Final = "Note to Self"
DELETED: Final = "[deleted message]"

MENTION: Final = "\ufffc"
"""What stands in a text where somebody is mentioned."""

_MENTION_UNITS: Final = MENTION.encode("utf-16-le")


def mentioned(body: str, people: Iterable[tuple[int, str]]) -> str:
    """Put names in the places that Signal keeps for them; `people` are pairs of a place and a name.

    Places count UTF-16 units, as Java and JavaScript do.
    """
    if MENTION not in body:
        return body
    units = body.encode("utf-16-le")
    for start, name in sorted(people, key=lambda found: found[0], reverse=True):
        if units[2 * start : 2 * start + 2] == _MENTION_UNITS:
            units = units[: 2 * start] + f"@{name}".encode("utf-16-le") + units[2 * start + 2 :]
    return units.decode("utf-16-le", "replace")


def contact(name: Object, given: str = "givenName", family: str = "familyName") -> str:
    """Say whose contact was shared."""
    return bracket("contact", name.get(given), name.get(family))


def poll(question: object, options: Iterable[object]) -> str:
    """Say what a poll asks."""
    return choices("poll", text(question), map(text, options))


def files(message: Object) -> list[Attachment]:
    """Give what came with a live message; of what may be seen once not even the kind is told."""
    kind = "media" if message.get("viewOnce") is True else None
    found = [
        attachment(kind, each.get("filename"), each.get("contentType"), size=each.get("size"))
        for each in objects(message.get("attachments"))
    ]
    return [*found, attachment("image")] if isinstance(message.get("sticker"), dict) else found


def shared(message: Object) -> str:
    """Say what a live message shares that is no file: contacts, a poll; empty when it shares nothing."""
    if isinstance(message.get("pollCreate"), dict):
        return poll(message["pollCreate"].get("question"), array(message["pollCreate"].get("options")))
    people = objects(message.get("contacts"))
    return "\n".join(contact(obj(person.get("name")), "given", "family") for person in people)


def kind_of(message: Object) -> str:
    """Give the name that Signal's export has for a live message of this kind."""
    if message.get("viewOnce") is True:
        return "viewOnceMessage"
    kinds = {"sticker": "stickerMessage", "pollCreate": "poll", "contacts": "contactMessage"}
    return next((kind for member, kind in kinds.items() if message.get(member)), "standardMessage")


def service(message: Object) -> tuple[str, str] | None:
    """Give the kind and the words of a message that nobody wrote; None when it is another."""
    if isinstance(message.get("payment"), dict):
        return "paymentNotification", bracket("payment", message["payment"].get("note"))
    if message.get("isExpirationUpdate") is True:
        seconds = number(message.get("expiresInSeconds"))
        return "expirationUpdate", bracket("disappearing messages", f"after {seconds} s" if seconds else "off")
    for member, words in (("pinMessage", "pinned message"), ("unpinMessage", "unpinned message")):
        if isinstance(message.get(member), dict):
            return member, bracket(words)
    if isinstance(message.get("pollTerminate"), dict):
        return "pollTerminate", bracket("poll ended")
    if isinstance(message.get("pollVote"), dict):
        chosen = [
            str(found)
            for each in array(message["pollVote"].get("optionIndexes"))
            if (found := number(each)) is not None
        ]
        return "pollVote", bracket("poll answer", ", ".join(chosen) or "taken back")
    return None
