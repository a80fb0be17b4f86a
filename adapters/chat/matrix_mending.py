"""Begins new sessions with devices whose messages we cannot read any more, so that the keys they share next arrive.

A session breaks when either side was restored from a backup; the other device does not notice, and goes on in it for
ever. An encrypted message without content tells it to use the new one. Source: Matrix specification 1.11, recovering
from undecryptable messages.
"""

import asyncio
import base64
import contextlib
import time
import uuid
from collections import OrderedDict
from typing import Final, NamedTuple

from vodozemac import Curve25519PublicKey, Ed25519PublicKey, Ed25519Signature

from adapters.chat.matrix_api import CLIENT
from adapters.chat.matrix_device import SIGNED, Call, canonical_json
from adapters.chat.matrix_keystore import PICKLE_KEY, KeyStore
from adapters.chat.matrix_olm import OLM, Olm
from adapters.exports.fields import Object, obj, text

PAUSE_SECONDS: Final = 3600.0
"""One new session an hour with a device, as the specification says: more could be a game of two that do not match."""

MOST_AT_ONCE: Final = 20
"""Devices of one answer; the others are mended when they write next."""

MAX_REMEMBERED: Final = 2000
"""Devices of which it is known when they were mended last."""


class Peer(NamedTuple):
    """Somebody's device: its two identity keys."""

    user: str
    device: str
    curve25519: str
    ed25519: str


class Mending:
    """What is broken between `device` of `user`, whose keys `olm` and `store` have, and others."""

    def __init__(self, store: KeyStore, olm: Olm, user: str, device: str) -> None:
        self._store, self._olm = store, olm
        self._user, self._device = user, device
        self._broken: list[tuple[str, str]] = []
        self._tried: OrderedDict[tuple[str, str], float] = OrderedDict()

    def note(self, sender: str, sender_key: str) -> None:
        """Note that a message from a device could not be read in any session with it."""
        place, now = (sender, sender_key), time.monotonic()
        last = self._tried.get(place)
        if len(self._broken) == MOST_AT_ONCE or (last is not None and now - last < PAUSE_SECONDS):
            return
        self._broken.append(place)
        self._tried[place] = now
        if len(self._tried) > MAX_REMEMBERED:
            self._tried.popitem(last=False)

    async def mend(self, call: Call) -> None:
        """Begin a new session with each device that was noted; raises `SourceError`."""
        broken, self._broken = self._broken, []
        if not broken:
            return
        asked: Object = {"device_keys": {sender: [] for sender, _ in broken}}
        known = obj((await call("POST", f"{CLIENT}/keys/query", asked)).get("device_keys"))
        peers = [peer for sender, key in broken if (peer := _peer(known, sender, key))]
        if not peers:
            return
        wanted: Object = {}
        for peer in peers:
            wanted.setdefault(peer.user, {})[peer.device] = SIGNED
        claimed = obj((await call("POST", f"{CLIENT}/keys/claim", {"one_time_keys": wanted})).get("one_time_keys"))
        messages = await asyncio.to_thread(self._messages, peers, claimed)
        if messages:
            await call("PUT", f"{CLIENT}/sendToDevice/m.room.encrypted/{uuid.uuid4().hex}", {"messages": messages})

    def _messages(self, peers: list[Peer], claimed: Object) -> Object:
        messages: Object = {}
        for peer in peers:
            keys = obj(obj(claimed.get(peer.user)).get(peer.device))
            one_time = next((obj(key) for name, key in keys.items() if name.startswith(f"{SIGNED}:")), {})
            if not _is_signed(one_time, peer.user, peer.device, peer.ed25519):
                continue
            with contextlib.suppress(ValueError):  # signed, but no key: that device's own fault
                messages.setdefault(peer.user, {})[peer.device] = self._greeting(peer, text(one_time.get("key")))
        return {user: devices for user, devices in messages.items() if devices}

    def _greeting(self, peer: Peer, one_time_key: str) -> Object:
        """Begin a session, and encrypt a message in it that says nothing."""
        payload = {
            "sender": self._user,
            "sender_device": self._device,
            "keys": {"ed25519": self._olm.ed25519},
            "recipient": peer.user,
            "recipient_keys": {"ed25519": peer.ed25519},
            "type": "m.dummy",
            "content": {},
        }
        with self._store.transaction():
            session = self._olm.account().create_outbound_session(
                Curve25519PublicKey.from_base64(peer.curve25519), Curve25519PublicKey.from_base64(one_time_key)
            )
            kind, raw = session.encrypt(canonical_json(payload)).to_parts()
            self._store.save_session(peer.curve25519, session.session_id, session.pickle(PICKLE_KEY))
        body = base64.b64encode(raw).decode().rstrip("=")
        ciphertext = {peer.curve25519: {"type": kind, "body": body}}
        return {"algorithm": OLM, "sender_key": self._olm.curve25519, "ciphertext": ciphertext}


def _peer(known: Object, user: str, curve25519: str) -> Peer | None:
    """Find the device of somebody that has a key, by what it has signed itself."""
    for device, keys in obj(known.get(user)).items():
        named = obj(obj(keys).get("keys"))
        ed25519 = text(named.get(f"ed25519:{device}"))
        mine = named.get(f"curve25519:{device}") == curve25519 and obj(keys).get("user_id") == user
        if mine and _is_signed(obj(keys), user, device, ed25519):
            return Peer(user, device, curve25519, ed25519)
    return None


def _is_signed(what: Object, user: str, device: str, ed25519: str) -> bool:
    signature = text(obj(obj(what.get("signatures")).get(user)).get(f"ed25519:{device}"))
    signed = {name: value for name, value in what.items() if name not in ("signatures", "unsigned")}
    try:
        key = Ed25519PublicKey.from_base64(ed25519)
        key.verify_signature(canonical_json(signed), Ed25519Signature.from_base64(signature))
    except (ValueError, RecursionError):  # no key, no signature, a wrong one; or nested beyond any use
        return False
    return True
