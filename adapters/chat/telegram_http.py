"""Carries calls to the Bot API: python-telegram-bot's transport, the one module that needs the `telegram` extra."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from telegram.error import TelegramError, TimedOut
from telegram.request import HTTPXRequest, RequestData
from telegram.request._requestparameter import RequestParameter

CONNECTIONS: Final = 2
"""One for the call that waits, one for a question beside it."""

CONNECT_SECONDS: Final = 10.0

# The address of each request holds the token, and httpx logs addresses.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Transport:
    """Connections to one server."""

    def __init__(self, seconds: float) -> None:
        self._request = HTTPXRequest(connection_pool_size=CONNECTIONS, read_timeout=seconds)

    async def open(self) -> None:
        """Begin."""
        await self._request.initialize()

    async def close(self) -> None:
        """Close the connections."""
        await self._request.shutdown()

    async def call(self, url: str, asked: Mapping[str, int | str], seconds: float) -> tuple[int, bytes]:
        """Send what is asked as a form; gives status and body.

        Raises `TimeoutError`, and `ConnectionError` whose message may hold the address.
        """
        form = RequestData([RequestParameter.from_input(name, value) for name, value in asked.items()])
        try:
            # The transport's own limit is for each piece: an answer that drips would never end.
            async with asyncio.timeout(seconds + CONNECT_SECONDS):
                return await self._request.do_request(url, "POST", form, seconds, connect_timeout=CONNECT_SECONDS)
        except TimedOut:
            raise TimeoutError from None
        except TelegramError as error:
            raise ConnectionError(str(error)) from None
