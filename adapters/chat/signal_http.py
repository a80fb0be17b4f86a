"""The connection to signal-cli over HTTP: calls are POSTs, and what is received comes as Server-Sent Events.

There is no `subscribeReceive` here: signal-cli receives for an account as long as somebody reads its events, so that
the stream is the subscription. It notices only when it writes that a reader is gone, and daemons that do not number
their events have then lost what they wrote; such a stream is therefore held, unread, where a subscription would be
ended, and signal-cli waits. Source: signal-cli-jsonrpc(5); signal-cli's `HttpServerHandler` (0.13.19 measured, and the
one that numbers events read); section 5.1 of the chat platform notes.
"""

import asyncio
import time
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from adapters.chat.signal_address import Address
from adapters.chat.signal_events import EventParser
from adapters.chat.signal_exchange import Exchange
from adapters.chat.signal_wire import MAX_LINE_BYTES, Line
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError

RPC_PATH: Final = "/api/v1/rpc"
EVENTS_PATH: Final = "/api/v1/events"

_UNKNOWN: Final = "0"

SILENT_SECONDS: Final = 60.0
"""signal-cli says something on a stream every 15 s; one that was silent for four of those is dead."""


class HttpWire:
    """The daemon at `address`, for `account`; its own context manager, and a `signal_wire.Lines`.

    `last` is the number of the last event that somebody has, empty when none is known.
    """

    def __init__(self, address: Address, account: str, last: str = "") -> None:
        self._address = address
        self._account = account
        self._events = EventParser(last)
        self._stream: Exchange | None = None
        self._held = False
        self._heard = 0.0
        self._call: asyncio.Task[bytes] | None = None
        self._chunk: asyncio.Task[bytes] | None = None
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _cancelled(self._call)
        await self.leave()

    async def send(self, line: bytes) -> None:
        """Call; the answer is a line among those that are read. A call that was never answered is given up."""
        await _cancelled(self._call)
        self._call = asyncio.create_task(self._post(line))
        self._changed.set()

    async def read(self) -> list[Line]:
        """Wait for bytes, and give the lines that end in them, if any; raises `SourceError`."""
        while True:
            self._changed.clear()
            changed = asyncio.create_task(self._changed.wait())
            waited: set[asyncio.Task[Any]] = {task for task in (self._call, self._next_chunk()) if task}
            try:
                await asyncio.wait({*waited, changed}, timeout=self._left(), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            if self._call is not None and self._call.done():
                call, self._call = self._call, None
                answer = call.result()
                return [Line(answer, len(answer))] if answer else []
            if self._chunk is not None and self._chunk.done():
                return self._take_chunk(self._chunk)
            if self._left() == 0:
                raise TransientSourceError(f"signal-cli's event stream was silent for {SILENT_SECONDS:.0f} s")

    @property
    def numbered(self) -> bool:
        """Whether this daemon numbers events, and so can give them again."""
        return self._events.numbered

    @property
    def joined(self) -> bool:
        """Whether there is a stream of events, read or held."""
        return self._stream is not None

    async def join(self) -> None:
        """Begin to read events, behind the last one that is known, or go on; raises `TransientSourceError`."""
        if self._stream is None:
            # A number that the daemon does not know makes it give all that it keeps; one without numbers reads nothing.
            again = {"Last-Event-ID": self._events.last or _UNKNOWN}
            target = f"{EVENTS_PATH}?account={quote(self._account, safe='')}"
            stream = Exchange(self._address)
            await stream.begin("GET", target, {"Accept": "text/event-stream", **again})
            self._stream, self._events = stream, EventParser(self._events.last, numbered=self.numbered)
        self._held, self._heard = False, time.monotonic()
        self._changed.set()

    def hold(self) -> None:
        """Read no more events for now: signal-cli waits, once what the system buffers is full."""
        self._held = True

    async def leave(self) -> None:
        """End the stream; what was not read is lost, or given again where events are numbered."""
        stream, self._stream = self._stream, None
        chunk, self._chunk = self._chunk, None
        await _cancelled(chunk)
        if stream is not None:
            stream.abort()

    def _next_chunk(self) -> "asyncio.Task[bytes] | None":
        if self._chunk is None and self._stream is not None and not self._held:
            self._chunk = asyncio.create_task(self._stream.read())
        return self._chunk

    def _take_chunk(self, done: "asyncio.Task[bytes]") -> list[Line]:
        self._chunk, self._heard = None, time.monotonic()
        stream = self._stream
        chunk = _of_stream(done, self._events.size)
        if stream is not None and stream.status != HTTPStatus.OK:
            raise _refused(stream.status, EVENTS_PATH, self._account)
        if not chunk:
            raise _broken("signal-cli ended its event stream", self._events.size)
        return self._events.feed(chunk)

    def _left(self) -> float | None:
        """How long the stream may still be silent, in seconds; None while there is none to listen to."""
        if self._stream is None or self._held:
            return None
        return max(0.0, self._heard + SILENT_SECONDS - time.monotonic())

    async def _post(self, line: bytes) -> bytes:
        exchange = Exchange(self._address)
        try:
            await exchange.begin("POST", RPC_PATH, {"Content-Type": "application/json"}, line)
            answer = bytearray()
            while chunk := await exchange.read():
                answer += chunk
                if len(answer) > MAX_LINE_BYTES:
                    raise TransientSourceError(f"signal-cli answers with more than {MAX_LINE_BYTES} bytes")
        finally:
            exchange.abort()
        if exchange.status not in {HTTPStatus.OK, HTTPStatus.CREATED}:
            raise _refused(exchange.status, RPC_PATH, self._account)
        return bytes(answer).replace(b"\n", b" ")


def _of_stream(done: "asyncio.Task[bytes]", size: int) -> bytes:
    try:
        return done.result()
    except TransientSourceError as error:
        raise _broken(str(error), size) from None


def _broken(words: str, size: int) -> TransientSourceError:
    middle = f" in the middle of an event, of which {size} bytes had come" if size else ""
    return TransientSourceError(words + middle)


def _refused(status: int, path: str, account: str) -> SourceError:
    """Say what a status means; signal-cli explains none."""
    if status == HTTPStatus.BAD_REQUEST and path == EVENTS_PATH:
        return PermanentSourceError(f"signal-cli has no account {account}: link or register it, or mend the setting")
    if status == HTTPStatus.MISDIRECTED_REQUEST:
        words = "signal-cli takes no requests for this name of its host: use the address that --http has"
        return PermanentSourceError(words)
    return TransientSourceError(f"{path} is answered with status {status}: is this signal-cli's --http at all?")


async def _cancelled(task: "asyncio.Task[bytes] | None") -> None:
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError, SourceError):  # whatever it gave, nobody waits for it any more
            await task
