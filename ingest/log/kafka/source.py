"""A source on Kafka: its records, checkpoints and counts in one transaction, and one copy that may write.

Who may write is said by the owner in the source's progress record; that only one can is Kafka's fencing. A copy that
opens takes over the transactional id, which aborts whatever the older one has begun, and then writes itself as owner.
A copy that finds itself fenced looks at the owner: another one's name stops it, its own does not, since the fencing
then came from a broker's time-out or from an older copy that looked, as this one does now, and saw it is not the owner.

One append is one transaction, however large: the capture that it comes from is bounded by the adapter. When no answer
comes to a commit, the append is neither done nor failed until a new producer of the same id has started: then the
progress record tells. Should brokers stay away for longer, the caller gets a `LogError`; offering the same append
again first looks whether it has landed, so it is never written twice, and never taken as written when it was not.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from aiokafka.errors import KafkaError

from ingest.clock import now_ms
from ingest.log.contract import FencedError, LogError, NewRecord, SourceLog, SourceProgress
from ingest.log.kafka.checkpoints import PROGRESS, CheckpointTable, Progress, encode_progress, key_of
from ingest.log.kafka.producer import BYTES_HEADERS, Batch, Message, Transactions, UnknownOutcomeError
from ingest.log.kafka.topics import source_id

if TYPE_CHECKING:
    from ingest.log.kafka.connection import Connection

OPEN_SECONDS: Final = 60.0
"""Opening waits at most for the transaction of an earlier copy, and for the checkpoints to be read."""

APPEND_SECONDS: Final = 75.0
"""An append, and what it takes to find out what became of one whose commit was not answered."""

TRIES: Final = 3
"""Two copies that start at the same moment may fence each other once; a third time somebody else is at work."""


@dataclass(frozen=True, slots=True)
class Append:
    """What a caller wants written."""

    records: Sequence[NewRecord]
    checkpoints: Mapping[str, bytes | None]
    progress: SourceProgress


class KafkaSource(SourceLog):
    """The log as one source sees it, from one take-over to the next."""

    def __init__(self, connection: "Connection", source: str) -> None:
        self.source = source
        self._connection = connection
        self._owner = uuid.uuid4().hex
        self._lock = Lock()
        self._producer: Transactions | None = None
        self._table: CheckpointTable | None = None
        self._state = Progress()
        self._unknown: tuple[int, Append] | None = None
        """The sequence of a transaction that may have landed, and what it was for."""

    def open(self) -> None:
        """Take over the source; raises `LogError`."""
        self._connection.run(self._take_over(), OPEN_SECONDS, f"opening source {self.source}")

    def checkpoints(self) -> dict[str, bytes]:
        """Every part's committed state, as the topic has it now."""
        with self._lock:
            return self._connection.run(self._read_parts(), OPEN_SECONDS, f"reading checkpoints of {self.source}")

    def append(
        self,
        records: Sequence[NewRecord],
        checkpoints: Mapping[str, bytes | None],
        progress: SourceProgress = SourceProgress(),  # noqa: B008 - immutable
    ) -> None:
        """Append records and move checkpoints in one transaction; durable on return; raises `FencedError`."""
        append = Append(records, checkpoints, progress)
        with self._lock:
            self._connection.run(self._append(append), APPEND_SECONDS, f"appending for {self.source}")

    async def close(self) -> None:
        """Release the producer; the source can be opened by anybody without waiting."""
        await self._discard()

    async def _take_over(self) -> None:
        for attempt in range(1, TRIES + 1):
            table = await self._start()
            taken = table.progress(self.source).taken_over(self._owner)
            try:
                await self._write(await self._batch({}, {}, taken))
            except (KafkaError, TimeoutError, UnknownOutcomeError):
                if attempt == TRIES:
                    raise
            else:
                self._state = taken
                return

    async def _read_parts(self) -> dict[str, bytes]:
        table = await self._fresh_table()
        await self._connection.own_writes(table.place)
        await table.refresh(self._connection.readers)
        return table.parts(self.source)

    async def _append(self, append: Append) -> None:
        # Encoded first: what cannot be written must not cost the producer.
        records = await self._connection.batch(append.records)
        for attempt in range(1, TRIES + 1):
            if self._producer is None and await self._resume(append):
                return
            following = self._state.after(append.progress, moved=bool(append.checkpoints), now_ms=now_ms())
            # Noted before: whatever ends the attempt, even that nobody waits any longer, the next one looks first.
            self._unknown = (following.sequence, append)
            try:
                await self._write(await self._batch(records, append.checkpoints, following))
            except (KafkaError, TimeoutError, UnknownOutcomeError):
                if attempt == TRIES:
                    raise
            else:
                self._state, self._unknown = following, None
                return

    async def _resume(self, append: Append) -> bool:
        """Start a new producer of this copy; whether `append` turns out to be written already.

        Raises `FencedError` when another copy owns the source.
        """
        # A look before the take-over: a copy that was replaced must not fence its replacement if it can know better.
        table = await self._fresh_table()
        await table.refresh(self._connection.readers)
        self._must_own(table.progress(self.source))
        table = await self._start()
        found = table.progress(self.source)
        try:
            self._must_own(found)
        except FencedError:
            await self._discard()
            raise
        unknown, self._unknown, self._state = self._unknown, None, found
        return unknown is not None and unknown[0] == found.sequence and unknown[1] == append

    def _must_own(self, found: Progress) -> None:
        if found.owner != self._owner:
            raise FencedError(f"source {self.source!r} was taken over by a newer copy; this one must stop")

    async def _start(self) -> CheckpointTable:
        """Start a producer, and read all that its predecessors committed."""
        connection = self._connection
        table = await self._fresh_table()
        producer = await connection.producer(source_id(connection.settings, self.source))
        try:
            await producer.start()
            await connection.readers.offsets.settled(table.place)
            await table.refresh(connection.readers)
        except BaseException:
            await producer.close()
            raise
        self._producer = producer
        return table

    async def _fresh_table(self) -> CheckpointTable:
        if self._table is None:
            self._table = CheckpointTable(await self._connection.checkpoint_place(self.source), self.source)
        return self._table

    async def _batch(self, records: Batch, checkpoints: Mapping[str, bytes | None], progress: Progress) -> Batch:
        time_ms = now_ms()
        kept = [
            Message(key_of(self.source, part), state, time_ms, BYTES_HEADERS) for part, state in checkpoints.items()
        ]
        kept.append(Message(key_of(self.source, PROGRESS), encode_progress(progress), time_ms))
        return {**records, (await self._fresh_table()).place: kept}

    async def _write(self, batch: Batch) -> None:
        if self._producer is None:
            raise LogError(f"source {self.source!r} is closed")
        try:
            self._connection.wrote(batch, await self._producer.write(batch))
        except BaseException:
            await self._discard()
            raise

    async def _discard(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close()
