"""Who and where of a Signal export: ids that are local to the file become ids that Signal itself uses.

A few hundred bytes a contact, group or chat are kept. Source: section 5.3 of the chat platform notes; libsignal's
`backup.proto` for the names of members.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from adapters.chat.identity import NOTE_TO_SELF, SELF, signal_group_id, signal_service_id
from adapters.chat.signal_words import NOTE_TITLE, PROVIDER
from adapters.contract import ReadOptions
from adapters.exports.fields import Object, first_word, identifier, obj, word
from schemas.captured import Thread

RELEASE_NOTES: Final = "release-notes"

MAX_PEOPLE: Final = 1_000_000
"""Recipients and chats that are kept; a real file has a few thousand."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person, group or other peer: its id, the role of what it writes, and what it is called."""

    key: str
    role: str
    name: str | None


class People:
    """Recipients and chats of one file, by their ids in it."""

    def __init__(self, options: ReadOptions) -> None:
        self._account = options.account
        self._recipients: dict[str, Recipient] = {}
        self._threads: dict[str, Thread] = {}
        self._names: dict[str, str] = {}

    def add_recipient(self, frame: Object) -> str | None:
        """Take a recipient; gives what is wrong with it, or None."""
        own_id = identifier(frame.get("id"))
        found = self._recipient(frame)
        if own_id is None or found is None:
            return "a recipient without an id that Signal uses"
        if len(self._recipients) < MAX_PEOPLE:
            self._recipients[own_id] = found
            if found.name:
                self._names[found.key] = found.name
        return None

    def add_chat(self, frame: Object) -> str | None:
        """Take a chat; gives what is wrong with it, or None."""
        own_id, peer = identifier(frame.get("id")), self.recipient(frame.get("recipientId"))
        if own_id is None or peer is None:
            return "a chat with nobody in it"
        if len(self._threads) < MAX_PEOPLE:
            # The file does not say whose it is; the account's name does, where a person gave one.
            key = (self._account or NOTE_TO_SELF) if peer.key == SELF else peer.key
            title = NOTE_TITLE if peer.key == SELF else peer.name
            self._threads[own_id] = Thread(
                provider=PROVIDER, thread_id=key, account=self._account, channel_id=key, title=title
            )
        return None

    def recipient(self, local_id: object) -> Recipient | None:
        """Give a recipient by its id in this file."""
        found = identifier(local_id)
        return None if found is None else self._recipients.get(found)

    def thread(self, local_id: object) -> Thread | None:
        """Give the thread of a chat by its id in this file."""
        found = identifier(local_id)
        return None if found is None else self._threads.get(found)

    def name_of(self, person: str) -> str:
        """Give what a person is called, by the id that Signal uses."""
        return self._names.get(person, person)

    def _recipient(self, frame: Object) -> Recipient | None:
        if "self" in frame:
            return Recipient(SELF, "outgoing", None)
        if "releaseNotes" in frame:
            return Recipient(RELEASE_NOTES, "program", "Signal")
        if isinstance(frame.get("contact"), dict):
            return _contact(frame["contact"])
        if isinstance(frame.get("group"), dict):
            return _group(frame["group"])
        for kind, member in (("distributionList", "distributionId"), ("callLink", "rootKey")):
            if key := word(obj(frame.get(kind)).get(member)):
                return Recipient(f"{kind}:{key}", "service", None)
        return None


def _contact(contact: Object) -> Recipient | None:
    number = identifier(contact.get("e164"))
    key = first_word(
        service_id(contact.get("aci")),
        service_id(contact.get("pni")),
        f"+{number.lstrip('+')}" if number else None,
        contact.get("username"),
    )
    nickname = obj(contact.get("nickname"))
    name = (
        _joined(nickname.get("given"), nickname.get("family"))
        or _joined(contact.get("systemGivenName"), contact.get("systemFamilyName"))
        or _joined(contact.get("profileGivenName"), contact.get("profileFamilyName"))
    )
    return Recipient(key, "incoming", name) if key else None


def _group(group: Object) -> Recipient | None:
    key = signal_group_id(raw_bytes(group.get("masterKey")))
    title = obj(obj(group.get("snapshot")).get("title")).get("title")
    return Recipient(key, "service", word(title)) if key else None


def _joined(*parts: object) -> str | None:
    return " ".join(found for part in parts if (found := word(part))) or None


def service_id(value: object) -> str | None:
    """Give a person's id from its base64."""
    return signal_service_id(raw_bytes(value))


def raw_bytes(value: object) -> bytes:
    """Give the bytes behind base64; none when it is not that."""
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except (binascii.Error, ValueError):
        return b""
