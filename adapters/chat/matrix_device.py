"""Our own device as others see it: its identity keys, and one-time keys enough that they can begin sessions with us.

Keys are stored before they are uploaded, so that none is out there that we do not have; an upload that may have reached
the server is made again with the same keys, which the server takes as the same. A fallback key serves when all one-time
keys are used up while we are away. Source: Matrix specification 1.11, `/keys/upload`, one-time and fallback keys.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Final

from vodozemac import Account, Curve25519PublicKey

from adapters.chat.matrix_api import CLIENT, RefusedError
from adapters.chat.matrix_keystore import KeyStore
from adapters.chat.matrix_olm import MEGOLM, OLM, Olm
from adapters.contract import PermanentSourceError, SourceError
from adapters.exports.fields import Object, array, number, obj

Call = Callable[[str, str, Object], Awaitable[Object]]
"""Makes a call (method, path, body) and gives its answer; raises `SourceError`."""

ONE_TIME_KEYS: Final = 50
"""How many lie at the server, which is as many as vodozemac has unpublished at once."""

TOO_FEW: Final = ONE_TIME_KEYS // 2
"""Below this the server is given more: not for each one that is used."""

RETRY_SECONDS: Final = 60.0
"""The pause after an upload that failed: messages are read meanwhile, and the fallback key holds out."""

SIGNED: Final = "signed_curve25519"


class Device:
    """The device `device` of `user`, with the keys of `olm` in `store`."""

    def __init__(self, store: KeyStore, olm: Olm, user: str, device: str) -> None:
        self._store, self._olm = store, olm
        self._user, self._device = user, device
        self._looked = self._known = False
        self._not_before = 0.0

    async def keep_up(self, sync: Object, call: Call) -> None:
        """Upload what is missing by what a sync answer says; raises `SourceError`, and rests for a while after that."""
        if time.monotonic() < self._not_before:
            return
        try:
            if not self._looked:
                await self._look(call)
            body = await asyncio.to_thread(self._missing, sync)
            if body:
                await self._upload(body, call)
        except SourceError:
            self._not_before = time.monotonic() + RETRY_SECONDS
            raise

    async def _look(self, call: Call) -> None:
        """See what the server knows: nothing of a device that is new or was deleted, and never other keys than ours."""
        answer = await call("POST", f"{CLIENT}/keys/query", {"device_keys": {self._user: [self._device]}})
        ours = obj(obj(obj(obj(answer.get("device_keys")).get(self._user)).get(self._device)).get("keys"))
        if ours and ours != self._identity():
            raise PermanentSourceError(
                f"the server knows device {self._device} with other keys than those in {self._store.path}: restore the "
                "file from a backup, or log in as a new device"
            )
        self._looked, self._known = True, bool(ours)

    def _missing(self, sync: Object) -> Object:
        """Give the body of the upload that is needed, or nothing; what it holds is stored."""
        # A server that says nothing of them has none, by the specification.
        left = number(obj(sync.get("device_one_time_keys_count")).get(SIGNED)) or 0
        unused = sync.get("device_unused_fallback_key_types")
        fallback = not self._known or (isinstance(unused, list) and SIGNED not in array(unused))
        with self._store.transaction():
            account = self._olm.account()
            if not account.one_time_keys and left < TOO_FEW:
                account.generate_one_time_keys(ONE_TIME_KEYS - left)
            if fallback and not _fallback_key(account):
                account.generate_fallback_key()  # type: ignore[attr-defined]  # not in its stubs
            self._olm.save(account)
        return self._body(account)

    def _body(self, account: Account) -> Object:
        body: Object = {}
        if not self._known:
            keys = {"algorithms": [OLM, MEGOLM], "device_id": self._device, "user_id": self._user}
            body["device_keys"] = self._signed(account, keys | {"keys": self._identity()})
        if account.one_time_keys:
            body["one_time_keys"] = self._named(account, account.one_time_keys, {})
        if fallback := _fallback_key(account):
            body["fallback_keys"] = self._named(account, fallback, {"fallback": True})
        return body

    async def _upload(self, body: Object, call: Call) -> None:
        try:
            await call("POST", f"{CLIENT}/keys/upload", body)
        except RefusedError:
            # After a restored backup the server has other keys under these names: the next ones get names of their own.
            await asyncio.to_thread(self._published)
            raise
        await asyncio.to_thread(self._published)
        self._known = True

    def _published(self) -> None:
        with self._store.transaction():
            account = self._olm.account()
            account.mark_keys_as_published()
            self._olm.save(account)

    def _identity(self) -> Object:
        return {f"curve25519:{self._device}": self._olm.curve25519, f"ed25519:{self._device}": self._olm.ed25519}

    def _named(self, account: Account, keys: dict[str, Curve25519PublicKey], more: Object) -> Object:
        return {
            f"{SIGNED}:{name}": self._signed(account, {"key": key.to_base64()} | more) for name, key in keys.items()
        }

    def _signed(self, account: Account, what: Object) -> Object:
        signature = account.sign(canonical_json(what)).to_base64()
        return what | {"signatures": {self._user: {f"ed25519:{self._device}": signature}}}


def _fallback_key(account: Account) -> dict[str, Curve25519PublicKey]:
    """Give the fallback key that is not published yet, under its name."""
    found: dict[str, Curve25519PublicKey] = account.fallback_key  # type: ignore[attr-defined]  # not in its stubs
    return found


def canonical_json(value: Object) -> bytes:
    """Write JSON in the one form in which Matrix signs it: keys in order, no space, UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
