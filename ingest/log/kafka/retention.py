"""Retention on Kafka: the oldest records of a topic go by age, once every group that reads it has passed them."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from aiokafka.admin.records_to_delete import RecordsToDelete
from aiokafka.structs import TopicPartition

from ingest.log.contract import LogError, Retention, Topic, Trimmed
from ingest.log.kafka.topics import group_name

if TYPE_CHECKING:
    from ingest.log.kafka.connection import Connection


async def trim(
    connection: "Connection", policies: Mapping[Topic, Retention], now_ms: int, ignore_groups: Collection[str]
) -> Trimmed:
    """Delete what policies allow; gives how many offsets each topic lost. Raises `LogError` for a bound in bytes."""
    read = await _read_by_all(connection, ignore_groups)
    removed: dict[Topic, int] = {}
    for topic, policy in policies.items():
        if policy.max_bytes is not None:
            raise LogError(f"{topic}: on Kafka records are kept by age, not by bytes")
        removed[topic] = await _trim_topic(connection, topic, policy, now_ms, read) if policy.max_age_s else 0
    return Trimmed(removed)


async def _trim_topic(
    connection: "Connection",
    topic: Topic,
    policy: Retention,
    now_ms: int,
    read: Mapping[TopicPartition, int],
) -> int:
    offsets = connection.readers.offsets
    places = await connection.places(topic)
    oldest_ms = now_ms - round((policy.max_age_s or 0) * 1000)
    begins, young = await offsets.begins(places), await offsets.at_times(dict.fromkeys(places, max(0, oldest_ms)))
    ends = await connection.readers.after_last(places)
    delete: dict[TopicPartition, int] = {}
    for place in places:
        first_young = young[place]
        until = min(ends[place] if first_young is None else first_young[0], read.get(place, ends[place]))
        if until > begins[place]:
            delete[place] = until
    if delete:
        async with connection.admin() as admin:
            await admin.delete_records({place: RecordsToDelete(until) for place, until in delete.items()})
    return sum(until - begins[place] for place, until in delete.items())


async def _read_by_all(connection: "Connection", ignored: Collection[str]) -> dict[TopicPartition, int]:
    """How far every group has read each partition that one reads; a group protects the whole of its topics."""
    skipped = {group_name(connection.settings, group) for group in ignored}
    read: dict[TopicPartition, int] = {}
    for name in await group_names(connection):
        if name in skipped:
            continue
        found = await connection.groups.committed(name)
        topics = {place.topic for place in found}
        for topic in Topic:
            for place in await connection.places(topic):
                if place.topic in topics:
                    at = found[place].offset if place in found else 0
                    read[place] = min(read.get(place, at), at)
    return read


async def group_names(connection: "Connection") -> Iterable[str]:
    """The groups of the cluster whose names have our prefix, as the brokers call them."""
    prefix = connection.settings.topic_prefix
    async with connection.admin() as admin:
        return sorted({name for name, *_ in await admin.list_consumer_groups() if name.startswith(prefix)})
