"""What everything on one Kafka log shares: the event loop, readers and groups, and what is known of the topics."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import repeat
from typing import Any, Final, TypeVar

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.structs import TopicPartition

from ingest.clock import now_ms
from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.kafka.admin import admin_client
from ingest.log.kafka.checkpoints import place_of
from ingest.log.kafka.client import BATCH_BYTES
from ingest.log.kafka.diagnosis import diagnose
from ingest.log.kafka.errors import explain, missing_topic
from ingest.log.kafka.fitting import fit_record, room_for_record
from ingest.log.kafka.groups import Groups
from ingest.log.kafka.loop import LoopThread
from ingest.log.kafka.producer import Batch, Message, Transactions
from ingest.log.kafka.reader import Readers
from ingest.log.kafka.topics import CHECKPOINTS, MAX_MESSAGE_BYTES, partition_of, topic_name
from ingest.log.kafka.verify import describe, message_limits
from ingest.settings_kafka import KafkaSettings

T = TypeVar("T")

CLOSE_SECONDS: Final = 8.0
"""The daemon has nine to stop; producers whose brokers are away are left behind before that."""

DIAGNOSIS_SECONDS: Final = 30.0
"""To ask a few brokers why they refuse."""


class Connection:
    """Runs the work of a Kafka log, and answers in the log's own errors."""

    def __init__(self, settings: KafkaSettings) -> None:
        self.settings = settings
        self._loop = LoopThread("kafka-log")
        self.readers, self.groups = self.run(self._set_up(), CLOSE_SECONDS, "beginning")
        self._partitions: dict[str, int] = {}
        self._limits: dict[str, int] | None = None
        self._written: dict[TopicPartition, int] = {}

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float, doing: str) -> T:
        """Run `work` in the log's event loop and wait for it; raises `LogError`."""
        try:
            return self._loop.run(work, timeout_s)
        # Whatever a library raises, and whatever a caller gave, must not end a thread that only knows `LogError`.
        except Exception as error:  # noqa: BLE001
            explained = self._explained(error, doing)
            raise explained from explained.__cause__

    def finish_within(self, seconds: float) -> None:
        """Let no work take longer than that from now on, also what is under way."""
        self._loop.finish_within(seconds)

    def close(self, last: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Run what is still to do, disconnect and end the loop, within a bounded time."""
        self._loop.close(self._finish(list(last)), CLOSE_SECONDS)

    async def partitions(self, topic: str) -> int:
        """How many partitions a topic has, asked once; raises `LogError` when it is not there."""
        name = topic_name(self.settings, topic)
        if name not in self._partitions:
            async with self.admin() as admin:
                self._partitions = {found: there.partitions for found, there in (await describe(admin)).items()}
        if name not in self._partitions:
            raise missing_topic(self.settings, name)
        return self._partitions[name]

    async def places(self, topic: str) -> list[TopicPartition]:
        """Every partition of a topic."""
        name = topic_name(self.settings, topic)
        return [TopicPartition(name, number) for number in range(await self.partitions(topic))]

    def place(self, topic: str, partition: int) -> TopicPartition:
        """A partition by our names."""
        return TopicPartition(topic_name(self.settings, topic), partition)

    async def checkpoint_place(self, source: str) -> TopicPartition:
        """Where everything about a source is."""
        return place_of(self.settings, source, await self.partitions(CHECKPOINTS))

    async def producer(self, transactional_id: str) -> Transactions:
        """A producer that has yet to start."""
        limits = await self._message_limits()
        return Transactions(self.settings, transactional_id, min(BATCH_BYTES, *limits.values()))

    async def batch(
        self, records: Collection[NewRecord], times_ms: Iterable[int] | None = None
    ) -> dict[TopicPartition, list[Message]]:
        """Records by partition, each within what its topic takes; raises for what is no record.

        `times_ms` are those of records that were appended elsewhere before, one for each; by default it is now.
        """
        limits = await self._message_limits()
        places = {topic: await self.places(topic) for topic in {record.topic for record in records}}
        rooms = {topic: limits[own[0].topic] for topic, own in places.items()}
        batch: dict[TopicPartition, list[Message]] = {}
        for record, time_ms in zip(records, repeat(now_ms()) if times_ms is None else times_ms, strict=False):
            own = places[record.topic]
            messages = batch.setdefault(own[partition_of(record.key, len(own))], [])
            for fitted in fit_record(record, rooms[record.topic]):
                messages.append(Message(fitted.key.encode(), fitted.value, time_ms))
        return batch

    def wrote(self, batch: Batch, first: Mapping[TopicPartition, int]) -> None:
        """Note what this process has committed, from the first offset in each partition on."""
        for place, offset in first.items():
            self._written[place] = offset + len(batch[place])

    async def own_writes(self, place: TopicPartition) -> None:
        """Wait until readers see what this process has committed: marks of a commit follow its answer by a moment."""
        if (end := self._written.pop(place, None)) is not None:
            await self.readers.offsets.reached(place, end)

    def admin(self) -> AbstractAsyncContextManager[AIOKafkaAdminClient]:
        """A client for questions about topics."""
        return admin_client(self.settings)

    def _explained(self, error: Exception, doing: str) -> LogError:
        try:
            return self._loop.run(diagnose(error, self.settings, doing), DIAGNOSIS_SECONDS)
        except (LogError, TimeoutError):  # closed meanwhile
            return explain(error, self.settings, doing)

    async def _message_limits(self) -> dict[str, int]:
        """Bytes that one record of each topic may have, by name on the brokers; asked once."""
        if self._limits is None:
            names = [topic_name(self.settings, topic) for topic in (*Topic, CHECKPOINTS)]
            async with self.admin() as admin:
                found = await message_limits(admin, names)
            self._limits = {name: room_for_record(found.get(name, MAX_MESSAGE_BYTES)) for name in names}
        return self._limits

    async def _set_up(self) -> tuple[Readers, Groups]:
        # In the loop: aiokafka's objects belong to the one they are made in.
        return Readers(self.settings), Groups(self.settings)

    async def _finish(self, last: list[Coroutine[Any, Any, None]]) -> None:
        await asyncio.gather(*last, self.readers.close(), self.groups.close())
