"""One partition while this process holds it: its reader, its writer, its store, and how far it is."""

import asyncio
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final, ParamSpec, TypeVar

from aiokafka.errors import KafkaError
from aiokafka.structs import ConsumerRecord, TopicPartition

from ingest.health import Activity
from ingest.log.contract import Record, Topic
from ingest.log.kafka.errors import explain
from ingest.log.kafka.groups import Groups
from ingest.log.kafka.offsets import Offsets
from ingest.log.kafka.topics import PROCESSOR_STATE, group_name, topic_name
from ingest.settings_kafka import KafkaSettings
from ingest.streams.attempts import BATCH_BYTES, BATCH_RECORDS
from ingest.streams.faust.chain import Chain, Work
from ingest.streams.faust.changelog import load, name
from ingest.streams.faust.figures import WorkerFigures
from ingest.streams.faust.forgetting import Forgetting, oldest_needed
from ingest.streams.faust.layout import Layout
from ingest.streams.faust.places import GROUP
from ingest.streams.faust.reading import ANSWER_S, bounds, read_to
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore, Store
from ingest.streams.faust.writer import PartitionWriter

P = ParamSpec("P")
T = TypeVar("T")

MARKERS: Final = 16
"""Offsets without a record that are taken for the marks of transactions' ends; live capture leaves one a record."""

_offset: Final = attrgetter("offset")


@dataclass(slots=True)
class Surroundings:
    """What the partitions of one worker have in common."""

    settings: KafkaSettings
    shelf: Shelf
    figures: WorkerFigures
    activity: Activity
    offsets: Offsets
    groups: Groups
    layout: Layout
    thread: ThreadPoolExecutor
    """One for all partitions: several would only take the interpreter's lock from each other."""

    async def in_turn(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Do what takes the processor or the disk, after what was asked for before."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, partial(work, *arguments, **named))


class Partition:
    """Works off one partition of `conversations.captured`, each record once. All it raises is `LogError`."""

    def __init__(self, around: Surroundings, number: int, chain: Chain) -> None:
        self.number = number
        self.position = 0
        """The offset at which to go on."""
        self.halt = asyncio.Event()
        """Set to leave off after the batch at hand."""
        self._around = around
        self._settings = around.settings
        self._chain = chain
        self._store: Store = MemoryStore()
        self._forgetting = Forgetting(self._store)
        self._captured = TopicPartition(topic_name(around.settings, Topic.CAPTURED), number)
        self._writer = PartitionWriter(around.settings, around.layout, number)
        self._sure = False
        """Whether nothing was left out between `position` and what comes next."""

    async def open(self) -> None:
        """Take the partition over and remember what was remembered.

        The order matters: only once its transactions are over can no former holder move the offset or the state.
        """
        changelog = TopicPartition(topic_name(self._settings, PROCESSOR_STATE), self.number)
        await self._writer.open()
        with self._explained("opening"):
            committed = await self._around.groups.committed(group_name(self._settings, GROUP))
            self.position = committed[self._captured].offset if self._captured in committed else 0
            self._store = await self._around.in_turn(self._around.shelf.take, self.number)
            await load(self._settings, self._around.offsets, changelog, self._store)
        self._forgetting = Forgetting(self._store)
        await name(self._writer, self.position, self._store)

    async def close(self) -> None:
        """Let go of the connections; bounded in time, and never fails."""
        await self._writer.close()

    async def work(self, delivered: Sequence[ConsumerRecord]) -> None:
        """Work off consecutive records, what came before them unseen included, and none twice."""
        fresh = self._fresh(delivered)
        if fresh and fresh[0].offset - self.position > (MARKERS if self._sure else 0):
            await self._read_to(fresh[0].offset)
            fresh = self._fresh(delivered)
        await self._turns(fresh)

    async def catch_up(self) -> None:
        """Work off what is there and was not delivered; afterwards the group's offset is the partition's end."""
        with self._explained("measuring"):
            _, end = await bounds(self._around.offsets, self._captured)
        if end <= self.position:
            return
        await self._read_to(end)
        if end > self.position and not self.halt.is_set():  # what is left are marks, of no interest to anybody
            await self._commit(Work(), end, 0)

    async def tick(self, now_ms: int) -> None:
        """Do what is due by the clock."""
        work = await self._around.in_turn(self._chain.tick, now_ms, self._store)
        if not work.empty:
            await self._commit(work, self.position, 0)
        await self._forget(now_ms)

    async def _forget(self, now_ms: int) -> None:
        """Drop a page of what retention has taken from the log."""
        if self._forgetting.due(now_ms):
            with self._explained("looking for what may be forgotten of"):
                needed = oldest_needed(self._settings, self._around.offsets, self.number, now_ms)
                self._forgetting.begin(await asyncio.wait_for(needed, ANSWER_S), now_ms)
        gone = await self._around.in_turn(self._forgetting.next_page)
        if gone:
            await self._commit(Work(state=gone), self.position, 0)
            self._around.figures.forgotten.inc(len(gone))

    def _fresh(self, records: Sequence[ConsumerRecord]) -> Sequence[ConsumerRecord]:
        return records[bisect_left(records, self.position, key=_offset) :]

    async def _read_to(self, end: int) -> None:
        reading = read_to(self._settings, self._captured, self.position, end)
        with self._explained("reading"):
            async with aclosing(reading):
                async for records in reading:
                    self._around.figures.reread.inc(len(records))
                    await self._turns(records)
                    if self.halt.is_set():
                        return
        self._sure = True

    async def _turns(self, records: Sequence[ConsumerRecord]) -> None:
        for chunk in _chunks(records):
            if self.halt.is_set():
                return
            started = time.perf_counter()
            with self._around.activity.doing(f"processing partition {self.number}"):
                work = await self._around.in_turn(self._process, chunk)
                await self._commit(work, chunk[-1].offset + 1, len(chunk), started)
            self._sure = True

    def _process(self, chunk: Sequence[ConsumerRecord]) -> Work:
        return self._chain.process([_record(found) for found in chunk], self._store)

    async def _commit(self, work: Work, offset: int, records: int, started: float | None = None) -> None:
        started = time.perf_counter() if started is None else started
        end = await self._writer.commit(work, offset)
        if end is not None:
            await self._around.in_turn(self._store.apply, work.state, end)
        self.position = offset
        self._around.figures.batch(records, time.perf_counter() - started, work.counts)

    @contextmanager
    def _explained(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (KafkaError, TimeoutError, OSError) as error:
            raise explain(error, self._settings, f"{doing} partition {self.number}") from error


def _chunks(records: Sequence[ConsumerRecord]) -> Iterator[Sequence[ConsumerRecord]]:
    """Parts of at most `BATCH_RECORDS`, and `BATCH_BYTES` unless one record has more."""
    start = size = 0
    for place, record in enumerate(records):
        size += len(record.value or b"")
        if place > start and (place - start == BATCH_RECORDS or size > BATCH_BYTES):
            yield records[start:place]
            start, size = place, len(record.value or b"")
    if start < len(records):
        yield records[start:]


def _record(found: ConsumerRecord) -> Record:
    """A record in the terms of the log's contract, whose offsets begin at 1. Foreign ones may have any key or value."""
    key = (found.key or b"").decode("utf-8", "replace")
    return Record(Topic.CAPTURED, found.offset + 1, key, found.value or b"", found.timestamp, found.partition)
