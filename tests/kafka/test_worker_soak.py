"""Ten minutes of steady load: a worker keeps up, and takes no more memory at the end than it took at the start."""

import os
import time
from typing import Final

import pytest
from confluent_kafka import Consumer, TopicPartition

from ingest.log.contract import Topic
from ingest.log.kafka.topics import group_name, topic_name
from ingest.streams.faust.places import GROUP
from tests.support.load import resident_bytes
from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_outcome import must_be_exact, wait_for_events
from tests.support.worker_process import Fleet

SECONDS: Final = float(os.environ.get("SOAK_SECONDS", "600"))

LOOKS: Final = 20
"""How often lag and memory are looked at."""

MAX_LAG: Final = 500
"""Records not worked off: what arrives in a few seconds of this load."""

SETTLING: Final = 0.5
"""Of the run. What memory takes by then is what it may take: the stores' shared cache fills with the keys of events."""

SPREAD: Final = 0.05
"""Above the most of the first part: the allocator's ups and downs."""


def lag(settings) -> int:
    consumer = Consumer(
        {"bootstrap.servers": settings.bootstrap_servers[0], "group.id": group_name(settings, GROUP), "log_level": 0}
    )
    places = [TopicPartition(topic_name(settings, Topic.CAPTURED), number) for number in range(settings.partitions)]
    try:
        committed = [max(place.offset, 0) for place in consumer.committed(places, 30)]
        ends = [consumer.get_watermark_offsets(place, timeout=30)[1] for place in places]
        return sum(end - done for end, done in zip(ends, committed, strict=True))
    finally:
        consumer.close()


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 600)
def test_lag_and_memory_stay_flat(broker, prefix, tmp_path):
    settings = settings_of(broker.bootstrap, prefix)
    declare(settings)
    capturer, fleet = Capturer(settings), Fleet(settings, tmp_path, "rocksdb")
    worker = fleet.add()
    figures: list[tuple[int, int]] = []
    try:
        with capturer.load(pause_s=0.04, threads=200):
            wait_for_events(settings, 1)
            for _ in range(LOOKS):
                time.sleep(SECONDS / LOOKS)
                figures.append((lag(settings), resident_bytes(worker.pid)))
        for behind, memory in figures:
            print(f"lag {behind:5} records   memory {memory / 2**20:6.1f} MB")  # noqa: T201 - the figures are asked for
        must_be_exact(settings, capturer.ids, f"{SECONDS:.0f} s of steady load")
        assert max(behind for behind, _ in figures) < MAX_LAG
        settling = int(LOOKS * SETTLING)
        bound = max(memory for _, memory in figures[:settling]) * (1 + SPREAD)
        assert max(memory for _, memory in figures[settling:]) <= bound
    finally:
        fleet.end()
