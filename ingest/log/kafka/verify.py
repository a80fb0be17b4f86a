"""What topics there are on the brokers, what is missing, and how what is there differs from the specification."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from ingest.log.contract import LogError
from ingest.log.kafka.topics import TopicSpec, specification
from ingest.settings_kafka import KafkaSettings

_BROKERS_CHOICE: Final = -1
"""In place of a replication factor. Source: Kafka, KIP-464."""

_CREATE_SECONDS: Final = 30.0
_POLL_S: Final = 0.05

_AT_LEAST: Final = {"max.message.bytes", "min.insync.replicas"}
"""More of these does no harm."""

_EITHER: Final = {"segment.bytes", "segment.ms", "min.cleanable.dirty.ratio"}
"""What only makes a start quicker is set when a topic is made, and left to its owner afterwards."""


@dataclass(frozen=True, slots=True)
class Found:
    """A topic as the brokers have it."""

    partitions: int
    replication: int


async def describe(admin: AIOKafkaAdminClient) -> dict[str, Found]:
    """All topics of the cluster by name. It is asked for all, since asking for one by name may create it."""
    return {
        topic["topic"]: Found(len(topic["partitions"]), _replication(topic["partitions"]))
        for topic in await admin.describe_topics(None)
        if topic["error_code"] == 0
    }


async def message_limits(admin: AIOKafkaAdminClient, names: Sequence[str]) -> dict[str, int]:
    """Bytes of the largest message of each topic; without those for which the brokers do not tell."""
    found = await _configs(admin, names, ["max.message.bytes"])
    return {name: int(limit) for name, configs in found.items() if (limit := configs.get("max.message.bytes"))}


async def create(admin: AIOKafkaAdminClient, specs: Iterable[TopicSpec]) -> None:
    """Make topics and wait until the brokers know them; one that another process makes meanwhile is no fault.

    Raises `LogError` for what the brokers refuse, `TimeoutError` when they take too long.
    """
    new = [_new(spec) for spec in specs]
    if not new:
        return
    answer = await admin.create_topics(new)
    for name, code, *message in answer.topic_errors:
        kind = errors.for_code(code)
        if kind not in (errors.NoError, errors.TopicAlreadyExistsError):
            words = message[0] if message and message[0] else kind.__name__
            raise LogError(f"topic {name} cannot be made: {words}")
    await asyncio.wait_for(_known(admin, {topic.name for topic in new}), _CREATE_SECONDS)


async def _known(admin: AIOKafkaAdminClient, names: set[str]) -> None:
    """Wait until brokers tell of topics: one that was made is not known to all at once."""
    while not names <= set(await describe(admin)):  # noqa: ASYNC110 - the brokers tell of it to nobody
        await asyncio.sleep(_POLL_S)


def _new(spec: TopicSpec) -> NewTopic:
    new = NewTopic(spec.name, spec.partitions, spec.replication or 1, topic_configs=dict(spec.configs))
    if spec.replication is None:
        new.replication_factor = _BROKERS_CHOICE  # which the constructor takes for nothing given
    return new


async def survey(admin: AIOKafkaAdminClient, settings: KafkaSettings) -> list[tuple[TopicSpec, list[str]]]:
    """Every topic of the specification, with what is wrong with it: that it is not there, or how it differs."""
    found = await describe(admin)
    return [
        (
            spec,
            [f"topic {spec.name} {problem}" for problem in await mismatches(admin, spec, found[spec.name])]
            if spec.name in found
            else ["missing; `session-ingest topics --create` makes it"],
        )
        for spec in specification(settings)
    ]


async def mismatches(admin: AIOKafkaAdminClient, spec: TopicSpec, found: Found) -> list[str]:
    """How a topic differs from its specification, in words; empty when it does not matter."""
    problems = []
    if found.partitions != spec.partitions:
        problems.append(f"has {found.partitions} partitions, not {spec.partitions}")
    if spec.replication is not None and found.replication != spec.replication:
        problems.append(f"has {found.replication} copies of each partition, not {spec.replication}")
    have = (await _configs(admin, [spec.name], sorted(spec.configs))).get(spec.name, {})
    for key, wanted in spec.configs.items():
        if key not in _EITHER and not _serves(key, have.get(key), wanted):
            problems.append(f"has {key} = {have.get(key, 'unknown')}, not {wanted}")
    return problems


def _serves(key: str, have: str | None, wanted: str) -> bool:
    if have is None:
        return False
    return int(have) >= int(wanted) if key in _AT_LEAST else have == wanted


async def _configs(
    admin: AIOKafkaAdminClient, names: Sequence[str], keys: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name, dict.fromkeys(keys)) for name in names]
    try:
        answers = await admin.describe_configs(resources)
    except errors.IncompatibleBrokerVersion:  # a mock, or a broker from before 2017
        return {}
    found: dict[str, dict[str, str | None]] = {}
    for answer in answers:
        for code, _, _, name, entries in answer.resources:
            if errors.for_code(code) is errors.NoError:
                found[name] = {entry[0]: entry[1] for entry in entries}
    return found


def _replication(partitions: Sequence[Mapping[str, Any]]) -> int:
    return min((len(partition["replicas"]) for partition in partitions), default=0)
