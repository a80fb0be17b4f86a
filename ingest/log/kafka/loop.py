"""The event loop of a Kafka log: one daemon thread runs every client, and threads hand it work with a bounded wait."""

import asyncio
import math
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from threading import Thread
from typing import Any, Final, TypeVar

from ingest.log.contract import LogError

T = TypeVar("T")

_GRACE_S: Final = 5.0
"""Beyond the limit of a piece of work: to be cancelled is an orderly end, which takes milliseconds."""


class LoopThread:
    """An event loop that lives in a thread of its own until `close`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._end = math.inf
        self._limits: set[asyncio.Timeout] = set()
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        """Run a coroutine to its end and give its result; raises `TimeoutError` when it takes longer, or `LogError`."""
        if self._closed:
            work.close()
            raise LogError("the log is closed")
        done = asyncio.run_coroutine_threadsafe(self._limited(work, timeout_s), self._loop)
        try:
            return done.result(timeout_s + _GRACE_S)
        except CancelledError:
            raise LogError("the log was closed meanwhile") from None

    def finish_within(self, seconds: float) -> None:
        """Let no work take longer than that from now on, neither what is under way nor what is yet to come."""
        if not self._closed:
            self._loop.call_soon_threadsafe(self._end_within, seconds)

    def close(self, last: Coroutine[Any, Any, None], timeout_s: float) -> None:
        """Run a last coroutine for at most that long, cancel what is left, and end the thread."""
        if self._closed:
            last.close()
            return
        try:
            # Not under the limit of `finish_within`: what disconnects has one of its own.
            asyncio.run_coroutine_threadsafe(asyncio.wait_for(last, timeout_s), self._loop).result(timeout_s + _GRACE_S)
        finally:
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout_s)

    async def _limited(self, work: Coroutine[Any, Any, T], timeout_s: float) -> T:
        async with asyncio.timeout_at(min(self._loop.time() + timeout_s, self._end)) as limit:
            self._limits.add(limit)
            try:
                return await work
            finally:
                self._limits.discard(limit)

    def _end_within(self, seconds: float) -> None:
        self._end = self._loop.time() + seconds
        for limit in self._limits:
            if not limit.expired():  # one that has passed is cancelling already, and takes no new time
                limit.reschedule(min(limit.when() or self._end, self._end))

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(_gather(left))
            self._loop.close()


async def _gather(tasks: set["asyncio.Task[Any]"]) -> None:
    """Wait for cancelled tasks; one that does not end is left behind with its thread, a daemon."""
    if tasks:
        await asyncio.wait(tasks, timeout=_GRACE_S)
