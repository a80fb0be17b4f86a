"""End-to-end encryption for a source that only reads: takes the keys that come, and decrypts events of rooms.

A key counts for the room and the person that it came for and from: an event of another sender, or in another room, that
uses it is refused. Missing keys are not asked for: other clients answer only devices that are verified, and a key that
somebody passes on says only by their word whose it is. Source: Matrix specification 1.11, `m.megolm.v1.aes-sha2`.
"""

import asyncio
from collections import OrderedDict
from pathlib import Path
from typing import Any, Final, NamedTuple

from vodozemac import InboundGroupSession, MegolmMessage, PickleException

from adapters.chat.matrix_device import Call, Device
from adapters.chat.matrix_keystore import PICKLE_KEY, KeyStore, RoomKey
from adapters.chat.matrix_mending import Mending
from adapters.chat.matrix_olm import MAX_ID_CHARS, MEGOLM, BrokenSessionError, Olm, UnreadableError, withheld
from adapters.chat.words import one_line
from adapters.contract import TransientSourceError, Warned
from adapters.exports.fields import Object, array, obj, text, word
from adapters.files.json_line import BadLine, LineDecoder

MAX_REPLAYS: Final = 50_000
"""Messages of which it is known which event they came in, for who sends them again; some 10 MB."""

_EDIT: Final = "m.replace"
_RELATION: Final = "m.relates_to"
_payloads: Final = LineDecoder[Object](dict[str, Any])


