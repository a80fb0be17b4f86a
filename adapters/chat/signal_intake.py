"""Takes envelopes from signal-cli into the journal, as long as the log takes what is there.

signal-cli hands an envelope out once, to whoever has subscribed, and keeps what nobody asks for at Signal's server. So
there is a subscription only while the log accepts; while it does not, or too much waits, there is none. Source: section
5.1 of the chat platform notes; cases 49 and 55.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.chat.signal_address import Address
from adapters.chat.signal_envelopes import is_subscribed, passes, received
from adapters.chat.signal_journal import Journal
from adapters.chat.signal_rpc import NO_SUCH_METHOD, Rpc, RpcError
from adapters.chat.signal_wire import Line, Wire
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError, Warned
from adapters.exports.fields import identifier, number, objects

SUBSCRIPTIONS_LOOKED_AT: Final = 200
"""signal-cli numbers subscriptions from its start on; one that it makes by itself is looked for among so many."""

LEAVE_SECONDS: Final = 5.0
"""How long a stop waits for what is on its way: less than a service manager does."""

ON_START: Final = (
    "signal-cli receives on its own, and what comes while nobody listens is lost: start it with --receive-mode=manual"
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, in seconds.

    `log` is how long the log may refuse before nothing more is asked for, `tick` how often that is looked at while
    something waits, and `silence` how long a connection may be silent before signal-cli is asked whether it is there:
    a peer that lost its power closes nothing.
    """

    log: float = 5.0
    tick: float = 1.0
    silence: float = 60.0


@dataclass(slots=True)
class Intake:
    """One connection to the signal-cli at `address`, for `account`, into `journal`."""

    address: Address
    account: str
    journal: Journal
    source: str
    patience: Patience = field(default_factory=Patience)
    warnings: list[Warned] = field(default_factory=list)
    """What a person should know, until somebody takes it."""
    _subscription: int | None = None
    _offered: float | None = None
    _warned: bool = False
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)
    _pump: "asyncio.Task[None] | None" = None
    _rpc: Rpc | None = None

    async def more(self) -> None:
        """Wait until something waits in the journal, or a while; raises `SourceError` when the connection is gone."""
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        arrived = asyncio.create_task(self._arrived.wait())
        try:
            await asyncio.wait(
                {self._pump, arrived}, timeout=self.patience.silence, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            arrived.cancel()
        self._arrived.clear()
        if self._pump.done() and not self.journal.waiting:
            await self._pump

    def offered(self, *, taken: bool) -> None:
        """Note that something is offered to the log, or that the log has it."""
        self._offered = None if taken else time.monotonic()

    async def stop(self) -> None:
        """Ask for nothing more, take what is on its way, and close the connection."""
        if self._pump is None:
            return
        self._leaving.set()
        if self._rpc is not None:
            self._rpc.wake()
        await asyncio.wait({self._pump}, timeout=LEAVE_SECONDS)
        self._pump.cancel()
        with suppress(asyncio.CancelledError, SourceError):  # why it broke does not matter any more
            await self._pump

    async def _run(self) -> None:
        async with Wire(self.address) as wire:
            rpc = self._rpc = Rpc(wire, self._keep)
            try:
                await self._begin(rpc)
                while not self._leaving.is_set():
                    await self._steer(rpc)
                    quick = self.journal.waiting or self._subscription is None
                    await rpc.receive(self.patience.tick if quick else self.patience.silence)
                    if time.monotonic() - rpc.heard >= self.patience.silence:
                        await rpc.call("version")
                await self._unsubscribe(rpc)
            finally:
                await rpc.close()

    async def _begin(self, rpc: Rpc) -> None:
        await find_account(rpc, self.account)
        if await receives_on_its_own(rpc):
            self._warn_of_mode()

    async def _steer(self, rpc: Rpc) -> None:
        """Subscribe while the log takes what is there, and not otherwise."""
        refused = self._offered is not None and time.monotonic() - self._offered > self.patience.log
        if refused or self.journal.full:
            await self._unsubscribe(rpc)
        elif self._subscription is None:
            subscription = number(await rpc.call("subscribeReceive", {"account": self.account}))
            if subscription is None:
                raise TransientSourceError("signal-cli gives no number of the subscription: is it signal-cli at all?")
            self._subscription = subscription

    async def _unsubscribe(self, rpc: Rpc) -> None:
        """Ask for nothing more; what comes until the answer is kept."""
        if self._subscription is not None:
            subscription, self._subscription = self._subscription, None
            await rpc.call("unsubscribeReceive", {"subscription": subscription})

    async def _keep(self, lines: Sequence[tuple[Line, object]]) -> None:
        """Bring lines into the journal; when cancelled, that is finished first: they exist nowhere else."""
        kept = [line for line, value in lines if not passes(value)]
        if any(received(value) is not None and not is_subscribed(value) for _, value in lines):
            self._warn_of_mode()
        if not kept:
            return
        work = asyncio.ensure_future(asyncio.to_thread(self.journal.append, kept))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})
            raise
        finally:
            self._arrived.set()

    def _warn_of_mode(self) -> None:
        if not self._warned:
            self._warned = True
            self.warnings.append(Warned(self.source, ON_START))


async def find_account(rpc: Rpc, account: str) -> None:
    """Make sure that signal-cli has an account; one that runs for a single account does not tell which.

    Raises `SourceError`.
    """
    try:
        listed: Any = await rpc.call("listAccounts")
    except RpcError as error:
        if error.code != NO_SUCH_METHOD:
            raise
        return
    numbers = [found for each in objects(listed) if (found := identifier(each.get("number")))]
    if account not in numbers:
        known = ", ".join(numbers) or "none"
        words = f"signal-cli has no account {account} (it has: {known}): link or register it, or mend the setting"
        raise PermanentSourceError(words)


async def receives_on_its_own(rpc: Rpc) -> bool:
    """Whether this connection was subscribed without asking, and end that; raises `TransientSourceError`.

    A connection can end its own subscriptions only, so that nobody else's is touched.
    """
    asked = [{"subscription": subscription} for subscription in range(SUBSCRIPTIONS_LOOKED_AT)]
    return any("result" in answer for answer in await rpc.batch("unsubscribeReceive", asked))
