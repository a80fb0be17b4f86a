"""A future with an error that nobody awaits is asked for it, so that Python has nothing to say when it goes."""

import asyncio
import gc
from collections.abc import Callable

import pytest

from ingest.log.kafka.leftovers import look_at


def said_of(handle: Callable[[asyncio.Future], None], *, closed: bool, error_first: bool) -> list[str]:
    """What an event loop says of a future that fails, before or after it was handled so."""
    loop, said = asyncio.new_event_loop(), []
    loop.set_exception_handler(lambda _, context: said.append(context["message"]))
    future = loop.create_future()
    if error_first:
        future.set_exception(OSError("gone"))
    handle(future)
    if not error_first:
        future.set_exception(OSError("gone"))
    if not closed:
        loop.run_until_complete(asyncio.sleep(0))
    del future
    gc.collect()
    loop.close()
    return said


@pytest.mark.parametrize(("closed", "error_first"), [(False, False), (False, True), (True, True)])
def test_nothing_is_said_of_one_that_was_looked_at(closed: bool, error_first: bool) -> None:
    """Also when its loop calls nobody back any longer."""
    assert said_of(look_at, closed=closed, error_first=error_first) == []
    assert said_of(lambda _: None, closed=closed, error_first=error_first) == ["Future exception was never retrieved"]


def test_one_that_is_cancelled_or_well_is_let_be() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        well, cancelled = loop.create_future(), loop.create_future()
        for future in (well, cancelled):
            look_at(future)
        well.set_result(1)
        cancelled.cancel()
        await asyncio.sleep(0)
        look_at(cancelled)
        assert await well == 1

    asyncio.run(run())


def test_who_awaits_it_hears_of_the_error_all_the_same() -> None:
    async def run() -> None:
        future = asyncio.get_running_loop().create_future()
        look_at(future)
        future.set_exception(OSError("gone"))
        with pytest.raises(OSError, match="gone"):
            await future

    asyncio.run(run())
