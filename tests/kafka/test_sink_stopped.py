"""A broker hangs for a while: no cursor of any live source moves, readiness says why; then all of it arrives.

Issue 5, "It must show". A sender that was told to come again may have been heard before, so captured events are looked
at by their first time, as the processors do.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.kafka.log import KafkaLog
from ingest.settings_kafka import KafkaSettings
from schemas.captured import decode_record
from tests.support.daemon import eventually
from tests.support.every_source import EverySource
from tests.support.kafka import Broker
from tests.support.kafka_log import on_broker, variables_of
from tests.support.log import everything
from tests.support.standstill import EACH, Standstill
from tests.support.stopped_sinks import paused

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def settings(broker: Broker, prefix: str) -> KafkaSettings:
    return on_broker(broker, prefix)


@pytest.fixture
def sources(settings: KafkaSettings, tmp_path: Path) -> Iterator[EverySource]:
    with EverySource(tmp_path, EACH, variables_of(settings)) as sources:
        yield sources


def first_times(settings: KafkaSettings) -> dict[str, list[str]]:
    threads: dict[str, dict[str, str]] = {}
    with KafkaLog.open(settings, read_only=True) as log:
        for record in everything(log, Topic.CAPTURED):
            captured = decode_record(record.value)
            told = threads.setdefault(captured.thread.thread_id, {})
            for event in captured.events:
                told.setdefault(event.id, event.text)
    return {thread: list(told.values()) for thread, told in threads.items()}


@pytest.mark.soak
def test_a_broker_hangs_for_a_while(broker: Broker, settings: KafkaSettings, sources: EverySource) -> None:
    sources.home.start("--only", "capture", wait=False)
    eventually(sources.home.ready, 120)
    still = Standstill(sources, lambda: first_times(settings), "no broker answers")
    still.begin()
    with paused(broker), still.refused() as burst:
        pass
    still.end(burst)
