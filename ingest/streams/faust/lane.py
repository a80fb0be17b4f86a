"""The life of one partition in this process: taken up, worked off, given up; whatever fails is taken up again.

What Faust delivers is taken for a hint. The offset of the group, which moves in the same transaction as outputs and
state, says what is due; records that were not delivered, or only half of them, are read again.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from aiokafka.structs import ConsumerRecord

from ingest.capture import Backoff
from ingest.log.contract import FencedError, LogError
from ingest.log.kafka.stopping import STOP_SECONDS
from ingest.streams.attempts import Ticks
from ingest.streams.faust.partition import Partition

IDLE_S: Final = 2.0
"""Without a delivery for this long, the partition's end is looked at."""

DELIVERY_S: Final = 5.0
"""From fetch to lane, at most; it takes milliseconds unless Faust is just dealing out partitions."""

FENCED_PAUSE_S: Final = 5.0
"""Longer than a heartbeat: whoever was fenced usually hears until then that the partition is no longer his."""

LONGEST_PAUSE_S: Final = 30.0
"""Brokers that are back are noticed within half a minute."""

STOP_S: Final = 2.0
"""For the batch at hand, when the partition is given up; then its transaction is left to be aborted."""

CLOSE_S: Final = STOP_SECONDS + 0.5
"""Then, for its connections."""

_log = structlog.get_logger(__name__)


class Lane:
    """Keeps one partition going until it is stopped."""

    def __init__(
        self,
        number: int,
        take_up: Callable[[], Partition],
        clock: Callable[[], int],
        problem: Callable[[int, str | None], None],
    ) -> None:
        """`problem` is told why the partition stands still, and None once it goes on."""
        self.number = number
        self._take_up = take_up
        self._clock = clock
        self._problem = problem
        self._ticks = Ticks()
        self._waiting: asyncio.Queue[Sequence[ConsumerRecord]] = asyncio.Queue(maxsize=1)
        self._partition: Partition | None = None
        self._expected_until = 0.0
        self._standing = False
        """Whether it waits before it is taken up again."""
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin in a task of its own."""
        self._task = asyncio.create_task(self._run(), name=f"partition-{self.number}")

    def wants(self) -> bool:
        """Whether there is room for a delivery, and none on its way."""
        return self._waiting.empty() and time.monotonic() >= self._expected_until

    def coming(self) -> None:
        """Note that a delivery is on its way; one that does not come was dropped, and will be read again."""
        self._expected_until = time.monotonic() + DELIVERY_S

    async def offer(self, records: Sequence[ConsumerRecord]) -> None:
        """Hand over what was delivered, waiting while there is enough to do; while it fails, that is left to later."""
        self._expected_until = 0.0
        if not self._standing:
            await self._waiting.put(records)

    async def stop(self) -> bool:
        """Finish the batch at hand and give the partition up; whether that came to a clean end in time."""
        self._stop.set()
        if self._partition is not None:
            self._partition.halt.set()
        if self._task is None:
            return True
        self._make_room()
        self._waiting.put_nowait(())  # whoever waits for a delivery looks whether to stop
        done, _ = await asyncio.wait({self._task}, timeout=STOP_S)
        if not done:
            _log.warning("partition-given-up", partition=self.number, seconds=STOP_S)
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CLOSE_S)
        self._make_room()
        return bool(done)

    async def _run(self) -> None:
        backoff = Backoff(longest=LONGEST_PAUSE_S)
        while not self._stop.is_set():
            partition = self._partition = self._take_up()
            try:
                await partition.open()
                await self._work(partition, backoff)
            except FencedError as error:
                _log.warning("partition-fenced", partition=self.number, reason=str(error))
                await self._stand(partition, FENCED_PAUSE_S)
            except Exception as error:  # noqa: BLE001 - whatever failed, nothing is lost by taking it up again
                self._failed(error)
                await self._stand(partition, backoff.next())
            finally:
                await partition.close()

    async def _work(self, partition: Partition, backoff: Backoff) -> None:
        while not self._stop.is_set():
            delivered = await self._next()
            if self._stop.is_set():
                return
            if delivered:
                await partition.work(delivered)
            else:
                await partition.catch_up()
            backoff.reset()
            self._problem(self.number, None)
            await self._by_the_clock(partition, busy=bool(delivered))

    async def _by_the_clock(self, partition: Partition, *, busy: bool) -> None:
        now = self._clock()
        if self._ticks.due(now, busy=busy) and not self._stop.is_set():
            await partition.tick(now)
            self._ticks.done(now)

    async def _next(self) -> Sequence[ConsumerRecord]:
        """The next delivery; empty when there is none for a while."""
        try:
            return await asyncio.wait_for(self._waiting.get(), IDLE_S)
        except TimeoutError:
            return ()

    def _make_room(self) -> None:
        """Let whoever waits to hand something over go on; what is dropped here is read again."""
        while not self._waiting.empty():
            self._waiting.get_nowait()

    async def _stand(self, partition: Partition, seconds: float) -> None:
        await partition.close()
        self._standing = True
        self._make_room()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
        self._standing = False

    def _failed(self, error: Exception) -> None:
        expected = isinstance(error, LogError)
        kind = type(error).__name__
        reason = str(error) if expected else f"unexpected {kind}; see the daemon's log"
        self._problem(self.number, reason)
        _log.error(
            "partition-failed",
            partition=self.number,
            reason=reason,
            error_type=kind,
            exc_info=None if expected else error,
        )
