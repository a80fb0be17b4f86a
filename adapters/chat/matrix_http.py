"""Carries calls to a homeserver over HTTP: aiohttp, in the one module that needs it.

matrix-nio stands on it too, but its `sync` and its response classes fail a whole answer for one member that does not
fit, and its `send` has neither a bound on an answer's size nor a total time. Source: section 3.2 of the chat platform
notes.
"""

import asyncio
from typing import Final, NamedTuple

import aiohttp
from yarl import URL

CONNECTIONS: Final = 2
"""One for the call that waits, one for a question beside it."""

CONNECT_SECONDS: Final = 10.0

_CHUNK_BYTES: Final = 64 * 1024


class Answer(NamedTuple):
    """What a server answered; `retry_after` is the header of that name."""

    status: int
    body: bytes
    retry_after: str


class TooLargeError(Exception):
    """An answer is larger than it may be; the rest of it was not read."""


class Transport:
    """Connections to one server."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Begin."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS), cookie_jar=aiohttp.DummyCookieJar(), trust_env=True
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(
        self, method: str, url: str, token: str, body: bytes | None, seconds: float, most_bytes: int
    ) -> Answer:
        """Send JSON and give what is answered; a redirection is an answer like any other, so that no token follows it.

        Raises `TimeoutError`, `TooLargeError`, and `ConnectionError` whose message may hold the address.
        """
        if self._session is None:
            raise ConnectionError("closed")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            # A limit for the whole: an answer that drips would never end.
            async with (
                asyncio.timeout(seconds),
                self._session.request(
                    method,
                    URL(url, encoded=True),  # as it is: it would otherwise undo what keeps an id one part of the path
                    data=body,
                    headers=headers,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                ) as response,
            ):
                told = await _bounded(response, most_bytes)
                return Answer(response.status, told, response.headers.get("Retry-After", ""))
        except aiohttp.ServerTimeoutError:  # a TimeoutError too, with an address in its words
            raise TimeoutError from None
        except (aiohttp.ClientError, ValueError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise ConnectionError(str(error) or type(error).__name__) from None


async def _bounded(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    left = most_bytes
    async for piece in response.content.iter_chunked(_CHUNK_BYTES):
        left -= len(piece)
        if left < 0:
            raise TooLargeError
        pieces.append(piece)
    return b"".join(pieces)
