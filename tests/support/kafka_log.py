"""Logs on Kafka for tests: settings, topics, and what the mock cluster needs to be taken for a broker."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from ingest.log.contract import Topic
from ingest.log.kafka import client, offsets, reader
from ingest.log.kafka.admin import admin_client
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import specification
from ingest.log.kafka.verify import create
from ingest.settings_kafka import KafkaSettings
from schemas.captured import decode_record
from tests.support.daemon import eventually
from tests.support.kafka import Broker
from tests.support.log import everything
from tests.support.mock_kafka import MockKafka


def settings_for(bootstrap: str, prefix: str, partitions: int = 3, **more: Any) -> KafkaSettings:
    """Settings that name a broker of a test."""
    return KafkaSettings(
        bootstrap_servers=[bootstrap], topic_prefix=prefix, partitions=partitions, replication=1, **more
    )


def make_topics(settings: KafkaSettings) -> KafkaSettings:
    """Make every topic on a real broker."""

    async def make() -> None:
        async with admin_client(settings) as admin:
            await create(admin, specification(settings))

    asyncio.run(make())
    return settings


def on_broker(broker: Broker, prefix: str, partitions: int = 3, **more: Any) -> KafkaSettings:
    """Settings of a log whose topics are made."""
    return make_topics(settings_for(broker.bootstrap, prefix, partitions, **more))


def on_mock(mock: MockKafka, prefix: str, monkeypatch: pytest.MonkeyPatch, partitions: int = 3) -> KafkaSettings:
    """Settings of a log on the mock; it writes transactions' markers with a wrong CRC, which is not looked at here."""
    settings = settings_for(mock.bootstrap, prefix, partitions)
    for spec in specification(settings):
        mock.create_topic(spec.name, spec.partitions)
    for module in (reader, offsets):
        monkeypatch.setattr(module, "consumer_arguments", _trusting(client.consumer_arguments))
    return settings


def variables_of(settings: KafkaSettings, **more: str) -> dict[str, str]:
    """Give the environment of a command whose log is on a broker, and further variables of ours."""
    kafka = {
        "BOOTSTRAP_SERVERS": settings.bootstrap_servers[0],
        "TOPIC_PREFIX": settings.topic_prefix,
        "PARTITIONS": str(settings.partitions),
    }
    named = {"ENGINE": "kafka", **{f"KAFKA__{name}": value for name, value in kafka.items()}, **more}
    return {f"SESSION_INGEST__{name}": value for name, value in named.items()}


def settle(settings: KafkaSettings) -> None:
    """Wait until what was committed can be read: a transaction's markers are written after its end was answered."""
    names = {spec.name: spec.partitions for spec in specification(settings)}
    admin = AdminClient({"bootstrap.servers": settings.bootstrap_servers[0], "log_level": 0})

    def ends(level: IsolationLevel) -> dict[tuple[str, int], int]:
        places = [TopicPartition(name, number) for name, count in names.items() for number in range(count)]
        found = admin.list_offsets({place: OffsetSpec.latest() for place in places}, isolation_level=level)
        return {(place.topic, place.partition): future.result().offset for place, future in found.items()}

    def settled() -> bool:
        try:
            return ends(IsolationLevel.READ_COMMITTED) == ends(IsolationLevel.READ_UNCOMMITTED)
        except KafkaException:  # topics that were just made may have no leader yet
            return False

    eventually(settled)


def captured_texts(settings: KafkaSettings) -> list[str]:
    """Give the words of all captured events, read with a log of their own."""
    with KafkaLog.open(settings, read_only=True) as log:
        return [
            event.text for record in everything(log, Topic.CAPTURED) for event in decode_record(record.value).events
        ]


def steal_epoch(settings: KafkaSettings, transactional_id: str) -> None:
    """Take a transactional id and no more, as a copy does that dies while it opens: it fences whoever has it."""

    async def steal() -> None:
        producer = AIOKafkaProducer(**client.producer_arguments(settings, transactional_id))
        await producer.start()
        await producer.stop()

    asyncio.run(steal())


def _trusting(arguments: Callable[[KafkaSettings], dict[str, Any]]) -> Callable[[KafkaSettings], dict[str, Any]]:
    return lambda settings: {**arguments(settings), "check_crcs": False}
