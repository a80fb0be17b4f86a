"""Reading what is in a partition by itself, past Faust: a changelog, or what was not delivered."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from aiokafka.structs import ConsumerRecord, TopicPartition

from ingest.log.kafka.offsets import Offsets
from ingest.log.kafka.reader import Cursor
from ingest.settings_kafka import KafkaSettings
from ingest.streams.attempts import BATCH_BYTES, BATCH_RECORDS

ANSWER_S: Final = 25.0
"""For one answer, longer than the reader's own patience: aiokafka asks some things again for ever."""


async def bounds(offsets: Offsets, place: TopicPartition) -> tuple[int, int]:
    """The first offset there is, and the one up to which all is committed. Raises `KafkaError` or `TimeoutError`."""
    begins = await asyncio.wait_for(offsets.begins([place]), ANSWER_S)
    ends = await asyncio.wait_for(offsets.ends([place]), ANSWER_S)
    return begins[place], ends[place]


async def read_to(
    settings: KafkaSettings, place: TopicPartition, start: int, end: int
) -> AsyncGenerator[Sequence[ConsumerRecord], None]:
    """Give the committed records from `start` on, at least to `end`, in batches; raises `KafkaError`, `TimeoutError`.

    The connection is its own and goes with it, as it would fetch on. Whoever leaves it early must close it.
    """
    if start >= end:
        return
    cursor = Cursor(settings, place)
    try:
        await asyncio.wait_for(cursor.start(), ANSWER_S)
        while start < end:
            found = await asyncio.wait_for(cursor.read(start, BATCH_RECORDS, BATCH_BYTES), ANSWER_S)
            if not found:
                return
            yield found
            start = found[-1].offset + 1
    finally:
        await cursor.stop()
