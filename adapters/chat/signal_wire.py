"""The connection to signal-cli: lines of JSON over TCP or a UNIX socket, however the bytes are cut.

Over HTTP it is another one, which gives the same lines: `adapters.chat.signal_http`.

What a broken connection leaves of a line belongs to that connection alone. Source: section 5.1 of the chat platform
notes; case 55.
"""

import asyncio
import socket
from contextlib import suppress
from types import TracebackType
from typing import Final, Protocol, Self

from msgspec import Struct

from adapters.chat.signal_address import Address
from adapters.contract import MAX_SAMPLE_BYTES, TransientSourceError

CONNECT_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0

CHUNK_BYTES: Final = 64 * 1024

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""An envelope has at most 64 KiB of text and 32 attachments, of which only descriptions come; asyncio's own limit of
64 KiB would already be too small."""


class Line(Struct, frozen=True, gc=False):
    """A line without its end; `size` is more than the bytes of `raw` where the line was too long to be kept whole."""

    raw: bytes
    size: int

    @property
    def whole(self) -> bool:
        """Whether all of it is here."""
        return len(self.raw) == self.size


class Lines(Protocol):
    """A connection over which lines are said and heard; every failure is a `SourceError` in words."""

    async def send(self, line: bytes) -> None:
        """Send a line."""
        ...

    async def read(self) -> list[Line]:
        """Wait for bytes, and give the lines that end in them, if any."""
        ...


class Splitter:
    """Makes lines of chunks; keeps the beginning of one at most. `blank` lines are passed over if not asked for."""

    def __init__(self, *, blank: bool = False) -> None:
        self._held = bytearray()
        self._blank = blank
        self.size = 0
        """Bytes of the line that has begun."""

    def feed(self, chunk: bytes) -> list[Line]:
        """Take bytes as they come, and give the lines that end in them."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._hold(end)
            if self._blank or (self.size and not self._held.isspace()):
                lines.append(Line(bytes(self._held), self.size))
            self._held.clear()
            self.size = 0
        self._hold(rest)
        return lines

    def _hold(self, part: bytes) -> None:
        self.size += len(part)
        if self.size <= MAX_LINE_BYTES:
            self._held += part
        elif len(self._held) != MAX_SAMPLE_BYTES:
            self._held = (self._held + part[:MAX_SAMPLE_BYTES])[:MAX_SAMPLE_BYTES]


class Wire:
    """One connection; its own context manager. Every failure is a `TransientSourceError` in words."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._splitter = Splitter()

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await opened(self._address)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        with suppress(OSError, TimeoutError):  # it may be broken already, which somebody else was told
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()

    async def send(self, line: bytes) -> None:
        """Send a line; raises `TransientSourceError`."""
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise self._broken(error) from None

    async def read(self) -> list[Line]:
        """Wait for bytes, and give the lines that end in them, if any; raises `TransientSourceError`."""
        try:
            chunk = await self._reader.read(CHUNK_BYTES)
        except OSError as error:
            raise self._broken(error) from None
        if not chunk:
            raise self._broken(None)
        return self._splitter.feed(chunk)

    def _broken(self, error: OSError | None) -> TransientSourceError:
        words = "signal-cli closed the connection" if error is None else f"the connection to signal-cli broke: {error}"
        if self._splitter.size:
            words += f" in the middle of a line, of which {self._splitter.size} bytes had come"
        return TransientSourceError(words)


async def opened(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address; raises `TransientSourceError`."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            if address.path is not None:
                return await asyncio.open_unix_connection(address.path)
            reader, writer = await asyncio.open_connection(address.host, address.port)
    except TimeoutError:
        raise TransientSourceError(f"signal-cli does not answer at {address.text}") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TransientSourceError(f"signal-cli cannot be reached at {address.text}: {reason}") from None
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return reader, writer
