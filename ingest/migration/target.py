"""The Kafka side of a move: one transaction for each step, with the progress it makes in it."""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, Self, TypeVar

from aiokafka.errors import KafkaError, ProducerFenced
from aiokafka.structs import TopicPartition

from ingest.clock import now_ms
from ingest.log.contract import LogError, NewRecord, Record, StateKey, Topic
from ingest.log.kafka.checkpoints import CheckpointTable, key_of
from ingest.log.kafka.checkpoints import place_of as checkpoint_place
from ingest.log.kafka.connection import Connection
from ingest.log.kafka.producer import Message, Transactions, UnknownOutcomeError
from ingest.log.kafka.topics import CHECKPOINTS, PROCESSOR_STATE, group_name, partition_of, source_id
from ingest.migration.progress import MOVE, Copied, Progress, encode
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.places import GROUP
from ingest.streams.faust.stores import join_key

T = TypeVar("T")

SECONDS: Final = 90.0
"""For one step: a transaction, and to find out what became of one whose commit was not answered."""

TRIES: Final = 5
"""Brokers that are restarted are back within these; each waits for them as long as a start may take."""

Messages = dict[TopicPartition, list[Message]]
"""What one transaction writes."""


class Target:
    """The topics that a log is moved to. It is its own context manager."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._connection = Connection(settings)
        self._producer: Transactions | None = None
        self._partitions = self._checkpoint_partitions = 0
        self.progress = Progress({})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close([self._discard()])

    def look(self) -> None:
        """See how far an earlier move came; raises `LogError` where brokers or topics are not there."""
        self._run(self._look(), "looking how far the move is")

    def open(self) -> None:
        """Take the move over: an earlier one that still runs is fenced, and what it has begun is ended."""
        self._run(self._start(), "taking the move over")

    def write(self, messages: Messages, part: str, copied: Copied) -> None:
        """Write in one transaction, `copied` being what it brings a part to. `progress` then tells how far that is.

        Raises `LogError` when brokers stay away. Where the outcome of a commit was not told, it is looked up: the
        caller goes on from `progress` in any case.
        """
        self._run(self._write(messages, part, copied), f"moving {part}")

    def place_records(self, records: Sequence[Record]) -> Messages:
        """Give records as messages of their partitions, with the times that they have."""
        new = [NewRecord(record.topic, record.key, record.value) for record in records]
        return self._run(self._connection.batch(new, [record.time_ms for record in records]), "moving records")

    def place_state(self, key: str, entries: Mapping[StateKey, bytes], messages: Messages) -> None:
        """Add what processors remember of a thread with that key to the changelog of its partition."""
        place = self._connection.place(PROCESSOR_STATE, partition_of(key, self._partitions))
        time_ms = now_ms()
        messages.setdefault(place, []).extend(
            Message(join_key(name), value, time_ms) for name, value in entries.items()
        )

    def place_checkpoint(self, source: str, part: str, state: bytes, messages: Messages) -> None:
        """Add a checkpoint of a source; raises `LogError` for a name that the topic cannot hold."""
        place = checkpoint_place(self._settings, source, self._checkpoint_partitions)
        messages.setdefault(place, []).append(Message(key_of(source, part), state, now_ms()))

    def commit_group(self, group: str, topic: Topic) -> None:
        """Let a group be at the end of what a topic has now."""
        self._run(self._commit(group, topic), f"moving group {group}")

    def commit_workers(self) -> None:
        """Let the workers begin behind what was captured before the move."""
        self.commit_group(GROUP, Topic.CAPTURED)

    def records(self) -> dict[Topic, int]:
        """About how many records each topic has, at most."""
        return self._run(self._records(), "looking at the topics")

    def workers_run(self) -> bool:
        """Whether a process is in the consumer group of the workers."""
        work = self._connection.groups.has_members(group_name(self._settings, GROUP))
        return self._run(work, "looking for workers")

    def _run(self, work: Coroutine[Any, Any, T], doing: str) -> T:
        return self._connection.run(work, SECONDS, doing)

    async def _look(self) -> None:
        connection = self._connection
        # One number for all: state, outputs and input of a thread are found by the same partition.
        counts = {topic: await connection.partitions(topic) for topic in (*Topic, PROCESSOR_STATE)}
        self._partitions = counts[Topic.CAPTURED]
        self._checkpoint_partitions = await connection.partitions(CHECKPOINTS)
        if set(counts.values()) != {self._partitions}:
            raise LogError(f"topics have different numbers of partitions ({counts}); see session-ingest topics")
        table = CheckpointTable(await connection.checkpoint_place(MOVE), MOVE)
        await table.refresh(connection.readers)
        self.progress = Progress.read(table.parts(MOVE))

    async def _start(self) -> None:
        await self._discard()
        producer = await self._connection.producer(source_id(self._settings, MOVE))
        self._producer = producer
        await producer.start()
        await self._connection.readers.offsets.settled(await self._connection.checkpoint_place(MOVE))
        await self._look()

    async def _discard(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close()

    async def _write(self, messages: Messages, part: str, copied: Copied) -> None:
        if self._producer is None:
            raise LogError("the move was not taken over")
        place = await self._connection.checkpoint_place(MOVE)
        noted = Message(key_of(MOVE, part), encode(copied), now_ms())
        try:
            await self._producer.write({**messages, place: [*messages.get(place, ()), noted]})
        except ProducerFenced:  # by another move: two that take over from each other would never end
            raise
        except (KafkaError, TimeoutError, UnknownOutcomeError):
            await self._start_again()
        else:
            self.progress = self.progress.after(part, copied)

    async def _start_again(self) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                await self._start()
            except (KafkaError, TimeoutError):
                if attempt == TRIES:
                    raise
            else:
                return

    async def _commit(self, group: str, topic: Topic) -> None:
        readers, places = self._connection.readers, await self._connection.places(topic)
        for place in places:  # a commit is answered before its marks, which make records visible, are everywhere
            await readers.offsets.settled(place)
        ends = await readers.after_last(places)
        await self._connection.groups.commit(group_name(self._settings, group), ends)

    async def _records(self) -> dict[Topic, int]:
        offsets, found = self._connection.readers.offsets, {}
        for topic in Topic:
            places = await self._connection.places(topic)
            begins, ends = await offsets.begins(places), await self._connection.readers.after_last(places)
            found[topic] = sum(ends[place] - begins[place] for place in places)
        return found
