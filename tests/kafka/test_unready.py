"""A broker that answers a new client, and names no broker yet, is waited for: nobody gives up or speaks of a fault.

A node that was held up answers so for some milliseconds; here every client's first answer is made one.
"""

import asyncio
from types import SimpleNamespace

import pytest
from aiokafka.client import AIOKafkaClient
from aiokafka.cluster import ClusterMetadata
from aiokafka.errors import NodeNotReadyError

from ingest.health import Health
from ingest.log.contract import Topic
from ingest.log.kafka import unready
from ingest.log.kafka.log import KafkaLog
from ingest.metrics import Metrics
from ingest.processors.chain import processors
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore
from ingest.streams.faust.workers import Workers
from tests.support.kafka_log import on_broker
from tests.support.log import captured, values
from tests.support.worker import Capturer, declare, in_loop, settings_of
from tests.support.worker_outcome import must_be_exact

UPDATE = ClusterMetadata.update_metadata


@pytest.fixture
def unready_answers(monkeypatch):
    """What each client knows, once it has been answered; its first answer names no broker."""
    answered = []

    def update(self, metadata):
        first = self not in answered
        UPDATE(self, SimpleNamespace(brokers=[]) if first else metadata)
        if first:
            answered.append(self)

    monkeypatch.setattr(ClusterMetadata, "update_metadata", update)
    return answered


def test_a_log_opens_writes_and_answers(broker, prefix, unready_answers):
    with KafkaLog.open(on_broker(broker, prefix, 1)) as log:
        source = log.open_source("pi")
        source.append(captured("a"), {"file": b"1"})
        log.append(captured("b"))
        assert values(log, Topic.CAPTURED) == ["a", "b"]
        log.commit_offset("group", Topic.CAPTURED, 2)
        assert log.committed("group", Topic.CAPTURED) == 2
        assert log.status().topics
    assert len(unready_answers) > 3  # producers, readers, the group's and the admin's client


@in_loop
async def test_a_worker_joins_its_group(broker, prefix, tmp_path, unready_answers):
    settings = settings_of(broker.bootstrap, prefix)
    await asyncio.to_thread(declare, settings)
    capturer = Capturer(settings)
    capturer.threads(10, 3)
    health = Health()
    workers = Workers(settings, tmp_path, processors, Shelf(lambda _: MemoryStore()), health, Metrics())
    workers.start()
    await asyncio.to_thread(must_be_exact, settings, capturer.ids, "a broker that was not ready at first")
    await workers.stop()
    assert unready_answers


def test_one_that_never_is_ready_is_given_up_in_words(monkeypatch):
    monkeypatch.setattr(unready, "KNOWN_SECONDS", 0.5)
    asked = []

    class Nobody(AIOKafkaClient):
        def __init__(self):
            pass

        def get_random_node(self):
            return None

        async def force_metadata_update(self):
            asked.append(True)

    with pytest.raises(NodeNotReadyError, match="no broker says that it is ready"):
        asyncio.run(unready.know_brokers(Nobody()))
    assert asked
