"""Asking brokers where partitions begin and end, and what was written when. Offsets are Kafka's own, from 0."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import TopicPartition

from ingest.log.kafka.client import TRANSACTION_TIMEOUT_MS, consumer_arguments
from ingest.log.kafka.stopping import stop
from ingest.settings_kafka import KafkaSettings

_SETTLED_S: Final = TRANSACTION_TIMEOUT_MS / 1000 + 5.0
"""A transaction whose writer died is aborted after its time-out, which brokers look at every few seconds."""

_POLL_S: Final = 0.05


class Offsets:
    """Answers from brokers; connects when first asked, and again after a failure. For one event loop."""

    def __init__(self, settings: KafkaSettings) -> None:
        """Raises `LogError` for settings that contradict each other."""
        consumer_arguments(settings)
        self._committed = _Asker(settings)
        self._written = _Asker(settings, {"isolation_level": "read_uncommitted"})

    async def ends(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The last stable offset of each partition: all below it is committed or aborted."""
        async with self._committed.lend() as consumer:
            return dict(await consumer.end_offsets(list(places)))

    async def begins(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset that each partition still has."""
        async with self._committed.lend() as consumer:
            return dict(await consumer.beginning_offsets(list(places)))

    async def at_times(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, tuple[int, int] | None]:
        """The first offset with that time (Unix, ms) or a later one, and its time; None where there is none."""
        async with self._committed.lend() as consumer:
            found = await consumer.offsets_for_times(dict(times_ms))
        return {place: None if at is None else (at.offset, at.timestamp) for place, at in found.items()}

    async def settled(self, place: TopicPartition) -> None:
        """Wait until all that is written to a partition now is committed or aborted; raises `TimeoutError`."""
        async with self._written.lend() as consumer:
            written = (await consumer.end_offsets([place]))[place]
        await self.reached(place, written)

    async def reached(self, place: TopicPartition, offset: int) -> None:
        """Wait until all below an offset is committed or aborted; raises `TimeoutError`."""
        async with asyncio.timeout(_SETTLED_S):
            while (await self.ends([place]))[place] < offset:  # noqa: ASYNC110 - the brokers tell of it to nobody
                await asyncio.sleep(_POLL_S)

    async def close(self) -> None:
        """Disconnect."""
        await asyncio.gather(self._committed.close(), self._written.close())


class _Asker:
    """A consumer that is assigned nothing and therefore fetches nothing."""

    def __init__(self, settings: KafkaSettings, changed: Mapping[str, Any] | None = None) -> None:
        self._settings = settings
        self._changed = changed or {}
        self._consumer: AIOKafkaConsumer | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[AIOKafkaConsumer]:
        """The consumer, for one question at a time; one that failed is replaced."""
        async with self._turn:
            consumer = self._consumer or self._made()
            try:
                if self._consumer is None:
                    await consumer.start()
                    self._consumer = consumer
                yield consumer
            except BaseException:
                self._consumer = None
                await stop(consumer)
                raise

    def _made(self) -> AIOKafkaConsumer:
        # A secret is read anew for each connection: it may have been wrong before, or rotated since.
        return AIOKafkaConsumer(**{**consumer_arguments(self._settings), **self._changed})

    async def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await stop(consumer)
