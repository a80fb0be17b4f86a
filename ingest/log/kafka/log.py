"""The log on Apache Kafka: an `EventLog` for more than one machine.

Any thread may call it. Nothing connects before it is needed, so that a daemon starts while the brokers are away: calls
raise `LogError` then, and work as soon as a broker answers. Our offsets are Kafka's + 1, so that 0 is before the first;
between them are holes, since the markers of transactions take offsets too. It must not be used across `fork`.

Retention is this log's `trim`, run by the daemon: brokers are told to keep everything, since they would delete what a
stopped consumer has yet to read.
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import Any, Final, Self

from aiokafka.structs import ConsumerRecord, TopicPartition

from ingest.log.contract import (
    EventLog,
    LogError,
    LogStatus,
    NewRecord,
    Place,
    Record,
    Retention,
    SourceLog,
    Topic,
    Trimmed,
)
from ingest.log.kafka import retention, status
from ingest.log.kafka.appender import Appender
from ingest.log.kafka.connection import Connection
from ingest.log.kafka.errors import where
from ingest.log.kafka.reader import READ_SECONDS
from ingest.log.kafka.source import KafkaSource
from ingest.log.kafka.topics import group_name
from ingest.log.kafka.verify import survey
from ingest.settings_kafka import KafkaSettings

CALL_SECONDS: Final = 2 * READ_SECONDS
"""Of a call that waits for brokers alone: long enough for one to come back from a restart."""

STATUS_SECONDS: Final = 60.0
"""The first look at the checkpoints of all sources reads their whole topic; later ones what is new."""

TRIM_SECONDS: Final = 300.0

_POLL_S: Final = 0.1
"""How often is looked for new records: one small request to each broker."""


class KafkaLog(EventLog):
    """An `EventLog` on Kafka. Use `open`."""

    def __init__(self, settings: KafkaSettings, *, read_only: bool) -> None:
        self.settings = settings
        self._read_only = read_only
        self._connection = Connection(settings)
        self._appender = Appender(self._connection)
        self._sources: dict[str, KafkaSource] = {}
        self._lock = Lock()
        self._sources_seen = status.SourceTables()
        self._closed = False

    @classmethod
    def open(cls, settings: KafkaSettings, *, read_only: bool = False) -> Self:
        """Open the log without connecting yet; raises `LogError` for settings that contradict each other."""
        return cls(settings, read_only=read_only)

    def finish_within(self, seconds: float) -> None:
        """Let no call wait for brokers longer than that from now on, also one under way: it raises `LogError` then."""
        self._connection.finish_within(seconds)

    def close(self) -> None:
        """Finish what was begun and disconnect, within a bounded time; calling it again does nothing."""
        with self._lock:
            closed, self._closed = self._closed, True
            sources = list(self._sources.values())
        if not closed:
            self._connection.close([self._appender.close(), *(source.close() for source in sources)])

    @property
    def where(self) -> str:
        """The brokers, and the prefix of our topics on them."""
        prefix = f", topics {self.settings.topic_prefix}*" if self.settings.topic_prefix else ""
        return where(self.settings) + prefix

    def open_source(self, source: str) -> SourceLog:
        """Take over a source: earlier holders are fenced."""
        self._writes()
        with self._lock:
            before = self._sources.get(source)
            opened = self._sources[source] = KafkaSource(self._connection, source)
        if before is not None:
            self._connection.run(before.close(), CALL_SECONDS, f"closing source {source}")
        opened.open()
        return opened

    def append(self, records: Sequence[NewRecord]) -> None:
        """Append records that have no source to resume in one transaction; durable on return."""
        self._writes()
        self._appender.append(records)

    def partitions(self, topic: Topic) -> int:
        """How many partitions a topic has."""
        return self._connection.run(self._connection.partitions(topic), CALL_SECONDS, f"looking at {topic}")

    def read(self, topic: Topic, after: int, limit: int, max_bytes: int, partition: int = 0) -> list[Record]:
        """Committed records of a partition with an offset above `after`, in order; empty only at its end."""
        self._partition(topic, partition)
        place = self._connection.place(topic, partition)
        found = self._connection.run(self._read(place, after, limit, max_bytes), CALL_SECONDS, f"reading {topic}")
        return [
            Record(topic, record.offset + 1, (record.key or b"").decode(), record.value, record.timestamp, partition)
            for record in found
        ]

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        """The offset of the last committed record of a partition, or of the last one deleted; 0 when there was none."""
        self._partition(topic, partition)
        place = self._connection.place(topic, partition)
        return self._connection.run(self._last(place), CALL_SECONDS, f"looking for the end of {topic}")

    def wait_for_append(self, positions: Mapping[Place, int], timeout_s: float) -> bool:
        """Wait until a partition has a record above its position, appended by any process; whether one has."""
        for topic, partition in positions:
            self._partition(topic, partition)
        return self._connection.run(
            self._wait(positions, time.monotonic() + timeout_s), timeout_s + CALL_SECONDS, "waiting for records"
        )

    def register_group(self, group: str, topic: Topic) -> None:
        """Make a consumer group durable before its first commit, by committing the beginning."""
        self._writes()
        self._connection.run(self._register(group, topic), CALL_SECONDS, f"registering group {group}")

    def forget_group(self, group: str, topic: Topic) -> None:
        """Drop a consumer group: it protects nothing any longer, and would begin at 0 again."""
        self._writes()
        self._connection.run(self._forget(group, topic), CALL_SECONDS, f"forgetting group {group}")

    def committed(self, group: str, topic: Topic, partition: int = 0) -> int:
        """The last offset that a consumer group has processed; 0 before the first."""
        self._partition(topic, partition)
        place = self._connection.place(topic, partition)
        work = self._connection.groups.committed(group_name(self.settings, group), [place])
        at = self._connection.run(work, CALL_SECONDS, f"looking for group {group}").get(place)
        return 0 if at is None else int(at.offset)

    def commit_offset(self, group: str, topic: Topic, offset: int, partition: int = 0) -> None:
        """Note how far a group has come that keeps its own state and offsets elsewhere; going back is passed over."""
        self._writes()
        if offset > self.committed(group, topic, partition):
            place = self._connection.place(topic, partition)
            work = self._connection.groups.commit(group_name(self.settings, group), {place: offset})
            self._connection.run(work, CALL_SECONDS, f"committing for group {group}")

    def trim(self, policies: Mapping[Topic, Retention], now_ms: int, ignore_groups: Collection[str] = ()) -> Trimmed:
        """Remove the oldest records by age, never past what a durable group has yet to read.

        What processors remember of them, their workers forget within the hour. Raises `LogError` for a bound in bytes:
        brokers do not tell what a record takes.
        """
        self._writes()
        return self._connection.run(
            retention.trim(self._connection, policies, now_ms, ignore_groups), TRIM_SECONDS, "removing old records"
        )

    def problems(self) -> list[str]:
        """Why brokers do not answer, or how the topics differ from what they must be."""
        try:
            return self._connection.run(self._mismatches(), CALL_SECONDS, "looking at the topics")
        except LogError as error:
            return [str(error)]

    def status(self) -> LogStatus:
        """Topics, sources and groups; each as of its own moment."""
        return self._connection.run(status.status(self._connection, self._sources_seen), STATUS_SECONDS, "looking")

    def _writes(self) -> None:
        if self._read_only:
            raise LogError(f"the log of {self.where} was opened for reading only")

    def _partition(self, topic: Topic, partition: int) -> None:
        count = self.partitions(topic)
        if not 0 <= partition < count:
            raise LogError(f"there is no partition {partition}: {topic} has {count}, numbered from 0")

    async def _read(
        self, place: TopicPartition, after: int, limit: int, max_bytes: int
    ) -> list[ConsumerRecord[Any, Any]]:
        await self._connection.own_writes(place)
        return await self._connection.readers.read(place, after, limit, max_bytes)

    async def _last(self, place: TopicPartition) -> int:
        await self._connection.own_writes(place)
        return (await self._connection.readers.after_last([place]))[place]

    async def _wait(self, positions: Mapping[Place, int], end: float) -> bool:
        readers = self._connection.readers
        places = {self._connection.place(topic, number): after for (topic, number), after in positions.items()}
        empty: dict[object, int] = {}
        while True:
            ends = await readers.offsets.ends(places)
            for place, after in places.items():
                # Markers move the end as well: only what is new behind it is looked at, and once.
                if ends[place] > max(after, empty.get(place, 0)):
                    if await readers.has(place, after):
                        return True
                    empty[place] = ends[place]
            left = end - time.monotonic()
            if left <= 0:
                return False
            await asyncio.sleep(min(left, _POLL_S))

    async def _mismatches(self) -> list[str]:
        async with self._connection.admin() as admin:
            return [problem for _, problems in await survey(admin, self.settings) for problem in problems]

    async def _register(self, group: str, topic: Topic) -> None:
        groups, name = self._connection.groups, group_name(self.settings, group)
        places = await self._connection.places(topic)
        known = await groups.committed(name, places)
        new = {place: 0 for place in places if place not in known}
        if new:
            await groups.commit(name, new)

    async def _forget(self, group: str, topic: Topic) -> None:
        places = await self._connection.places(topic)
        await self._connection.groups.forget(group_name(self.settings, group), places)
