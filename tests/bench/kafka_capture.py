"""What capture publishes on Kafka: transactions with checkpoint and counts, beside aiokafka alone.

Goal: 25,000 events of 1 KB a second in transactions. "a record an event" is live traffic at its worst; an import packs
many events of a thread into one record, which the broker then stores as one.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aiokafka import AIOKafkaProducer

from ingest.log.contract import NewRecord, SourceProgress, Topic
from ingest.log.kafka.client import client_arguments
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.producer import HEADERS
from ingest.log.kafka.topics import partition_of, topic_name
from ingest.settings_kafka import KafkaSettings
from tests.bench.measure import Figure, measure, table
from tests.support.kafka import Broker, new_prefix
from tests.support.kafka_log import on_broker

EVENTS = 40_000
EVENT_BYTES = 1_000
THREADS = 200
PARTITIONS = 8
PACKED = 100
"""Events of one record where an import packs them."""

_WORDS = (
    "build",
    "green",
    "task",
    "owner",
    "found",
    "there",
    "said",
    "yes",
    "when",
    "its",
    "seen",
    "what",
    "goes",
    "on",
)


def _records(events: int, packed: int = 1) -> list[NewRecord]:
    """Events of some 1,000 bytes of plain words, of many threads, `packed` of them in a record."""
    chance = random.Random(4)
    texts = []
    for _ in range(1_000):
        words = " ".join(chance.choices(_WORDS, k=EVENT_BYTES // 4))
        texts.append(words[:EVENT_BYTES].encode())
    return [
        NewRecord(
            Topic.CAPTURED, f"pi/{number % THREADS}", b"".join(texts[(number + part) % 1_000] for part in range(packed))
        )
        for number in range(events // packed)
    ]


def _ours(settings: KafkaSettings, records: Sequence[NewRecord], a_transaction: int, events: int) -> Callable[[], int]:
    def work() -> int:
        with KafkaLog.open(settings) as log:
            source = log.open_source("bench")
            for start in range(0, len(records), a_transaction):
                batch = records[start : start + a_transaction]
                progress = SourceProgress({"emitted": len(batch)}, "2026-01-01T00:00:00.000Z")
                source.append(batch, {"file": str(start).encode()}, progress)
        return events

    return work


def _bare(settings: KafkaSettings, records: Sequence[NewRecord], send: str) -> Callable[[], int]:
    """The library alone: no transaction, no checkpoint, no partitioner of ours; `send` or whole batches."""
    ways: dict[str, Callable[[AIOKafkaProducer, str, Sequence[NewRecord]], Awaitable[None]]] = {
        "send": _send_each,
        "batch": _send_batches,
    }

    async def run() -> None:
        compression = None if settings.compression == "none" else settings.compression
        producer = AIOKafkaProducer(
            **client_arguments(settings),
            enable_idempotence=True,
            max_batch_size=512 * 1024,
            compression_type=compression,
        )
        await producer.start()
        try:
            await ways[send](producer, topic_name(settings, Topic.CAPTURED), records)
        finally:
            await producer.stop()

    def work() -> int:
        asyncio.run(run())
        return len(records)

    return work


async def _send_each(producer: AIOKafkaProducer, topic: str, records: Sequence[NewRecord]) -> None:
    for record in records:
        await producer.send(topic, record.value, record.key.encode(), headers=[*HEADERS])
    await producer.flush()


async def _send_batches(producer: AIOKafkaProducer, topic: str, records: Sequence[NewRecord]) -> None:
    async def send(partition: int, own: Sequence[NewRecord]) -> None:
        batch, sent = producer.create_batch(), []
        for record in own:
            message = {"key": record.key.encode(), "value": record.value, "timestamp": None, "headers": [*HEADERS]}
            if batch.append(**message) is None:
                sent.append(await producer.send_batch(batch, topic, partition=partition))
                batch = producer.create_batch()
                batch.append(**message)
        sent.append(await producer.send_batch(batch, topic, partition=partition))
        await asyncio.gather(*sent)

    by_partition: list[list[NewRecord]] = [[] for _ in range(PARTITIONS)]
    for record in records:
        by_partition[partition_of(record.key, PARTITIONS)].append(record)
    await asyncio.gather(*(send(number, own) for number, own in enumerate(by_partition) if own))


def _latency(settings: KafkaSettings) -> str:
    """How long one event waits for its commit."""
    took = []
    with KafkaLog.open(settings) as log:
        source = log.open_source("latency")
        for number, record in enumerate(_records(200)):
            begun = time.perf_counter()
            source.append([record], {"file": str(number).encode()})
            took.append(time.perf_counter() - begun)
    took.sort()
    return f"one event a transaction: median {took[100] * 1000:.0f} ms, 99 of 100 under {took[198] * 1000:.0f} ms"


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, Broker(Path(folder) / "kafka", heap="1g", quick=False) as broker:
        size = EVENTS * EVENT_BYTES
        for compression in ("none", "zstd"):
            settings = on_broker(broker, new_prefix(), PARTITIONS, compression=compression)
            single, packed = _records(EVENTS), _records(EVENTS, PACKED)
            figures: list[Figure] = [
                measure("aiokafka alone, send", _bare(settings, single, "send"), size, 2),
                measure("aiokafka alone, batches", _bare(settings, single, "batch"), size, 2),
                *(
                    measure(f"source, {count:,} a transaction", _ours(settings, single, count, EVENTS), size, 2)
                    for count in (100, 1_000, 5_000)
                ),
                measure(f"source, 50 records of {PACKED} events", _ours(settings, packed, 50, EVENTS), size, 2),
            ]
            title = f"capture on Kafka, {EVENTS:,} events of 1 KB, compression {compression}; goal 25,000 events/s"
            print(table(title, figures, "events", figures[1]))
        print(f"  {_latency(settings)}")


if __name__ == "__main__":
    main()
