"""Takes envelopes from signal-cli into the journal, as long as the log takes what is there.

signal-cli hands an envelope out once, to whoever has subscribed, and keeps what nobody asks for at Signal's server. So
there is a subscription only while the log accepts; while it does not, or too much waits, there is none. Source: section
5.1 of the chat platform notes; cases 49 and 55.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.chat.signal_address import Address
from adapters.chat.signal_envelopes import is_subscribed, passes, received
from adapters.chat.signal_journal import Journal
from adapters.chat.signal_rpc import NO_SUCH_METHOD, Rpc, RpcError
from adapters.chat.signal_subscription import FORGETS, Subscription, connected, numbers_events
from adapters.chat.signal_wire import Line
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError, Warned
from adapters.exports.fields import identifier, obj, objects, word

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
    last: Callable[[], str] = str
    """Gives the number of the last event in the log, where signal-cli numbers them."""
    patience: Patience = field(default_factory=Patience)
    warnings: list[Warned] = field(default_factory=list)
    """What a person should know, until somebody takes it."""
    _offered: float | None = None
    _warned: bool = False
    _unkept: TransientSourceError | None = None
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
        async with connected(self.address, self.account, self._keep, self.last()) as (rpc, subscription):
            self._rpc = rpc
            await self._begin(rpc)
            while not self._leaving.is_set():
                await self._steer(subscription)
                quick = self.journal.waiting or not subscription.active
                await rpc.receive(self.patience.tick if quick else self.patience.silence)
                if time.monotonic() - rpc.heard >= self.patience.silence:
                    await rpc.call("version")
            await subscription.end()

    async def _begin(self, rpc: Rpc) -> None:
        await find_account(rpc, self.account)
        if self.address.http:  # how it receives is not told there
            if not numbers_events(await version_of(rpc)):
                self._warn(FORGETS)
        elif await receives_on_its_own(rpc):
            self._warn(ON_START)

    async def _steer(self, subscription: Subscription) -> None:
        """Subscribe while the log and the journal take what is there, and not otherwise."""
        refused = self._offered is not None and time.monotonic() - self._offered > self.patience.log
        if self._unkept is not None:
            await subscription.end()  # now nothing more is on its way
            raise self._unkept
        if refused or self.journal.full:
            await subscription.pause()
        elif not subscription.active:
            await subscription.begin()

    async def _keep(self, lines: Sequence[tuple[Line, object]]) -> None:
        """Bring lines into the journal; when cancelled, that is finished first: they exist nowhere else."""
        kept = [line for line, value in lines if not passes(value)]
        if any(received(value) is not None and not is_subscribed(value) for _, value in lines):
            self._warn(ON_START)
        if not kept:
            return
        work = asyncio.ensure_future(asyncio.to_thread(self.journal.append, kept))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})
            raise
        except TransientSourceError as error:
            # They wait in memory. To leave at once would lose what is on its way behind them.
            self._unkept = error
        finally:
            self._arrived.set()

    def _warn(self, words: str) -> None:
        if not self._warned:
            self._warned = True
            self.warnings.append(Warned(self.source, words))


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


async def version_of(rpc: Rpc) -> str:
    """Ask which signal-cli it is; raises `TransientSourceError`."""
    return word(obj(await rpc.call("version")).get("version")) or "of an unknown version"


async def receives_on_its_own(rpc: Rpc) -> bool:
    """Whether this connection was subscribed without asking, and end that; raises `TransientSourceError`.

    A connection can end its own subscriptions only, so that nobody else's is touched.
    """
    asked = [{"subscription": subscription} for subscription in range(SUBSCRIPTIONS_LOOKED_AT)]
    return any("result" in answer for answer in await rpc.batch("unsubscribeReceive", asked))
