"""What makes signal-cli hand out envelopes: a subscription over its sockets, the stream of events over HTTP.

Source: section 5.1 of the chat platform notes; signal-cli-jsonrpc(5).
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from adapters.chat.signal_address import Address
from adapters.chat.signal_http import HttpWire
from adapters.chat.signal_rpc import Keep, Rpc
from adapters.chat.signal_wire import Wire
from adapters.contract import TransientSourceError
from adapters.exports.fields import number

QUIET_SECONDS: Final = 0.2
"""A stream on which nothing came for so long has nothing on its way; whoever writes there does so in milliseconds."""

LONGEST_DRAIN_SECONDS: Final = 2.0
"""How long a stream on which more and more comes is still read before it is left."""

_VERSION: Final = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_LAST_WITHOUT_NUMBERS: Final = (0, 14, 6)

FORGETS: Final = (
    "over HTTP this signal-cli loses what it hands out while its reader breaks off or starts again, up to 15 s each"
    " time: use its --tcp or --socket, or a version after 0.14.6, which can give events again"
)


class Subscription(Protocol):
    """Envelopes come while it is `active`; methods raise `SourceError`."""

    active: bool

    async def begin(self) -> None:
        """Ask for envelopes."""
        ...

    async def pause(self) -> None:
        """Ask for nothing more for now; what comes until then is kept."""
        ...

    async def end(self) -> None:
        """Ask for nothing more and take what is on its way."""
        ...


@asynccontextmanager
async def connected(
    address: Address, account: str, keep: Keep, last: str = ""
) -> AsyncIterator[tuple[Rpc, Subscription]]:
    """Connect to signal-cli; nothing is asked for yet. `last` is the number of the last event known.

    Raises `SourceError`.
    """
    wire = HttpWire(address, account, last) if address.http else Wire(address)
    async with wire:
        rpc = Rpc(wire, keep)
        try:
            yield rpc, Streamed(wire, rpc) if isinstance(wire, HttpWire) else Subscribed(rpc, account)
        finally:
            await rpc.close()


def numbers_events(version: str) -> bool:
    """Whether a signal-cli numbers the events it gives over HTTP; one whose version is not understood is newer."""
    found = _VERSION.match(version)
    return found is None or tuple(map(int, found.groups())) > _LAST_WITHOUT_NUMBERS


class Subscribed:
    """A subscription by calls, which its answer ends: everything handed out has come before it."""

    def __init__(self, rpc: Rpc, account: str) -> None:
        self.active = False
        self._rpc = rpc
        self._account = account
        self._number = 0

    async def begin(self) -> None:
        """See `Subscription`."""
        found = number(await self._rpc.call("subscribeReceive", {"account": self._account}))
        if found is None:
            raise TransientSourceError("signal-cli gives no number of the subscription: is it signal-cli at all?")
        self.active, self._number = True, found

    async def pause(self) -> None:
        """See `Subscription`."""
        if self.active:
            self.active = False
            await self._rpc.call("unsubscribeReceive", {"subscription": self._number})

    async def end(self) -> None:
        """See `Subscription`."""
        await self.pause()


class Streamed:
    """A stream of events, which is the subscription as long as it is read."""

    def __init__(self, wire: HttpWire, rpc: Rpc) -> None:
        self.active = False
        self._wire = wire
        self._rpc = rpc

    async def begin(self) -> None:
        """See `Subscription`."""
        await self._wire.join()
        self.active = True

    async def pause(self) -> None:
        """Leave the stream where events can be given again, and hold it where they would be lost."""
        if self.active:
            self.active = False
            if self._wire.numbered:
                await self._leave()
            else:
                self._wire.hold()

    async def end(self) -> None:
        """See `Subscription`; a stream that was held is read to where it is."""
        if self._wire.joined:
            self.active = False
            await self._leave()

    async def _leave(self) -> None:
        await self._wire.join()
        await self._rpc.drain(QUIET_SECONDS, LONGEST_DRAIN_SECONDS)
        await self._wire.leave()