class RefusedEventError(ValueError):
    """An encrypted event that must not be read; `reason` is of a closed set, the message says what it is about.

    Reasons: `malformed-encryption`, `unknown-encryption`, `key-of-another-sender`, `key-of-another-room`,
    `damaged-ciphertext`, `payload-of-another-room`, `replayed-message`.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Sealed(NamedTuple):
    """What can be seen of an encrypted event without its key."""

    sender: str
    session: str
    message: MegolmMessage
    sender_key: str


class Keys:
    """The keys of one device. `take` comes first, then what it brought can be decrypted; `close` when done."""

    def __init__(self, store: KeyStore, user: str, device: str) -> None:
        self._store = store
        self._olm = Olm(store, user)
        self._device = Device(store, self._olm, user, device)
        self._mending = Mending(store, self._olm, user, device)
        self._replays: OrderedDict[tuple[str, str, str, int], str] = OrderedDict()
        self._where = f"keys of {device}"
        self.arrived = True
        """Whether room keys came with the last `take`, or may have come before this began."""

    @classmethod
    def open(cls, folder: Path, user: str, device: str) -> "Keys":
        """Open the keys in `folder`, or make them, for the device `device` of `user`; blocks.

        Raises `PermanentSourceError` when they are damaged or another device's, `TransientSourceError` when another
        process has them.
        """
        store = KeyStore(folder, user, device)
        try:
            return cls(store, user, device)
        except BaseException:
            store.close()
            raise

    async def take(self, sync: Object, call: Call) -> list[Warned]:
        """Take the to-device messages of a sync answer, and upload keys of ours when they grow few.

        A message that cannot be used, or an upload that fails, is told and costs nothing else; what was taken before
        changes nothing. Raises `SourceError` when keys cannot be stored, or a person must act.
        """
        events = array(obj(sync.get("to_device")).get("events"))
        warnings = await asyncio.to_thread(self._receive, events)
        try:
            await self._device.keep_up(sync, call)
            await self._mending.mend(call)
        except TransientSourceError as error:
            warnings.append(
                Warned(self._where, f"keys of this device are not up to date, another try follows: {error}")
            )
        return warnings

    def decrypt(self, room: str, event: Object) -> Object | None:
        """Give the event with the type and the content that were encrypted, and all else as it is.

        None while the key is missing. Raises `RefusedEventError`, and `SourceError` when the keys cannot be read.
        """
        sealed = _sealed(event)
        key = self._key(room, sealed)
        if key is None or key.first_index > sealed.message.message_index():
            return None
        payload = self._payload(key, sealed.message)
        if payload.get("room_id") != room:
            raise RefusedEventError("payload-of-another-room", "the encrypted content says that it is of another room")
        kind, content = word(payload.get("type")), payload.get("content")
        if kind is None or kind == "m.room.encrypted" or not isinstance(content, dict):
            raise RefusedEventError("malformed-encryption", "the encrypted content is no event")
        self._first_time(room, sealed, text(event.get("event_id")))
        return event | {"type": kind, "content": _with_relation(content, obj(event.get("content")))}

    def waits_for(self, event: Object) -> str | None:
        """Name what an encrypted event waits for, to be asked with `has`; None when nothing would make it readable."""
        try:
            sealed = _sealed(event)
        except RefusedEventError:
            return None
        return f"{sealed.session} {sealed.message.message_index()} {sealed.sender}"

    def has(self, room: str, session: str) -> bool:
        """Whether the key is there that an event of a room waits for; `session` is from `waits_for`."""
        name, _, rest = session.partition(" ")
        index, _, sender = rest.partition(" ")
        return index.isdecimal() and any(
            (key.room, key.sender) == (room, sender) and key.first_index <= int(index)
            for key in self._store.room_keys(name)
        )

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _receive(self, events: list[Any]) -> list[Warned]:
        warnings = []
        came = False
        for event in events:
            try:
                came |= self._olm.receive(obj(event))
                problem = withheld(obj(event))
            except UnreadableError as error:
                if isinstance(error, BrokenSessionError):
                    self._mending.note(error.sender, error.sender_key)
                sender = one_line(text(obj(event).get("sender"))) or "nobody"
                problem = f"a message with keys from {sender} cannot be used: {error}"
            if problem:
                warnings.append(Warned(self._where, problem))
        self.arrived = came
        return warnings

    def _key(self, room: str, sealed: Sealed) -> RoomKey | None:
        known = self._store.room_keys(sealed.session)
        for key in known:
            if (key.room, key.sender) == (room, sealed.sender):
                return key
        # Somebody may have passed on a key before its owner gave it to us: only the owner's device tells them apart.
        owners = [key for key in known if key.sender_key == sealed.sender_key or key.sender == sealed.sender]
        if any(key.sender == sealed.sender for key in owners):
            raise RefusedEventError("key-of-another-room", "the event is encrypted with a key of another room")
        if owners:
            raise RefusedEventError("key-of-another-sender", "the event is encrypted with a key of another sender")
        return None

    def _payload(self, key: RoomKey, message: MegolmMessage) -> Object:
        try:
            plain = InboundGroupSession.from_pickle(key.pickle, PICKLE_KEY).decrypt(message).plaintext
        except PickleException:
            raise self._store.damaged("a room key cannot be read") from None
        except ValueError:
            raise RefusedEventError("damaged-ciphertext", "the event was changed after it was encrypted") from None
        try:
            return _payloads.decode(plain)
        except BadLine:
            raise RefusedEventError("malformed-encryption", "the encrypted content is no JSON object") from None

    def _first_time(self, room: str, sealed: Sealed, event: str) -> None:
        """Refuse a message that came in another event before: each index of a session is for one."""
        index = room, sealed.session, sealed.sender, sealed.message.message_index()
        if self._replays.setdefault(index, event) != event:
            raise RefusedEventError("replayed-message", "the encrypted content came before, in another event")
        if len(self._replays) > MAX_REPLAYS:
            self._replays.popitem(last=False)


def _sealed(event: Object) -> Sealed:
    content = obj(event.get("content"))
    if content.get("algorithm") != MEGOLM:
        raise RefusedEventError("unknown-encryption", "the event is encrypted in a way that is not known")
    sender, session = text(event.get("sender")), text(content.get("session_id"))
    for found in (sender, session):
        if not 0 < len(found) <= MAX_ID_CHARS or not found.isprintable() or found.startswith(" "):
            raise RefusedEventError("malformed-encryption", "the encrypted event lacks its sender or its session")
    if " " in session:
        raise RefusedEventError("malformed-encryption", "the encrypted event names no session")
    try:
        message = MegolmMessage.from_base64(text(content.get("ciphertext")))
    except ValueError:
        raise RefusedEventError("malformed-encryption", "the encrypted event has no ciphertext") from None
    return Sealed(sender, session, message, text(content.get("sender_key")))


def _with_relation(content: Object, wrapper: Object) -> Object:
    """Give the content its relation: the server goes by the clear one, and so does everybody.

    Where only the encrypted content has one it counts, but not for an edit, of which the specification says so.
    """
    if _RELATION in wrapper:
        return content | {_RELATION: wrapper[_RELATION]}
    if obj(content.get(_RELATION)).get("rel_type") == _EDIT:
        return {name: value for name, value in content.items() if name != _RELATION}
    return content
