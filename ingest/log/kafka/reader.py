"""Reading partitions: cursors that are kept where they stand, so that a reader who goes on pays no new fetch.

Offsets here are Kafka's own, from 0. Only committed records are seen, and a partition ends where the first transaction
that is still open begins (Kafka's last stable offset). aiokafka's consumers have no group here.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any, Final

from aiokafka import AIOKafkaConsumer
from aiokafka.structs import ConsumerRecord, TopicPartition

from ingest.log.kafka.client import FETCH_WAIT_MS, consumer_arguments
from ingest.log.kafka.offsets import Offsets
from ingest.log.kafka.stopping import stop
from ingest.settings_kafka import KafkaSettings

MAX_CURSORS: Final = 64
"""Partitions held open for reading: each is a connection, and up to a fetch in memory. More take turns."""

_CURSORS_OF_ONE: Final = 2
"""Two readers of a partition, such as a consumer and its lag, do not drive each other's cursor about."""

READ_SECONDS: Final = 20.0
"""A read that finds nothing for so long although there is something: the brokers are away."""

_NO_BOUND: Final = 1 << 62
"""On bytes: what is looked for is the last record, not its content."""

_TAIL_RECORDS: Final = 8
"""Where the last record is looked for first: behind it is, mostly, the one marker of its transaction."""


class Cursor:
    """One consumer on one partition; what it fetched ahead is given by the next read that goes on from there.

    At the end it is paused: it costs nothing while nothing comes, and is not in the middle of a long fetch when asked.
    """

    def __init__(self, settings: KafkaSettings, place: TopicPartition, offsets: Offsets | None = None) -> None:
        """`offsets` is asked where the partition ends; by default one of the cursor's own."""
        self.place = place
        self._consumer = AIOKafkaConsumer(**consumer_arguments(settings))
        self._owns = offsets is None
        self._offsets = offsets or Offsets(settings)
        self._buffer: deque[ConsumerRecord[Any, Any]] = deque()
        self._paused = False
        self.next = -1
        """The offset after the last record given; -1 before the first read."""
        self.used = 0

    async def start(self) -> None:
        """Connect."""
        await self._consumer.start()
        self._consumer.assign([self.place])

    async def stop(self) -> None:
        """Disconnect, within a bounded time."""
        await stop(self._consumer)
        if self._owns:
            await self._offsets.close()

    async def fill(self, start: int) -> bool:
        """Fetch what stands at `start` or above; false when the partition ends there."""
        if self.next != start:
            if start >= await self._end():  # a seek past the end would be answered with the beginning
                return False
            self._buffer.clear()
            self._consumer.seek(self.place, start)
            self.next = start
        elif self._paused and not self._buffer and await self._at_end(await self._end()):
            return False
        return bool(self._buffer) or await self._fetch()

    async def _fetch(self) -> bool:
        self._turn(paused=False)
        patience = time.monotonic() + READ_SECONDS
        end, wait_ms = -1, 0
        while time.monotonic() < patience:
            found = await self._consumer.getmany(self.place, timeout_ms=wait_ms)
            self._buffer.extend(record for record in found.get(self.place, ()) if record.offset >= self.next)
            if self._buffer:
                return True
            end = await self._end() if end < 0 else end
            if await self._at_end(end):
                self._turn(paused=True)
                return False
            wait_ms = FETCH_WAIT_MS
        raise TimeoutError(f"nothing came of {self.place.topic} {self.place.partition} from {self.next} on")

    def _turn(self, *, paused: bool) -> None:
        if paused != self._paused:
            (self._consumer.pause if paused else self._consumer.resume)(self.place)
            self._paused = paused

    async def read(self, start: int, limit: int, max_bytes: int) -> list[ConsumerRecord[Any, Any]]:
        """Records from `start` on: at most `limit`, and at most `max_bytes` of values unless the first has more."""
        found: list[ConsumerRecord[Any, Any]] = []
        size = 0
        if not await self.fill(start):
            return found
        while self._buffer and len(found) < limit:
            size += len(self._buffer[0].value or b"")
            if size > max_bytes and found:
                break
            found.append(self._buffer.popleft())
        if found:
            self.next = found[-1].offset + 1
        return found

    async def _end(self) -> int:
        return (await self._offsets.ends([self.place]))[self.place]

    async def _at_end(self, end: int) -> bool:
        return bool(await self._consumer.position(self.place) >= end)


class Readers:
    """The cursors of one log, lent to one read at a time. Runs in the log's event loop alone."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._idle: list[Cursor] = []
        self._lent = 0
        self._clock = itertools.count()
        self.offsets = Offsets(settings)
        self._tails: dict[TopicPartition, tuple[int, int]] = {}

    async def read(
        self, place: TopicPartition, start: int, limit: int, max_bytes: int
    ) -> list[ConsumerRecord[Any, Any]]:
        """Records of a partition from `start` on, in order; empty only at its end."""
        async with self._lend(place, start) as cursor:
            return await cursor.read(start, limit, max_bytes)

    async def has(self, place: TopicPartition, start: int) -> bool:
        """Whether a partition has a record at `start` or above; it is kept for the read that follows."""
        async with self._lend(place, start) as cursor:
            return await cursor.fill(start)

    async def after_last(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after each partition's last record; where none is left, the first offset there would be."""
        ends, begins = await self.offsets.ends(places), await self.offsets.begins(places)
        for place in places:
            known = self._tails.get(place)
            if known is None or known[0] != ends[place]:
                self._tails[place] = (ends[place], await self._tail(place, begins[place], ends[place]))
        return {place: max(begins[place], self._tails[place][1]) for place in places}

    async def _tail(self, place: TopicPartition, begin: int, end: int) -> int:
        """Look for the last record in growing steps back: transactions' markers and aborted records hide it."""
        span, last = _TAIL_RECORDS, begin
        while last == begin and end > begin:
            at = start = max(begin, end - span)
            while at < end and (found := await self.read(place, at, span, _NO_BOUND)):
                at = last = found[-1].offset + 1
            if start == begin:
                break
            span *= _TAIL_RECORDS
        return last

    async def close(self) -> None:
        """Stop every consumer."""
        idle, self._idle = self._idle, []
        await asyncio.gather(self.offsets.close(), *(cursor.stop() for cursor in idle))

    @asynccontextmanager
    async def _lend(self, place: TopicPartition, start: int) -> AsyncIterator[Cursor]:
        cursor = await self._take(place, start)
        self._lent += 1
        try:
            yield cursor
        except BaseException:
            await cursor.stop()
            raise
        else:
            cursor.used = next(self._clock)
            self._idle.append(cursor)
        finally:
            self._lent -= 1

    async def _take(self, place: TopicPartition, start: int) -> Cursor:
        of_place = [cursor for cursor in self._idle if cursor.place == place]
        exact = next((cursor for cursor in of_place if cursor.next == start), None)
        chosen = exact or (min(of_place, key=_age) if len(of_place) >= _CURSORS_OF_ONE else None)
        if chosen is not None:
            self._idle.remove(chosen)
            return chosen
        if self._idle and len(self._idle) + self._lent >= MAX_CURSORS:
            oldest = min(self._idle, key=_age)
            self._idle.remove(oldest)
            await oldest.stop()
        cursor = Cursor(self._settings, place, self.offsets)
        try:
            await cursor.start()
        except BaseException:
            await cursor.stop()
            raise
        return cursor


def _age(cursor: Cursor) -> int:
    return cursor.used
