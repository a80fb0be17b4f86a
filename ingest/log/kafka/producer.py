"""Transactions on Kafka: what one of them writes appears whole or not at all.

A producer here lives from its `InitProducerId`, which fences every earlier one of the same transactional id, until the
first failure. After one it is not mended but replaced: the new `InitProducerId` waits for what was being committed and
aborts everything else, so that the log then tells for sure whether the transaction landed. Two traps of aiokafka make
that necessary: while brokers are away the futures of an idempotent producer never expire, and neither does a commit.
Everything that is waited for here has a limit.

Records go out by the batch interface, which takes 6 us a record where `send` takes 13 to 40, and a future for each
batch instead of each record.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aiokafka.errors import KafkaError, RecordTooLargeError
from aiokafka.structs import TopicPartition
from msgspec import Struct

from ingest.log.kafka.client import TRANSACTION_TIMEOUT_MS, producer_arguments
from ingest.log.kafka.leftovers import Producer, look_at
from ingest.log.kafka.stopping import stop
from ingest.settings_kafka import KafkaSettings

START_SECONDS: Final = TRANSACTION_TIMEOUT_MS / 1000 + 5.0
"""`InitProducerId` answers in milliseconds, but waits for a transaction that an earlier copy is just committing."""

SEND_SECONDS: Final = TRANSACTION_TIMEOUT_MS / 1000
"""After that the broker has aborted the transaction anyway."""

COMMIT_SECONDS: Final = 10.0
"""A commit takes some 5 ms. Past this its outcome is unknown, and has to be looked up."""

ABORT_SECONDS: Final = 2.0
"""An abort spares readers to wait for the broker's own; it is no more than that."""

Headers = tuple[tuple[str, bytes], ...]

HEADERS: Final[Headers] = (("schema-version", b"1"), ("content-type", b"application/json"))
"""On each record, so that consumers of other projects know what they have before they decode it."""

BYTES_HEADERS: Final[Headers] = (HEADERS[0], ("content-type", b"application/octet-stream"))
"""On what only its writer understands, such as a checkpoint."""

_LISTS: Final = {headers: [*headers] for headers in (HEADERS, BYTES_HEADERS)}
"""The library takes lists alone; one is made once, not for each record."""


class Message(Struct, frozen=True, gc=False):
    """A record on its way: `value` None is a tombstone."""

    key: bytes
    value: bytes | None
    time_ms: int
    headers: Headers = HEADERS


Batch = Mapping[TopicPartition, Sequence[Message]]
"""What one transaction writes."""


class Moved(Struct, frozen=True):
    """How far a consumer group has come with what a transaction makes of its input; counts if the transaction does."""

    group: str
    offsets: Mapping[TopicPartition, int]


class UnknownOutcomeError(Exception):
    """The commit was asked for, and no answer came; `first` says where each partition's records would begin."""

    def __init__(self, cause: BaseException, first: Mapping[TopicPartition, int]) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.first = first


class Transactions:
    """One transactional producer; of no use after any method has raised, except to `close`."""

    def __init__(self, settings: KafkaSettings, transactional_id: str, batch_bytes: int) -> None:
        self._producer = Producer(**producer_arguments(settings, transactional_id, batch_bytes))

    async def start(self) -> None:
        """Take over the transactional id; raises `KafkaError` or `TimeoutError`."""
        await asyncio.wait_for(self._producer.start(), START_SECONDS)

    async def write(self, batch: Batch, moved: Moved | None = None) -> dict[TopicPartition, int]:
        """Write everything in one transaction; gives the offset of the first record in each partition.

        Raises `UnknownOutcomeError` once the commit was asked for; until then `KafkaError` or `TimeoutError`, and then
        nothing was written.
        """
        await self._producer.begin_transaction()
        try:
            first = await asyncio.wait_for(self._send_all(batch, moved), SEND_SECONDS)
        except (KafkaError, TimeoutError):
            await self._abort()
            raise
        try:
            await asyncio.wait_for(self._producer.commit_transaction(), COMMIT_SECONDS)
        except (KafkaError, TimeoutError) as error:
            raise UnknownOutcomeError(error, first) from error
        return first

    async def close(self) -> None:
        """Stop, within a bounded time; never raises."""
        await stop(self._producer)

    async def _send_all(self, batch: Batch, moved: Moved | None) -> dict[TopicPartition, int]:
        # A batch that fails does not keep the transaction from being committed: each must be seen to be written.
        places = [place for place, messages in batch.items() if messages]
        sends = asyncio.gather(*(self._send(place, batch[place]) for place in places))
        if moved is not None:
            move = self._producer.send_offsets_to_transaction(dict(moved.offsets), moved.group)
            starts, _ = await asyncio.gather(sends, move)
        else:
            starts = await sends
        return dict(zip(places, starts, strict=True))

    async def _send(self, place: TopicPartition, messages: Iterable[Message]) -> int:
        sent: list[asyncio.Future[Any]] = []
        builder = self._producer.create_batch()
        for message in messages:
            if not _add(builder, message):
                sent.append(await self._hand_over(builder, place))
                builder = self._producer.create_batch()
                if not _add(builder, message):
                    raise RecordTooLargeError(f"a record of {len(message.value or b'')} bytes for {place.topic}")
        sent.append(await self._hand_over(builder, place))
        written = await asyncio.gather(*sent)
        return int(written[0].offset)

    async def _hand_over(self, builder: Any, place: TopicPartition) -> "asyncio.Future[Any]":
        sent: asyncio.Future[Any] = await self._producer.send_batch(builder, place.topic, partition=place.partition)
        look_at(sent)  # where another batch fails first, nobody waits for this one any longer
        return sent

    async def _abort(self) -> None:
        try:
            await asyncio.wait_for(self._producer.abort_transaction(), ABORT_SECONDS)
        except (KafkaError, TimeoutError, AssertionError):  # the library asserts its states
            return  # the broker aborts by itself, and the next producer before it


def _add(builder: Any, message: Message) -> bool:
    headers = _LISTS.get(message.headers) or [*message.headers]
    added = builder.append(key=message.key, value=message.value, timestamp=message.time_ms, headers=headers)
    return added is not None
