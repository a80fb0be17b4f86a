"""How the topics are laid out on the brokers: what a worker must know before it writes, whatever the settings say."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.kafka.admin import admin_client
from ingest.log.kafka.client import BATCH_BYTES
from ingest.log.kafka.errors import missing_topic
from ingest.log.kafka.fitting import fit_record, room_for_record
from ingest.log.kafka.topics import MAX_MESSAGE_BYTES, PROCESSOR_STATE, partition_of, topic_name
from ingest.log.kafka.verify import describe, message_limits
from ingest.processors.records import rejection
from ingest.settings_kafka import KafkaSettings
from schemas.captured import encode_record

TOO_LARGE = "too-large"
"""The reason for which an output stands in `conversations.rejected` that its topic would not take."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`partitions` is of all topics, `rooms` what a record of each may have in bytes."""

    partitions: int
    rooms: Mapping[Topic, int]

    @property
    def batch_bytes(self) -> int:
        """What may be sent to any topic at once."""
        return min(BATCH_BYTES, *self.rooms.values())

    def partition_of(self, key: str) -> int:
        """The partition of a key, in every topic."""
        return partition_of(key, self.partitions)

    def fitted(self, record: NewRecord) -> list[NewRecord]:
        """Give an output as its topic takes it; one that cannot be made to fit becomes a rejection."""
        try:
            return fit_record(record, self.rooms[record.topic])
        except (LogError, msgspec.MsgspecError) as error:
            bad = rejection(record.topic, record.key, TOO_LARGE, error, record.value)
            return fit_record(NewRecord(Topic.REJECTED, record.key, encode_record(bad)), self.rooms[Topic.REJECTED])


async def ask_layout(settings: KafkaSettings) -> Layout:
    """Ask the brokers; raises `KafkaError`, and `LogError` for a layout on which keys would not stay together."""
    async with admin_client(settings) as admin:
        found = await describe(admin)
        names = {topic: topic_name(settings, topic) for topic in (*Topic, PROCESSOR_STATE)}
        for name in names.values():
            if name not in found:
                raise missing_topic(settings, name)
        limits = await message_limits(admin, list(names.values()))
    counts = {name: found[name].partitions for name in names.values()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise LogError(f"workers need as many partitions in each topic, and there are: {listed}")
    rooms = {topic: room_for_record(limits.get(names[topic], MAX_MESSAGE_BYTES)) for topic in Topic}
    return Layout(next(iter(counts.values())), rooms)
