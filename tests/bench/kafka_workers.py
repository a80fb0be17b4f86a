"""Events a second from `conversations.captured` to `conversations.events` through Faust workers, on a real broker.

As an import comes (a record holds much of a conversation) and as live traffic does (a record an event), with one worker
and with two, beside a bare aiokafka loop that consumes and produces as many messages of the same size, without
processing, state or transactions.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, TopicPartition

from ingest.log.contract import NewRecord, Topic
from ingest.log.kafka.client import client_arguments, consumer_arguments
from ingest.log.kafka.topics import group_name, topic_name
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.places import GROUP
from schemas.captured import encode_record
from tests.bench.measure import cpu_of
from tests.support.kafka import Broker, new_prefix
from tests.support.processors import captured, record_of
from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_process import ROOT, Fleet

EVENTS: Final = 60_000
PARTITIONS: Final = 8
IMPORT: Final = 50
"""Events of a record: some 50 KB, as an import's median conversation."""

THREADS: Final = 2_000
"""Conversations: of live traffic so many are under way; an import has a record for each, or a few."""

TEXT: Final = "Take the second road, and say so in the notes. " * 20
"""An event of 1 KB once encoded, with nothing in it that gives a signal."""


@dataclass(frozen=True)
class Figure:
    """One run: events a second of the clock once the first were done, and CPU of each event over all processes."""

    name: str
    rate: float
    micros: float


def fill(settings: KafkaSettings, per_record: int) -> None:
    """Capture all events, in transactions of a few hundred records."""
    capturer = Capturer(settings)
    numbers = iter(range(EVENTS))
    records = (
        record_of(
            *(
                captured(TEXT, id=f"event-{next(numbers)}", role="user" if place % 2 else "assistant")
                for place in range(per_record)
            ),
            thread_id=f"thread-{number % THREADS}",
        )
        for number in range(EVENTS // per_record)
    )
    ended = False
    while not ended:
        with capturer.transaction():
            for _ in range(max(1, 2_000 // per_record)):
                record = next(records, None)
                if record is None:
                    ended = True
                    break
                key = f"pi/{record.thread.thread_id}"
                capturer.record(NewRecord(Topic.CAPTURED, key, encode_record(record)))


class Progress:
    """How much of the input a consumer group has behind it, from 0 to 1."""

    def __init__(self, settings: KafkaSettings, group: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": settings.bootstrap_servers[0], "group.id": group})
        name = topic_name(settings, Topic.CAPTURED)
        self._places = [TopicPartition(name, number) for number in range(settings.partitions)]
        # The last offset of a partition is the mark of a transaction.
        self._ends = {place.partition: self._consumer.get_watermark_offsets(place)[1] - 1 for place in self._places}

    def done(self) -> float:
        try:
            committed = self._consumer.committed(self._places, timeout=10)
        except KafkaException:  # the group's coordinator is being found
            return 0.0
        return sum(max(0, place.offset) for place in committed) / max(1, sum(self._ends.values()))

    def measure(self, name: str, pids: list[int]) -> Figure:
        """Watch until all is done."""
        while not (first := self.done()):
            time.sleep(0.02)
        started, used = time.perf_counter(), sum(map(cpu_of, pids))
        while (now := self.done()) < 1.0:
            time.sleep(0.02)
        seconds, cpu = time.perf_counter() - started, sum(map(cpu_of, pids)) - used
        events = EVENTS * (min(now, 1.0) - first)
        self._consumer.close()
        return Figure(name, events / seconds, cpu / events * 1e6)


def workers(broker: Broker, name: str, per_record: int, count: int, folder: Path) -> Figure:
    """Fill topics of their own and let workers empty them."""
    settings = settings_of(broker.bootstrap, new_prefix(), PARTITIONS)
    declare(settings)
    fill(settings, per_record)
    fleet = Fleet(settings, folder / settings.topic_prefix, "rocksdb")
    try:
        pids = [fleet.add().pid for _ in range(count)]
        return Progress(settings, group_name(settings, GROUP)).measure(name, pids)
    finally:
        fleet.end()


def bare(broker: Broker, name: str, per_record: int) -> Figure:
    """Consume the same records and produce as many bytes, by the same clients."""
    settings = settings_of(broker.bootstrap, new_prefix(), PARTITIONS)
    declare(settings)
    fill(settings, per_record)
    arguments = [sys.executable, "-m", "tests.bench.kafka_workers", "bare", broker.bootstrap, settings.topic_prefix]
    process = subprocess.Popen(arguments, cwd=ROOT)
    try:
        return Progress(settings, "bare" + settings.topic_prefix).measure(name, [process.pid])
    finally:
        process.kill()
        process.wait()


async def run_bare(bootstrap: str, prefix: str) -> None:
    """Copy captured records to events, for ever."""
    settings = settings_of(bootstrap, prefix, PARTITIONS)
    name, events = topic_name(settings, Topic.CAPTURED), topic_name(settings, Topic.EVENTS)
    consumer = AIOKafkaConsumer(name, **consumer_arguments(settings), group_id="bare" + prefix)
    producer = AIOKafkaProducer(**client_arguments(settings), max_batch_size=512 * 1024, enable_idempotence=True)
    await asyncio.gather(consumer.start(), producer.start())
    while True:
        sent = []
        for place, records in (await consumer.getmany(timeout_ms=200)).items():
            batch = producer.create_batch()
            for record in records:
                entry = {"timestamp": record.timestamp, "key": record.key, "value": record.value}
                if batch.append(**entry) is None:
                    sent.append(await producer.send_batch(batch, events, partition=place.partition))
                    batch = producer.create_batch()
                    batch.append(**entry)
            sent.append(await producer.send_batch(batch, events, partition=place.partition))
        await asyncio.gather(*sent)
        await consumer.commit()


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, Broker(Path(name) / "broker", heap="768m", quick=False) as broker:
        folder = Path(name)
        runs = [
            lambda: bare(broker, "live: bare aiokafka loop", 1),
            lambda: workers(broker, "live: one worker", 1, 1, folder),
            lambda: workers(broker, "live: two workers", 1, 2, folder),
            lambda: bare(broker, "import: bare aiokafka loop", IMPORT),
            lambda: workers(broker, "import: one worker", IMPORT, 1, folder),
            lambda: workers(broker, "import: two workers", IMPORT, 2, folder),
        ]
        print(f"Workers on Kafka, {EVENTS:,} events of 1 KB, {PARTITIONS} partitions")
        print(f"  {'':30} {'events/s':>10} {'us CPU/event':>13}")
        for run in runs:
            figure = run()
            print(f"  {figure.name:30} {figure.rate:10,.0f} {figure.micros:13.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        asyncio.run(run_bare(*sys.argv[2:]))
    else:
        main()
