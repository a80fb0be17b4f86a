"""What all tests share: their settings, and a Kafka and a Synapse for each process that runs them.

A test has a topic prefix, and accounts and rooms, of its own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support.kafka import Broker, new_prefix, require_kafka
from tests.support.synapse import Homeserver, require_synapse

if TYPE_CHECKING:
    from tests.support.mock_kafka import MockKafka


# Times are for benchmarks: on a busy machine any example may take a second.
settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """An Apache Kafka node that runs as long as the tests."""
    require_kafka()
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture
def broker(shared_broker: Broker) -> Iterator[Broker]:
    """The node, up; a test that stops it need not start it again."""
    if not shared_broker.running:
        shared_broker.start()
    yield shared_broker
    shared_broker.resume()


@pytest.fixture
def prefix() -> str:
    """A topic prefix of this test alone."""
    return new_prefix()


@pytest.fixture(scope="session")
def mock() -> Iterator["MockKafka"]:
    """Kafka's protocol without Java, from librdkafka's mock cluster."""
    from tests.support.mock_kafka import MockKafka  # noqa: PLC0415 - loads a library that few tests need

    with MockKafka() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def shared_homeserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homeserver]:
    """A Synapse that runs as long as the tests."""
    require_synapse()
    with Homeserver(tmp_path_factory.mktemp("synapse")) as homeserver:
        yield homeserver


@pytest.fixture
def homeserver(shared_homeserver: Homeserver) -> Iterator[Homeserver]:
    """The homeserver, up; a test that stops it need not start it again."""
    if not shared_homeserver.running:
        shared_homeserver.start()
    yield shared_homeserver
    shared_homeserver.resume()
