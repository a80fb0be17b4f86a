"""The changelog of one partition: the last record of a key is its value, a record without value deletes it."""

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import aclosing

import structlog
from aiokafka.structs import ConsumerRecord, TopicPartition

from ingest.log.contract import StateKey
from ingest.log.kafka.offsets import Offsets
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.chain import Work
from ingest.streams.faust.reading import bounds, read_to
from ingest.streams.faust.stores import IDENTITY, Store, join_key, split_key
from ingest.streams.faust.writer import PartitionWriter

_IDENTITY = join_key(IDENTITY)

_log = structlog.get_logger(__name__)


async def load(settings: KafkaSettings, offsets: Offsets, place: TopicPartition, store: Store) -> None:
    """Bring a store up to the end of its changelog; raises `KafkaError`, `LogError`, `TimeoutError`.

    A store that is a copy of another changelog, such as one from before a reset of the topics, is loaded anew: what
    it remembers would keep new events out.
    """
    first, end = await bounds(offsets, place)
    if store.position and not (first <= store.position <= end and await _same(settings, place, store)):
        _log.warning("state-dropped", partition=place.partition, reason="it is of another changelog; loaded anew")
        await asyncio.to_thread(store.clear)
    start, count = store.position, 0
    async with aclosing(read_to(settings, place, max(start, first), end)) as reading:
        async for records in reading:
            await asyncio.to_thread(_apply, store, records)
            count += len(records)
    if count:
        _log.info("state-loaded", partition=place.partition, records=count, after=start)


async def name(writer: PartitionWriter, offset: int, store: Store) -> None:
    """Give a changelog its identity, unless it has one; `offset` is the group's. Raises as `PartitionWriter.commit`."""
    if store.identity is not None:
        return
    value = uuid.uuid4().bytes
    end = await writer.commit(Work(state={IDENTITY: value}), offset)
    if end is not None:
        await asyncio.to_thread(store.apply, {}, end)
        await asyncio.to_thread(store.identify, end - 1, value)


async def _same(settings: KafkaSettings, place: TopicPartition, store: Store) -> bool:
    if store.identity is None:
        return False
    offset, value = store.identity
    async with aclosing(read_to(settings, place, offset, offset + 1)) as reading:
        async for records in reading:
            return bool(records[0].key == _IDENTITY and records[0].value == value)
    return False


def _apply(store: Store, records: Sequence[ConsumerRecord]) -> None:
    writes = dict[StateKey, bytes | None]()
    for record in records:
        if record.key == _IDENTITY:
            store.identify(record.offset, record.value or b"")
            continue
        try:
            writes[split_key(record.key or b"")] = record.value
        except ValueError:
            _log.warning("state-record-ignored", partition=record.partition, offset=record.offset)
    store.apply(writes, records[-1].offset + 1)
