"""Reads to-device messages: the Olm envelopes in which other devices give us the keys of rooms.

vodozemac does the cryptography. nio's machine on top of it is not used: it stores the spent one-time key, the Olm
session and the room key one after the other, so that a crash between them loses the key for ever; a later copy of a
key replaces an earlier one that reads more; and it knows keys by a member of events that Matrix 1.3 has deprecated.
Source: Matrix specification 1.11, `m.olm.v1.curve25519-aes-sha2`, `m.room_key`, `m.room_key.withheld`.
"""

import base64
import hashlib
from typing import Any, Final

from vodozemac import (
    Account,
    AnyOlmMessage,
    Curve25519PublicKey,
    InboundGroupSession,
    PickleException,
    PreKeyMessage,
    Session,
    SessionKey,
)

from adapters.chat.matrix_keystore import PICKLE_KEY, KeyStore, RoomKey
from adapters.chat.words import one_line
from adapters.exports.fields import Object, obj, text, word
from adapters.files.json_line import BadLine, LineDecoder

OLM: Final = "m.olm.v1.curve25519-aes-sha2"
MEGOLM: Final = "m.megolm.v1.aes-sha2"

ACCOUNT: Final = "account"

MAX_ID_CHARS: Final = 255
"""The longest id of a room, a person or an event in Matrix, in bytes even; sessions and keys have 43 characters."""

_PRE_KEY, _NORMAL = 0, 1
_payloads: Final = LineDecoder[Object](dict[str, Any])


class UnreadableError(ValueError):
    """A to-device message that cannot be used; the message says why, and holds nothing of its content."""


class BrokenSessionError(UnreadableError):
    """A message of a device (`sender`, `sender_key`) with which there is no session that reads it."""

    def __init__(self, message: str, sender: str, sender_key: str) -> None:
        super().__init__(message)
        self.sender = sender
        self.sender_key = sender_key


class Olm:
    """The device whose keys are in `store`, as the one to whom messages come; makes its account when there is none."""

    def __init__(self, store: KeyStore, user: str) -> None:
        self._store = store
        self._user = user
        if store.get(ACCOUNT) is None:
            with store.transaction():
                self.save(Account())
        account = self.account()
        self.curve25519 = account.curve25519_key.to_base64()
        self.ed25519 = account.ed25519_key.to_base64()

    def account(self) -> Account:
        """Give the account as it is stored: after what failed there is no half-changed one in memory."""
        try:
            return Account.from_pickle(self._store.get(ACCOUNT) or "", PICKLE_KEY)
        except PickleException:
            raise self._store.damaged("the account cannot be read") from None

    def save(self, account: Account) -> None:
        """Keep the account, within a transaction."""
        self._store.put(ACCOUNT, account.pickle(PICKLE_KEY))

    def receive(self, event: Object) -> bool:
        """Take one to-device message; says whether it brought a room key that was new.

        One that was handled before changes nothing, nor does one that is none of ours. Raises `UnreadableError`, and
        `SourceError` when the keys cannot be stored.
        """
        content = obj(event.get("content"))
        if event.get("type") != "m.room.encrypted":
            return False
        if content.get("algorithm") != OLM:
            raise UnreadableError("it is encrypted in a way that is not known")
        ours = obj(obj(content.get("ciphertext")).get(self.curve25519))
        kind, body = ours.get("type"), text(ours.get("body"))
        if not body or kind not in (_PRE_KEY, _NORMAL) or isinstance(kind, bool | float):
            raise UnreadableError("it is not for the keys of this device")
        digest = hashlib.sha256(f"{kind} {body}".encode(errors="replace")).digest()
        with self._store.transaction():
            if self._store.is_handled(digest):
                return False
            sender_key = _id(content, "sender_key")
            payload = self._payload(event, self._plain(_id(event, "sender"), sender_key, kind, body))
            brought = payload.get("type") == "m.room_key" and self._store.keep(_room_key(payload, sender_key))
            self._store.note_handled(digest)
        return brought

    def _plain(self, sender: str, sender_key: str, kind: int, body: str) -> bytes:
        """Decrypt with a session that is there, or the one that the message begins."""
        try:
            message = AnyOlmMessage.from_parts(kind, base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
            begins = message.to_pre_key()
        except ValueError:
            raise UnreadableError("it is no message of Olm") from None
        for pickle in self._store.sessions(sender_key):
            session = self._session(pickle)
            if begins is not None and not session.session_matches(begins):
                continue
            try:
                plain = session.decrypt(message)
            except ValueError:
                continue
            self._store.save_session(sender_key, session.session_id, session.pickle(PICKLE_KEY))
            return plain
        plain_of_new = None if begins is None else self._begun(sender_key, begins)
        if plain_of_new is None:
            raise BrokenSessionError("no session with its sender reads it", sender, sender_key)
        return plain_of_new

    def _begun(self, sender_key: str, begins: PreKeyMessage) -> bytes | None:
        """Begin the session of a message; None when it was made for one-time keys that are used up, or not ours."""
        account = self.account()
        try:
            session, plain = account.create_inbound_session(Curve25519PublicKey.from_base64(sender_key), begins)
        except ValueError:
            return None
        self.save(account)
        self._store.save_session(sender_key, session.session_id, session.pickle(PICKLE_KEY))
        return plain

    def _session(self, pickle: str) -> Session:
        try:
            return Session.from_pickle(pickle, PICKLE_KEY)
        except PickleException:
            raise self._store.damaged("a session cannot be read") from None

    def _payload(self, event: Object, plain: bytes) -> Object:
        """Check who wrote to whom: otherwise a message to somebody else could be passed on as one to us."""
        try:
            payload = _payloads.decode(plain)
        except BadLine:
            raise UnreadableError("what it holds is no JSON object") from None
        if payload.get("sender") != _id(event, "sender"):
            raise UnreadableError("it was written by somebody else than who sent it")
        if payload.get("recipient") != self._user:
            raise UnreadableError("it was written to somebody else")
        if obj(payload.get("recipient_keys")).get("ed25519") != self.ed25519:
            raise UnreadableError("it was written to another device")
        return payload


def withheld(event: Object) -> str | None:
    """Say that somebody does not share a key with us, and why; None when the event says no such thing."""
    if event.get("type") != "m.room_key.withheld":
        return None
    content = obj(event.get("content"))
    sender, room = one_line(text(event.get("sender"))), one_line(text(content.get("room_id"))) or "all rooms"
    reason = f"{one_line(text(content.get('code')))} {one_line(text(content.get('reason')))}".strip()
    return f"{sender} does not share the keys of {room} with this device: {reason or 'no reason given'}"


def _room_key(payload: Object, sender_key: str) -> RoomKey:
    content = obj(payload.get("content"))
    if content.get("algorithm") != MEGOLM:
        raise UnreadableError("its room key is of a kind that is not known")
    try:
        key = InboundGroupSession(SessionKey(text(content.get("session_key"))))
    except ValueError:
        raise UnreadableError("its room key is damaged") from None
    if key.session_id != _id(content, "session_id"):
        raise UnreadableError("its room key is of another session than it says")
    room, sender = _id(content, "room_id"), _id(payload, "sender")
    return RoomKey(key.session_id, room, sender, sender_key, key.first_known_index, key.pickle(PICKLE_KEY))


def _id(holder: Object, name: str) -> str:
    found = word(holder.get(name))
    if found is None or len(found) > MAX_ID_CHARS or not found.isprintable():
        raise UnreadableError(f"its {name} is none")
    return found
