"""The topics on Kafka: names, how each must be laid out, and which partition a key has. Pure: asks no broker.

All topics have as many partitions, and every key its partition by one function: so a worker that holds partition 3 of
`conversations.captured` writes partition 3 of everything else, and its state is in partition 3 as well.

Nothing is left to the broker's own retention: it would delete what a stopped consumer has yet to read. Records go by
the daemon's `trim`, which asks the consumer groups first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from aiokafka.partitioner import murmur2

from ingest.log.contract import Topic
from ingest.settings_kafka import KafkaSettings

CHECKPOINTS: Final = "conversations.checkpoints"
"""Where sources keep how far they are: the last record of a key counts."""

PROCESSOR_STATE: Final = "conversations.processor-state"
"""Where workers keep what processors remember: the last record of a key counts."""

MAX_MESSAGE_BYTES: Final = 1_048_588
"""Kafka's own default. A captured record is under 800 KiB and an event under 1 MB, with all that Kafka adds."""

_SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""Of a compacted topic: only closed segments are compacted, and all that is left is read at each start. Kafka's
default of 1 GiB would have a start read a gigabyte of checkpoints that were replaced long ago."""

_SEGMENT_MS: Final = 24 * 3600 * 1000
"""A segment is closed after a day even if little is written."""

_DIRTY_RATIO: Final = "0.2"
"""Compact when a fifth is outdated; Kafka waits for half, which doubles what a start reads."""

_DURABLE_REPLICATION: Final = 3
"""From here on two copies must have a record before it counts as written; with fewer a broker could not be spared."""

_SIGN: Final = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """How a topic must be laid out; `replication` None leaves it to the brokers."""

    name: str
    partitions: int
    replication: int | None
    configs: Mapping[str, str] = field(default_factory=dict)


def topic_name(settings: KafkaSettings, topic: str) -> str:
    """The name of a topic on the brokers."""
    return settings.topic_prefix + topic


def group_name(settings: KafkaSettings, group: str) -> str:
    """The name of a consumer group on the brokers."""
    return settings.topic_prefix + group


def source_id(settings: KafkaSettings, source: str) -> str:
    """The transactional id of a source: the same for every copy of it, so that a newer one fences the older."""
    return f"{settings.topic_prefix}source.{source}"


def specification(settings: KafkaSettings) -> Iterator[TopicSpec]:
    """Every topic of an installation as it must be."""
    for topic in Topic:
        yield _spec(settings, topic, {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"})
    for compacted in (CHECKPOINTS, PROCESSOR_STATE):
        yield _spec(
            settings,
            compacted,
            {
                "cleanup.policy": "compact",
                "segment.bytes": str(_SEGMENT_BYTES),
                "segment.ms": str(_SEGMENT_MS),
                "min.cleanable.dirty.ratio": _DIRTY_RATIO,
            },
        )


def _spec(settings: KafkaSettings, topic: str, configs: dict[str, str]) -> TopicSpec:
    configs["max.message.bytes"] = str(MAX_MESSAGE_BYTES)
    if settings.replication >= _DURABLE_REPLICATION:
        configs["min.insync.replicas"] = "2"
    return TopicSpec(topic_name(settings, topic), settings.partitions, settings.replication or None, configs)


@lru_cache(maxsize=65_536)
def partition_of(key: str, partitions: int) -> int:
    """The partition of a key: murmur2 over its UTF-8, as every Kafka client has it by default.

    Remembered: the hash is pure Python, and a thread's key comes with each of its records.
    """
    return int(murmur2(key.encode()) & _SIGN) % partitions
