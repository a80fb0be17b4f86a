"""What all HTTP handlers of sources share: reading a body within bounds, and answering once it is in the log.

A sender must have proved who it is before its body is read: see `bearer` in `adapters.chat.custom`, and the secrets and
signatures of the platforms.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from adapters.chat.inbox import Delivery, Inbox
from adapters.chat.refusal import Refusal
from adapters.contract import MAX_SAMPLE_BYTES, Capture, Rejected

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""The largest body: Meta's are at most 3 MB, Telegram's updates far smaller, and four of the largest events fit."""

BODY_SECONDS: Final = 20.0
"""How long a body may take to arrive: the place of a sender that stalls is given to another."""

MAX_UNWANTED_BYTES: Final = 4 * MAX_BODY_BYTES
UNWANTED_SECONDS: Final = 2.0
"""How much of a refused body is still taken, and thrown away: a sender that is cut off while it writes sees a broken
connection in place of the answer that says why."""

SMALL_BYTES: Final = 4 * 1024
"""A body up to this size is read at once, in less time than it takes to pass it to a thread and back: 0.1 ms."""

Handler = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger(__name__)


def answering(handler: Handler) -> Handler:
    """Make an endpoint of a handler that raises `Refusal` for what it does not take."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handler(request)
        except Refusal as refusal:
            if refusal.status != HTTPStatus.REQUEST_TIMEOUT:  # whoever stalled has had its time
                await _throw_away(request)
            return refusal.response()

    return endpoint


async def receive(
    request: Request, inbox: Inbox, read: Callable[[bytes], Capture], *, max_bytes: int = MAX_BODY_BYTES
) -> Capture:
    """Take a request's body into the log by way of `read`; gives its capture once that is committed.

    `read` runs in a thread if the body is large, gets the raw bytes, and may raise `Refusal` for a body that is none at
    all. Anything else that it raises rejects the body, named and counted: else its sender would repeat it for ever.
    Raises `Refusal`.
    """
    async with inbox.delivery() as delivery:
        raw = await _body(request, delivery, max_bytes)
        capture = _read(read, raw) if len(raw) <= SMALL_BYTES else await asyncio.to_thread(_read, read, raw)
        await delivery.commit(capture)
    return capture


def _read(read: Callable[[bytes], Capture], raw: bytes) -> Capture:
    try:
        return read(raw)
    except Refusal:
        raise
    except Exception as error:  # noqa: BLE001 - a platform's parser met what nobody foresaw; it costs this body
        _log.exception("delivery-not-readable", extra={"error_type": type(error).__name__})
        detail = f"{type(error).__name__}: {error}"
        return Capture([Rejected("request body", "parser-failed", detail, raw[:MAX_SAMPLE_BYTES], len(raw))])


async def _body(request: Request, delivery: Delivery, max_bytes: int) -> bytes:
    """Read a body of at most `max_bytes` within `BODY_SECONDS`."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "a compressed body is not understood; send it as it is")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > max_bytes:
        raise _too_large(max_bytes)
    chunks: list[bytes] = []
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                if delivery.size + len(chunk) > max_bytes:
                    raise _too_large(max_bytes)
                delivery.grow(len(chunk))
                chunks.append(chunk)
    except TimeoutError:
        raise Refusal(408, f"the body did not arrive within {BODY_SECONDS:.0f} s", {"Connection": "close"}) from None
    except ClientDisconnect:
        raise Refusal(400, "the body ended early") from None  # nobody is left to read this
    request.state.whole = True
    return b"".join(chunks)


async def _throw_away(request: Request) -> None:
    """Take what is left of a refused body, within bounds; one that is only announced stays where it is."""
    if getattr(request.state, "whole", False) or "expect" in request.headers:
        return
    left = MAX_UNWANTED_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(UNWANTED_SECONDS):
            while left > 0:
                message = await request.receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_large(max_bytes: int) -> Refusal:
    return Refusal(413, f"a body has at most {max_bytes:,} bytes; send it in parts", {"Connection": "close"})
