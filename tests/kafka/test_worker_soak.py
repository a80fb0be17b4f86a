"""Ten minutes of steady load: a worker keeps up, and takes no more memory at the end than it took at the start."""

import os
import time
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import Consumer, TopicPartition

from ingest.log.contract import Topic
from ingest.log.kafka.topics import group_name, topic_name
from ingest.streams.faust.places import GROUP
from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_outcome import must_be_exact, wait_for_events
from tests.support.worker_process import Fleet

SECONDS: Final = float(os.environ.get("SOAK_SECONDS", "600"))

LOOKS: Final = 20
"""How often lag and memory are looked at."""

MAX_LAG: Final = 500
"""Records not worked off: what arrives in a few seconds of this load."""

GROWTH_BYTES: Final = 24 * 1024 * 1024
"""From the end of the first quarter: the keys of a store's cache, and the allocator's own ups and downs."""


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


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
        settled = figures[LOOKS // 4][1]
        assert max(memory for _, memory in figures[LOOKS // 4 :]) < settled + GROWTH_BYTES
    finally:
        fleet.end()
