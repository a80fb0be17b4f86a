"""Runs the processors on Kafka beside the sources: partitions come and go, brokers too, and the loop stays.

Has the form of `ingest.processing.Processing`, for the daemon.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self

import structlog
from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord

from ingest.capture import Backoff
from ingest.clock import now_ms
from ingest.health import Health
from ingest.locks import Lock
from ingest.log.contract import LogError
from ingest.log.kafka.diagnosis import diagnose
from ingest.log.kafka.groups import Groups
from ingest.log.kafka.offsets import Offsets
from ingest.metrics import Metrics
from ingest.processing import PART
from ingest.processors.chain import processors
from ingest.processors.contract import Processor
from ingest.settings import Settings
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.app import application, first_of, started
from ingest.streams.faust.chain import Chain
from ingest.streams.faust.figures import WorkerFigures
from ingest.streams.faust.lane import Lane
from ingest.streams.faust.layout import ask_layout
from ingest.streams.faust.partition import Partition, Surroundings
from ingest.streams.faust.reading import ANSWER_S
from ingest.streams.faust.shelf import Shelf, store_maker

LONGEST_PAUSE_S: Final = 30.0

MEMBER: Final = -1
"""Stands for the membership in the group among the numbers of partitions, before all of them."""

_log = structlog.get_logger(__name__)


class Workers:
    """One member of the consumer group, with a lane for each of its partitions."""

    def __init__(
        self,
        settings: KafkaSettings,
        folder: Path,
        steps: Callable[[], Sequence[Processor]],
        shelf: Shelf,
        health: Health,
        metrics: Metrics,
        *,
        clock: Callable[[], int] = now_ms,
        seat: Lock | None = None,
    ) -> None:
        """`folder` is for what the worker may lose; `steps` makes processors, new ones for each partition.

        `seat` is given back when it has stopped.
        """
        self._settings = settings
        self._folder = folder
        self._steps = steps
        self._shelf = shelf
        self._health = health
        self._metrics = metrics
        self._figures = WorkerFigures(metrics.registry, metrics.processed)
        self._around: Surroundings | None = None
        self._clock = clock
        self._seat = seat
        self._lanes: dict[int, Lane] = {}
        self._problems: dict[int, str] = {}
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, settings: Settings, folder: Path, seat: Lock, health: Health, metrics: Metrics) -> Self:
        """Make one from the daemon's settings."""

        def steps() -> Sequence[Processor]:
            return processors(settings.processors.idle_after)

        shelf = Shelf(store_maker(settings.processors.store, folder / "state"))
        return cls(settings.kafka, folder, steps, shelf, health, metrics, seat=seat)

    def start(self) -> None:
        """Join the group as soon as brokers answer."""
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Nothing: the brokers say when there is something."""

    async def stop(self) -> None:
        """Finish the batches at hand, leave the group, and let others have the partitions."""
        self._stop.set()
        if self._task is not None:
            await self._task
        if self._seat is not None:
            self._seat.release()

    async def assigned(self, partitions: Iterable[int]) -> None:
        """Take these partitions up."""
        self._figures.rebalances.inc()
        mine = list(partitions)
        _log.info("partitions-assigned", partitions=mine)
        self._figures.partitions.set(len(mine))
        await asyncio.to_thread(self._shelf.keep_only, mine)
        for number in mine:
            lane = self._lanes[number] = Lane(number, self._taking_up(number), self._clock, self._problem)
            lane.start()

    async def revoked(self) -> None:
        """Give all partitions up."""
        lanes, self._lanes = self._lanes, {}
        clean = await asyncio.gather(*(lane.stop() for lane in lanes.values()))
        for number, well in zip(lanes, clean, strict=True):
            self._problem(number, None)
            if not well:
                await asyncio.to_thread(self._shelf.discard, number)
        self._figures.partitions.set(0)

    def wants(self, partition: int) -> bool:
        """Whether the lane of a partition has room; what comes for none is dropped, so that it need not wait."""
        lane = self._lanes.get(partition)
        return lane is None or lane.wants()

    def coming(self, partition: int) -> None:
        """Note that records are on their way to a lane."""
        lane = self._lanes.get(partition)
        if lane is not None:
            lane.coming()

    async def offer(self, partition: int, records: Sequence[ConsumerRecord]) -> None:
        """Hand records on to their lane; what comes for none is read by whoever has the partition."""
        lane = self._lanes.get(partition)
        if lane is not None:
            await lane.offer(records)

    def _taking_up(self, number: int) -> Callable[[], Partition]:
        def take_up() -> Partition:
            assert self._around is not None, "a member of the group"  # noqa: S101 - for whoever reads a traceback
            return Partition(self._around, number, Chain(self._steps()))

        return take_up

    async def _run(self) -> None:
        backoff = Backoff(longest=LONGEST_PAUSE_S)
        while not self._stop.is_set():
            try:
                await self._member(backoff)
            except Exception as error:  # noqa: BLE001 - Faust or the brokers failed: said, counted, tried again
                self._failed(error)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), backoff.next())
        await asyncio.to_thread(self._shelf.keep_only, ())

    async def _member(self, backoff: Backoff) -> None:
        """Be a member of the group until told to stop; raises `LogError` for what ended it before."""
        async with self._surroundings() as self._around:
            app = application(self._settings, self._folder / "faust", self)
            try:
                async with started(app) as ended:
                    self._solved(MEMBER)
                    backoff.reset()
                    await first_of(self._stop, ended)
                    await self.revoked()  # before Faust leaves the group: so the next holder need not wait
            finally:
                await self.revoked()

    @asynccontextmanager
    async def _surroundings(self) -> AsyncIterator[Surroundings]:
        settings = self._settings
        try:
            layout = await asyncio.wait_for(ask_layout(settings), ANSWER_S)
        except (KafkaError, TimeoutError, OSError) as error:
            raise await diagnose(error, settings, "asking for the topics") from error
        offsets, groups = Offsets(settings), Groups(settings)
        activity = self._health.activity
        thread = ThreadPoolExecutor(1, "processors")
        try:
            yield Surroundings(settings, self._shelf, self._figures, activity, offsets, groups, layout, thread)
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
            await asyncio.gather(offsets.close(), groups.close())

    def _problem(self, number: int, reason: str | None) -> None:
        """Take what a lane says of itself."""
        if reason is None:
            self._solved(number)
            return
        self._problems[number] = reason
        self._figures.reopened.inc()
        self._metrics.failed(PART, "processing", "partition")
        self._show()

    def _solved(self, number: int) -> None:
        if self._problems.pop(number, None) is not None:
            self._show()

    def _show(self) -> None:
        if self._problems:
            self._health.problems[PART] = self._problems[min(self._problems)]
        else:
            self._health.problems.pop(PART, None)

    def _failed(self, error: Exception) -> None:
        expected = isinstance(error, LogError)
        kind = type(error).__name__
        reason = str(error) if expected else f"unexpected {kind}; see the daemon's log"
        self._problems[MEMBER] = reason
        self._show()
        self._metrics.failed(PART, "processing", kind)
        _log.error("worker-failed", reason=reason, error_type=kind, exc_info=None if expected else error)
