"""WhatsApp's Cloud API: Meta sends to the daemon's HTTP server, and is answered once all of a body is in the log.

Meta has no cursor: it repeats what is not answered with 2xx, for days, the whole body again, in parallel when the
answer is slow; ids do not depend on it. Only who knows the app's secret is read: each body is signed, over its raw
bytes. The handshake has no signature and nothing but the verify token. Source: section 4.2 of the chat platform notes;
cases 45 and 47.
"""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.chat.inbox import Inbox
from adapters.chat.receive import answering, receive
from adapters.chat.refusal import Refusal
from adapters.chat.whatsapp_payload import Payloads
from adapters.chat.whatsapp_people import Directory
from adapters.contract import Capture, Finding, SourceError

PATH: Final = "/v1/whatsapp/"
"""The source's name stands behind it."""

FIELDS: Final = ("messages", "smb_message_echoes", "history", "user_id_update")
"""What the app should be subscribed to; those behind the first only where the number is also used on a phone."""

RETRY_SECONDS: Final = "5"

_SIGNATURE: Final = re.compile(r"sha256=[0-9a-f]{64}")
_APP_SECRET: Final = re.compile(r"[0-9a-f]{32}")
"""What app secrets look like; another shape is worth a warning, not a refusal: Meta may change it."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """What is known while the source is followed."""

    verify_token: bytes
    app_secret: bytes
    people: Directory
    payloads: Payloads


class WhatsAppWebhook:
    """One app that sends, for any number of business numbers; an `adapters.contract.Adapter`, `Routed` and `Checked`.

    `verify_token` and `app_secret` are looked up at each start and raise `SourceError`. The account of an event is the
    id of its business number.
    """

    def __init__(self, name: str, verify_token: Callable[[], str], app_secret: Callable[[], str]) -> None:
        self.name = name
        self.inbox = Inbox()
        self._verify_token, self._app_secret = verify_token, app_secret
        self._followed: _Followed | None = None

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Give what is delivered; see `Adapter.captures`. Raises `SourceError`."""
        secrets = self._verify_token().encode(), self._app_secret().encode()
        people = Directory(checkpoints, self.name)
        self._followed = _Followed(*secrets, people, Payloads(people, self.name))
        try:
            if people.warnings:
                yield Capture(people.warnings)
            async for capture in self.inbox.captures():
                yield capture
        finally:
            self._followed = None

    def routes(self) -> Sequence[BaseRoute]:
        """The one address of this app: the handshake, and deliveries."""
        return [Route(self._path, answering(self._answer), methods=["GET", "POST"])]

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        found: list[Finding] = []
        for what, look_up in (("verify token", self._verify_token), ("app secret", self._app_secret)):
            try:
                value = look_up()
            except SourceError as error:
                found.append(Finding("problem", str(error)))
                continue
            found.append(Finding("ok", f"the {what} is set"))
            if what == "app secret" and not _APP_SECRET.fullmatch(value):
                words = "the app secret does not look like one: 32 digits and letters from a to f"
                found.append(Finding("warning", words, "copy it from App settings, Basic; it is no access token"))
        advice = f"enter it as callback URL with the verify token, and subscribe to: {', '.join(FIELDS)}"
        words = f"Meta must reach {self._path} over https; whether it does, only Meta can say"
        return [*found, Finding("ok", words, advice)]

    @property
    def _path(self) -> str:
        return PATH + self.name.rpartition(".")[2]

    async def _answer(self, request: Request) -> Response:
        return await (self._take(request) if request.method == "POST" else self._shake_hands(request))

    async def _shake_hands(self, request: Request) -> Response:
        """Prove to Meta that this address is the app's; nothing is echoed to anybody else."""
        asked, followed = request.query_params, self._now()
        presented = _digest(asked.get("hub.verify_token", "").encode())
        knows = hmac.compare_digest(presented, _digest(followed.verify_token))
        if not knows or asked.get("hub.mode") != "subscribe" or "hub.challenge" not in asked:
            raise Refusal(403, "not a handshake with the verify token of this source")
        return PlainTextResponse(asked["hub.challenge"], headers={"X-Content-Type-Options": "nosniff"})

    async def _take(self, request: Request) -> Response:
        followed = self._now()
        signature = request.headers.get("x-hub-signature-256", "")
        if not _SIGNATURE.fullmatch(signature):  # before a body is read, and room taken for it
            raise Refusal(401, "a body is signed with X-Hub-Signature-256: sha256=…")
        capture = await receive(request, self.inbox, lambda raw: self._read(followed, raw, signature))
        followed.people.saved(capture.checkpoints)
        return Response()

    def _read(self, followed: _Followed, raw: bytes, signature: str) -> Capture:
        """Read a body that is signed; raises `Refusal` when it is not. Runs in a thread, several at once."""
        own = hmac.new(followed.app_secret, raw, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(f"sha256={own}".encode(), signature.encode()):
            raise Refusal(401, "the signature is not that of this source's app secret over these bytes")
        elements = followed.payloads.elements(raw)
        if self._now() is not followed:  # started anew meanwhile, with what the log knows of people
            raise Refusal(503, "this source was started anew", {"Retry-After": RETRY_SECONDS})
        # All that is not known to be in the log: what another delivery has just learned counts for this one's threads.
        return Capture(elements, followed.people.unsaved())

    def _now(self) -> _Followed:
        if self._followed is None:
            raise Refusal(503, "this source does not take anything now", {"Retry-After": RETRY_SECONDS})
        return self._followed


def _digest(token: bytes) -> bytes:
    """Digests have one length, so that comparing them does not tell that of the token."""
    return hashlib.sha256(token).digest()
