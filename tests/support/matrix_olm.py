"""Both sides of encryption: devices of matrix-nio that share keys and encrypt, a server between, and our reader."""

import asyncio
import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from nio import KeysClaimResponse, KeysQueryResponse, ToDeviceEvent
from nio.crypto import Olm
from nio.store import SqliteMemoryStore

from adapters.chat.matrix_api import CLIENT, RefusedError
from adapters.chat.matrix_device import Call
from adapters.chat.matrix_keys import Keys, RefusedEventError

if TYPE_CHECKING:
    from adapters.contract import SourceError

READER = "@ingest:hs.test"
DEVICE = "READERDEV"
ROOM = "!room:hs.test"
ALICE = "@alice:hs.test"


class KeyServer:
    """What a homeserver does for encryption: keeps device keys, hands out and counts one-time keys; notes each call."""

    def __init__(self) -> None:
        self.devices: dict[tuple[str, str], dict[str, Any]] = {}
        self.one_time: dict[tuple[str, str], dict[str, Any]] = {}
        self.fallback: dict[tuple[str, str], dict[str, Any]] = {}
        self.unused_fallback = False
        self.calls: list[tuple[str, Any]] = []
        self.names: dict[str, Any] = {}
        self.sent: list[dict[str, Any]] = []
        self.failing: SourceError | None = None
        self.owner = READER, DEVICE

    async def call(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer as the server, to the device that is its `owner`."""
        body = json.loads(json.dumps(body))
        self.calls.append((path.removeprefix(CLIENT), body))
        if self.failing:
            raise self.failing
        if path.endswith("/keys/query"):
            return self.query(list(body["device_keys"]))
        if path.endswith("/keys/claim"):
            ((user, devices),) = body["one_time_keys"].items()
            return self.claim(user, *devices)
        if method == "PUT":
            assert path.startswith(f"{CLIENT}/sendToDevice/m.room.encrypted/")
            self.sent.append(body["messages"])
            return {}
        assert (method, path) == ("POST", f"{CLIENT}/keys/upload")
        if "device_keys" in body:
            self.devices[self.owner] = body["device_keys"]
        offered = body.get("one_time_keys", {})
        for name, key in offered.items():
            if self.names.setdefault(name, key) != key:
                raise RefusedError(f"one time key {name} already exists", "M_UNKNOWN", 400)
        self.one_time.setdefault(self.owner, {}).update(offered)
        if "fallback_keys" in body:
            self.fallback[self.owner] = body["fallback_keys"]
            self.unused_fallback = True
        return {"one_time_key_counts": {"signed_curve25519": len(self.one_time[self.owner])}}

    def query(self, users: list[str]) -> dict[str, Any]:
        """Answer `/keys/query`."""
        found: dict[str, Any] = {user: {} for user in users}
        for (user, device), keys in self.devices.items():
            if user in found:
                found[user][device] = keys
        return {"device_keys": found, "failures": {}}

    def claim(self, user: str, device: str) -> dict[str, Any]:
        """Answer `/keys/claim`: a one-time key that nobody else gets, or the fallback key."""
        keys = self.one_time.get((user, device), {})
        if keys:
            name = next(iter(keys))
            return {"one_time_keys": {user: {device: {name: keys.pop(name)}}}, "failures": {}}
        self.unused_fallback = False
        return {"one_time_keys": {user: {device: dict(self.fallback[user, device])}}, "failures": {}}

    def sync(self, *to_device: Any) -> dict[str, Any]:
        """Answer `/sync` with messages to the owner's device."""
        return {
            "to_device": {"events": list(to_device)},
            "device_one_time_keys_count": {"signed_curve25519": len(self.one_time.get(self.owner, {}))},
            "device_unused_fallback_key_types": ["signed_curve25519"] if self.unused_fallback else [],
        }

    def uploads(self, what: str) -> list[dict[str, Any]]:
        """The uploads of `device_keys`, `one_time_keys` or `fallback_keys`."""
        return [body[what] for path, body in self.calls if path == "/keys/upload" and what in body]


class Sender:
    """A device of somebody, with an Olm machine of matrix-nio."""

    def __init__(self, user: str = ALICE, device: str = "ALICEDEV") -> None:
        self.user, self.device = user, device
        self.olm = Olm(user, device, SqliteMemoryStore(user, device))
        self._events = 0

    def meet(self, queried: dict[str, Any], claimed: dict[str, Any] | None = None) -> None:
        """Learn devices from the answers to `/keys/query` and `/keys/claim`, and begin sessions with them."""
        query = KeysQueryResponse.from_dict(queried)
        assert isinstance(query, KeysQueryResponse), query
        self.olm.handle_response(query)
        if claimed is not None:
            claim = KeysClaimResponse.from_dict(claimed)
            assert isinstance(claim, KeysClaimResponse), claim
            self.olm.handle_response(claim)

    def publish(self, server: KeyServer) -> None:
        """Make the device known at a server, with one-time keys of its own."""
        body = self.olm.share_keys()
        server.devices[self.user, self.device] = body["device_keys"]
        server.one_time[self.user, self.device] = body["one_time_keys"]

    def receive(self, content: dict[str, Any], reader: str = READER) -> Any:
        """Take what the reader's device sends to this one; gives nio's event, or None when it cannot be read."""
        event = ToDeviceEvent.parse_encrypted_event({"type": "m.room.encrypted", "sender": reader, "content": content})
        return self.olm.decrypt_event(event)

    def key_contents(self, room: str, users: list[str]) -> dict[str, dict[str, Any]]:
        """Make a new key for a room; gives the contents of the to-device messages by user and device."""
        self.olm.create_outbound_group_session(room)
        _, sent = self.olm.share_group_session(room, users, ignore_unverified_devices=True)
        self.olm.outbound_group_sessions[room].mark_as_shared()
        messages: dict[str, dict[str, Any]] = sent["messages"]
        return messages

    def key_again(self, room: str, **changes: Any) -> dict[str, Any]:
        """Give the room's key as it is now once more, in a new message."""
        session = self.olm.outbound_group_sessions[room]
        content = {"algorithm": "m.megolm.v1.aes-sha2", "room_id": room, "session_id": session.id}
        return self.to_reader("m.room_key", content | {"session_key": session.session_key} | changes)

    def to_reader(self, kind: str, content: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """Encrypt anything for the reader's device; gives the to-device event."""
        device = self.olm.device_store[READER][DEVICE]
        session = self.olm.session_store.get(device.curve25519)
        assert session is not None
        encrypted = self.olm._olm_encrypt(session, device, kind, content)
        return self.carried(encrypted) | changes

    def written(self, **changes: Any) -> dict[str, Any]:
        """Encrypt an Olm payload that says something else than it should of who writes to whom."""
        device = self.olm.device_store[READER][DEVICE]
        payload = {
            "sender": self.user, "recipient": READER, "recipient_keys": {"ed25519": device.ed25519},
            "keys": {"ed25519": self.olm.account.identity_keys["ed25519"]}, "type": "m.dummy", "content": {},
        }  # fmt: skip
        session = self.olm.session_store.get(device.curve25519)
        assert session is not None
        kind, raw = session.encrypt(json.dumps(payload | changes)).to_parts()
        body = {"type": kind, "body": base64.b64encode(raw).decode().rstrip("=")}
        content = {"algorithm": "m.olm.v1.curve25519-aes-sha2", "ciphertext": {device.curve25519: body}}
        return self.carried(content | {"sender_key": self.olm.account.identity_keys["curve25519"]})

    def carried(self, content: dict[str, Any]) -> dict[str, Any]:
        """The to-device event that the server makes of a content."""
        return {"type": "m.room.encrypted", "sender": self.user, "content": content}

    def encrypt(self, room: str, content: dict[str, Any], kind: str = "m.room.message") -> dict[str, Any]:
        """Encrypt an event's content with the room's key, the relation in the clear as clients do."""
        inner = {name: value for name, value in content.items() if name != "m.relates_to"}
        encrypted: dict[str, Any] = self.olm.group_encrypt(room, {"type": kind, "content": inner})
        return encrypted | {name: content[name] for name in ("m.relates_to",) if name in content}

    def say(self, body: str, room: str = ROOM, **members: Any) -> dict[str, Any]:
        """Give an encrypted message as a timeline has it."""
        return self.event(self.encrypt(room, {"msgtype": "m.text", "body": body, **members}))

    def event(self, content: dict[str, Any]) -> dict[str, Any]:
        """The room event that the server makes of an encrypted content."""
        self._events += 1
        name = base64.urlsafe_b64encode(hashlib.sha256(f"{self.user}{self._events}".encode()).digest()).decode()[:43]
        return {
            "type": "m.room.encrypted", "event_id": f"${name}", "sender": self.user, "content": content,
            "origin_server_ts": 1700000000000 + self._events, "unsigned": {"age": 5},
        }  # fmt: skip


def known_to(server: KeyServer, sender: Sender) -> Sender:
    """Let a sender learn the reader's device and begin a session with it."""
    sender.meet(server.query([READER]), server.claim(READER, DEVICE))
    return sender


def shared(sender: Sender, room: str = ROOM) -> dict[str, Any]:
    """Let a sender make a key for a room; gives the to-device event for the reader."""
    return sender.carried(sender.key_contents(room, [READER])[READER][DEVICE])


class Reader:
    """Our side: the keys in a folder, and the server they are known to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.server = folder, KeyServer()
        self.keys = Keys.open(folder, READER, DEVICE)
        assert self.take() == []

    def take(self, *to_device: Any) -> list[str]:
        """Take messages; gives what was warned of."""
        return self.take_with(self.server.sync(*to_device), self.server.call)

    def take_with(self, sync: dict[str, Any], call: Call) -> list[str]:
        """Take a sync answer, with calls to the server of one's own."""
        return [warning.message for warning in asyncio.run(self.keys.take(sync, call))]

    def restart(self) -> None:
        """Begin anew on the same file."""
        self.keys.close()
        self.keys = Keys.open(self.folder, READER, DEVICE)

    def reads(self, event: dict[str, Any], room: str = ROOM) -> str | None:
        """Give what an encrypted message says, None while its key is missing."""
        found = self.keys.decrypt(room, event)
        return None if found is None else found["content"]["body"]

    def refuses(self, event: dict[str, Any], room: str = ROOM) -> str:
        """Give the reason for which an event is refused."""
        with pytest.raises(RefusedEventError) as told:
            self.keys.decrypt(room, event)
        return told.value.reason
