"""What the fakes of signal-cli do is what the real one does, as far as that can be seen without an account."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest

from adapters.chat.signal import SignalSource
from adapters.chat.signal_address import Address
from adapters.chat.signal_http import HttpWire
from adapters.chat.signal_intake import receives_on_its_own
from adapters.chat.signal_rpc import BAD_PARAMETERS, NO_SUCH_METHOD, Rpc, RpcError
from adapters.chat.signal_subscription import Subscription, connected
from adapters.chat.signal_wire import Line
from adapters.contract import PermanentSourceError, TransientSourceError
from ingest.capture import Capturing, Pauses
from ingest.health import Health
from ingest.metrics import Metrics
from tests.support.fake_signal import ACCOUNT
from tests.support.signal_cli import VERSION, SignalCli
from tests.support.signal_run import QUICK
from tests.support.sources import MemoryLog, until

WAYS = ("tcp", "socket", "http")
CALM = Pauses(first=0.5, longest=1.0, permanent=0.5)
"""Three sources that ask all the time would keep a Java from starting on a busy machine."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory) -> Iterator[SignalCli]:
    with SignalCli(tmp_path_factory.mktemp("signal-cli")) as running:
        yield running


async def nothing(lines: Sequence[tuple[Line, object]]) -> None:
    raise AssertionError(lines)


def talk(address: str, work: Callable[[Rpc, Subscription], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with connected(Address.of(address), ACCOUNT, nothing) as (rpc, subscription):
            return await work(rpc, subscription)

    return asyncio.run(run())


@pytest.mark.parametrize("way", WAYS)
def test_calls_are_answered(daemon: SignalCli, way: str) -> None:
    async def work(rpc: Rpc, _: Subscription) -> list[Any]:
        batch = await rpc.batch("version", [{}, {}, {}])
        return [await rpc.call("version"), await rpc.call("listAccounts"), len(batch), await receives_on_its_own(rpc)]

    assert talk(daemon.addresses[way], work) == [{"version": VERSION}, [], 3, False]


@pytest.mark.parametrize("way", WAYS)
def test_refusals_have_their_codes(daemon: SignalCli, way: str) -> None:
    async def work(rpc: Rpc, _: Subscription) -> list[object]:
        codes = []
        for method, params in (("nonsense", {}), ("listGroups", {"account": ACCOUNT})):
            with pytest.raises(RpcError) as refused:
                await rpc.call(method, params)
            codes.append(refused.value.code)
        return codes

    assert talk(daemon.addresses[way], work) == [NO_SUCH_METHOD, BAD_PARAMETERS]


@pytest.mark.parametrize("way", ["tcp", "socket"])
def test_a_subscription_needs_an_account(daemon: SignalCli, way: str) -> None:
    async def work(_: Rpc, subscription: Subscription) -> object:
        with pytest.raises(RpcError) as refused:
            await subscription.begin()
        return refused.value.code

    assert talk(daemon.addresses[way], work) == BAD_PARAMETERS


def test_a_stream_needs_an_account_and_there_are_no_subscriptions_beside_it(daemon: SignalCli) -> None:
    async def work(rpc: Rpc, subscription: Subscription) -> object:
        with pytest.raises(RpcError) as refused:
            await rpc.call("subscribeReceive", {})
        await subscription.begin()
        with pytest.raises(PermanentSourceError, match="no account"):
            await rpc.receive(30)
        return refused.value.code

    assert talk(daemon.addresses["http"], work) == NO_SUCH_METHOD


def test_a_stream_says_something_now_and_then(daemon: SignalCli) -> None:
    """Nothing before that, not even its head: whoever waits for one gives up too early."""

    async def run() -> list[Line]:
        async with asyncio.timeout(60), HttpWire(Address.of(daemon.addresses["http"]), "") as wire:
            await wire.join()
            return await wire.read()

    assert asyncio.run(run()) == []


@pytest.mark.parametrize("way", WAYS)
def test_a_check_says_that_the_account_is_missing(daemon: SignalCli, way: str, tmp_path) -> None:
    source = SignalSource("signal.ops", ACCOUNT, Address.of(daemon.addresses[way]), tmp_path / "j")
    found = asyncio.run(source.check())
    assert [each.level for each in found] == ["ok", "ok", "problem"]
    assert f"signal-cli {VERSION} answers" in found[1].what
    assert f"no account {ACCOUNT} (it has: none)" in found[2].what


def test_a_daemon_that_was_killed_is_found_again(tmp_path) -> None:
    """All three ways: what was under way ends in words, a source backs off, and goes on with the next daemon."""
    daemon = SignalCli(tmp_path)
    sources = {way: Address.of(at) for way, at in daemon.addresses.items()}
    adapters = [SignalSource(f"signal.{way}", ACCOUNT, at, tmp_path / f"{way}.j", QUICK) for way, at in sources.items()]

    async def run() -> None:
        health = Health()
        capturing = Capturing(MemoryLog(), adapters, health, Metrics(), pauses=CALM)
        capturing.start()

        async def all_say(words: str) -> None:
            for each in health.sources.values():  # one after the other: what a source says goes when it starts anew
                await until(lambda each=each: words in str(each.last_error), 120)

        try:
            await all_say("cannot be reached")
            await asyncio.to_thread(daemon.start)
            await all_say("no account")
            async with connected(sources["tcp"], ACCOUNT, nothing) as (rpc, _):
                await rpc.call("version")
                await asyncio.to_thread(daemon.kill)
                with pytest.raises(TransientSourceError, match="connection"):
                    await rpc.call("version")
            await all_say("cannot be reached")
            await asyncio.to_thread(daemon.start)
            await all_say("no account")
        finally:
            await capturing.stop()

    try:
        asyncio.run(run())
    finally:
        daemon.kill()
