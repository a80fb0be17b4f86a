"""`POST /v1/events`: anything that can send HTTP feeds canonical events into the stream.

The body is what a file of canonical events may be: one event, a JSON array, `{"events": […]}` or JSON Lines. The bearer
token says which configured source it is for. 2xx comes once everything is in the log.

Idempotence: an event is known by `event.id` alone. The same event gets the same answer, however often, in whatever
order and in whatever company it is sent, and stands in the stream once; of several contents under one id the first
counts, so an edit needs an id of its own. An event without a usable id gets one made of its thread, type, role, time
and words, and the answer names it. Whatever is answered with 503, or not at all, may be in the log or not: send it
again.
"""

import hashlib
import hmac
import io
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from adapters.chat.inbox import Inbox
from adapters.chat.receive import answering, receive
from adapters.chat.refusal import Refusal
from adapters.contract import Capture, Element, Finding, Heard, PermanentSourceError, ReadOptions, Rejected, Skipped
from adapters.exports.canonical import CanonicalReader

if TYPE_CHECKING:
    from starlette.requests import Request

PATH: Final = "/v1/events"

MAX_EVENTS: Final = 5000
"""Elements of one body: the answer names each, and all of them are one transaction."""

MIN_TOKEN_CHARS: Final = 16
"""A shorter one can be guessed: nothing slows down who tries. `openssl rand -hex 32` makes a good one."""

MAX_BESIDE_TEXT_BYTES: Final = 256 * 1024
"""What an event may hold beside its text, which alone can be cut to the size of a record. Ours hold some hundreds."""

_BODY: Final = Path("body")
"""What places in the answer begin with."""


class CustomAdapter:
    """One source that senders feed; an `adapters.contract.Adapter`.

    `token` gives the secret that its senders present, and is asked at each start of the source; it raises
    `PermanentSourceError`. `account` counts for events that name none.
    """

    def __init__(self, name: str, token: Callable[[], str], *, account: str | None = None) -> None:
        self.name = name
        self.inbox = Inbox()
        self._token = token
        self._options = ReadOptions(account=account)
        self._digest: bytes | None = None

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:  # noqa: ARG002 - none are kept
        """See `Adapter`; raises `PermanentSourceError` when there is no token."""
        self._digest = _digest(self._secret().encode())
        async for capture in self.inbox.captures():
            yield capture

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        try:
            self._secret()
        except PermanentSourceError as error:
            return [Finding("problem", str(error))]
        return [Finding("ok", f"a token is set; senders name it as: Authorization: Bearer …, with POST {PATH}")]

    def knows(self, presented: bytes) -> bool | None:
        """Whether a digest is that of this source's token, in constant time; None before the first start."""
        return None if self._digest is None else hmac.compare_digest(self._digest, presented)

    async def take(self, request: "Request") -> Response:
        """Bring a request's events into the log and answer what became of each; raises `Refusal`."""
        capture = await receive(request, self.inbox, self._read)
        return _answer(capture.elements)

    def _secret(self) -> str:
        token = self._token()
        if len(token) < MIN_TOKEN_CHARS:
            raise PermanentSourceError(
                f"the token of {self.name} has {len(token)} characters and can be guessed; it needs"
                f" {MIN_TOKEN_CHARS} at least, such as openssl rand -hex 32 gives"
            )
        return token

    def _read(self, raw: bytes) -> Capture:
        elements: list[Element] = []
        for element in CanonicalReader().read(io.BytesIO(raw), _BODY, self._options):
            if len(elements) == MAX_EVENTS:
                raise Refusal(413, f"a body has at most {MAX_EVENTS:,} events; send them in parts")
            elements.append(_bounded(element))
        return Capture(elements)


def events_route(adapters: Sequence[CustomAdapter]) -> BaseRoute:
    """The one route of all such sources: the token decides for which of them a request is."""

    async def post(request: "Request") -> Response:
        return await _authorised(request, adapters).take(request)

    return Route(PATH, answering(post), methods=["POST"])


def bearer(request: "Request") -> bytes:
    """The bearer token of a request, as sent; raises `Refusal` when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unknown("send the source's token as: Authorization: Bearer …")
    return token.strip().encode("latin-1")  # as ASGI decodes headers: this gives back the bytes


def _authorised(request: "Request", adapters: Sequence[CustomAdapter]) -> CustomAdapter:
    presented = _digest(bearer(request))
    # All are asked, so that the time taken does not tell which of them comes close.
    answers = [(adapter, adapter.knows(presented)) for adapter in adapters]
    found = next((adapter for adapter, known in answers if known), None)
    if found is not None:
        return found
    if any(known is None for _, known in answers):
        raise Refusal(503, "a source is being started", {"Retry-After": "5"})
    raise _unknown("no source has this token")


def _unknown(words: str) -> Refusal:
    return Refusal(401, words, {"WWW-Authenticate": 'Bearer realm="session-ingest"'})


def _digest(token: bytes) -> bytes:
    """Digests have one length, so that comparing them does not tell that of the token."""
    return hashlib.sha256(token).digest()


def _bounded(element: Element) -> Element:
    """Reject an event that could not be kept, so that the answer does not say what the log would not."""
    if not isinstance(element, Heard):
        return element
    try:
        thread, event = element.thread, msgspec.structs.replace(element.event, text="")
        size = len(msgspec.json.encode((thread, event)))
        element.event.text.encode()
    except (TypeError, ValueError, OverflowError) as error:
        return Rejected(f"event {element.event.id!a}", "not-encodable", str(error))
    if size > MAX_BESIDE_TEXT_BYTES:
        detail = f"{size} bytes beside its text; at most {MAX_BESIDE_TEXT_BYTES} are kept"
        return Rejected(f"event {element.event.id!a}", "event-too-large", detail, size_bytes=size)
    return element


def _answer(elements: Iterable[Element]) -> Response:
    """What became of each element, in their order; 422 when none of them could be read."""
    results = [_result(element) for element in elements]
    counts = {
        outcome: sum(result["outcome"] == outcome for result in results)
        for outcome in ("accepted", "skipped", "rejected")
    }
    hopeless = bool(results) and counts["rejected"] == len(results)
    return JSONResponse({**counts, "events": results}, 422 if hopeless else 200)


def _result(element: Element) -> dict[str, Any]:
    match element:
        case Heard(event=event):
            return {"outcome": "accepted", "id": event.id}
        case Rejected(where=where, reason=reason, detail=detail):
            return {"outcome": "rejected", "where": where, "reason": reason, "detail": detail}
        case Skipped(what=what):
            return {"outcome": "skipped", "what": what}
        case _:
            return {"outcome": "skipped", "what": element.message}
