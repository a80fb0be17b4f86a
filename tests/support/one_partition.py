"""Partition 0 of an installation on a real broker, taken up in this process."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from aiokafka.structs import TopicPartition

from ingest.health import Activity
from ingest.log.contract import Topic
from ingest.log.kafka.groups import Groups
from ingest.log.kafka.offsets import Offsets
from ingest.log.kafka.topics import group_name, topic_name
from ingest.metrics import Metrics
from ingest.processors.chain import processors
from ingest.streams.faust.chain import Chain
from ingest.streams.faust.figures import WorkerFigures
from ingest.streams.faust.layout import ask_layout
from ingest.streams.faust.partition import Partition, Surroundings
from ingest.streams.faust.places import GROUP
from ingest.streams.faust.reading import bounds, read_to
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore


class OnePartition:
    """Taken up as often as a test wants, by one worker after the other."""

    def __init__(self, settings, make_store=None):
        self.settings = settings
        self.captured = TopicPartition(topic_name(settings, Topic.CAPTURED), 0)
        self.shelf = Shelf(make_store or (lambda _: MemoryStore()))

    async def __aenter__(self):
        metrics = Metrics()
        self.metrics = metrics
        self.around = Surroundings(
            self.settings,
            self.shelf,
            WorkerFigures(metrics.registry, metrics.processed),
            Activity(),
            Offsets(self.settings),
            Groups(self.settings),
            await ask_layout(self.settings),
            ThreadPoolExecutor(1),
        )
        self.opened = []
        return self

    async def __aexit__(self, *_):
        for partition in self.opened:
            await partition.close()
        self.shelf.keep_only(())
        await asyncio.gather(self.around.offsets.close(), self.around.groups.close())

    async def take_up(self, shelf=None):
        around = self.around
        # A commit that was answered is seen a moment later, once its marks are there.
        await around.offsets.settled(self.captured)
        if shelf is not None:
            around = replace(around, shelf=shelf)
        partition = Partition(around, 0, Chain(processors()))
        self.opened.append(partition)
        await partition.open()
        return partition

    async def delivered(self):
        """All captured records, as Faust would deliver them."""
        _, end = await bounds(self.around.offsets, self.captured)
        return [record async for batch in read_to(self.settings, self.captured, 0, end) for record in batch]

    async def committed(self):
        return (await self.around.groups.committed(group_name(self.settings, GROUP)))[self.captured].offset
