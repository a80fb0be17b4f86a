"""Appends that have no source to resume, such as an import's: one transaction each, under an id of this process.

No checkpoint moves with them, so nothing records what the last one was. Whether a commit that was not answered has
landed is read off the log instead: the offsets were given out before it, and a committed reader finds a record there,
or passes over it. Only when brokers stay away until then does the caller not know; an import that is begun again adds
no event twice, since ids decide.
"""

import uuid
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from aiokafka.structs import TopicPartition

from ingest.log.contract import LogError, NewRecord
from ingest.log.kafka.producer import Transactions, UnknownOutcomeError
from ingest.log.kafka.source import APPEND_SECONDS

if TYPE_CHECKING:
    from ingest.log.kafka.connection import Connection


class Appender:
    """Appends for one process, one at a time."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._id = f"{connection.settings.topic_prefix}import.{uuid.uuid4().hex}"
        self._lock = Lock()
        self._producer: Transactions | None = None

    def append(self, records: Sequence[NewRecord]) -> None:
        """Append in one transaction; durable on return, raises `LogError`."""
        if records:
            with self._lock:
                self._connection.run(self._append(records), APPEND_SECONDS, "appending")

    async def close(self) -> None:
        """Release the producer."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close()

    async def _append(self, records: Sequence[NewRecord]) -> None:
        batch = await self._connection.batch(records)
        producer = self._producer or await self._start()
        try:
            self._connection.wrote(batch, await producer.write(batch))
        except UnknownOutcomeError as error:
            await self.close()
            if not await self._landed(error.first):
                raise LogError(f"the transaction was not committed ({error}); nothing was written") from error
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> Transactions:
        producer = await self._connection.producer(self._id)
        try:
            await producer.start()
        except BaseException:
            await producer.close()
            raise
        self._producer = producer
        return producer

    async def _landed(self, first: Mapping[TopicPartition, int]) -> bool:
        """Whether a transaction was committed, once a new producer has brought it to its end; raises `LogError`."""
        await self._start()
        readers = self._connection.readers
        place, offset = next(iter(first.items()))
        await readers.offsets.settled(place)
        found = await readers.read(place, offset, 1, 1)
        return bool(found) and found[0].offset == offset
