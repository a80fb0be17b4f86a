"""One request of HTTP/1.1 and its answer, read as it comes: calls of signal-cli, and its endless streams of events.

h11, on which the daemon's own server stands, knows the protocol; the bytes are moved here.
"""

import socket
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import h11

from adapters.chat.signal_address import Address
from adapters.chat.signal_wire import CHUNK_BYTES, opened
from adapters.contract import TransientSourceError

if TYPE_CHECKING:
    import asyncio

_RESET_AT_ONCE: Final = struct.pack("ii", 1, 0)


class Exchange:
    """A connection for one request to `address`. Failures are `TransientSourceError`s in words.

    `status` is that of the answer, 0 until it has come.
    """

    def __init__(self, address: Address) -> None:
        self.status = 0
        self._address = address
        self._http = h11.Connection(h11.CLIENT)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def begin(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Connect and send the request; `target` is encoded as it must be."""
        host = f"[{self._address.host}]" if ":" in self._address.host else self._address.host
        own = {"Host": f"{host}:{self._address.port}", "Connection": "close", **headers}
        if body:
            own["Content-Length"] = str(len(body))
        request = h11.Request(method=method, target=target, headers=list(own.items()))
        self._reader, self._writer = await opened(self._address)
        parts = [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
        try:
            self._writer.write(b"".join(self._http.send(part) or b"" for part in parts))
            await self._writer.drain()
        except OSError as error:
            raise _broken(error) from None

    async def read(self) -> bytes:
        """Give the next bytes of the answer's body, none at its end."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                # Without an end the connection broke; anything else is no HTTP.
                raise TransientSourceError(f"signal-cli's answer is broken off, or no HTTP: {error}") from None
            if isinstance(event, h11.Data) and event.data:
                return bytes(event.data)
            if isinstance(event, h11.Response):
                self.status = event.status_code
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                return b""
            elif event is h11.NEED_DATA:
                self._http.receive_data(await self._bytes())

    def abort(self) -> None:
        """Close the connection so that the other side notices the next time it writes, and not only the time after."""
        if self._writer is None:
            return
        found = self._writer.get_extra_info("socket")
        if found is not None:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_ONCE)
        self._writer.transport.abort()

    async def _bytes(self) -> bytes:
        if self._reader is None:
            return b""
        try:
            return await self._reader.read(CHUNK_BYTES)
        except OSError as error:
            raise _broken(error) from None


def _broken(error: OSError) -> TransientSourceError:
    return TransientSourceError(f"the connection to signal-cli broke: {error}")
