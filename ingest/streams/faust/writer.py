"""One partition's transactions: outputs, state and the group's offset together, or none of them."""

from collections.abc import Iterator
from typing import Final

from aiokafka.errors import KafkaError, ProducerFenced
from aiokafka.structs import TopicPartition

from ingest.clock import now_ms
from ingest.log.contract import FencedError, NewRecord, Topic
from ingest.log.kafka.errors import explain
from ingest.log.kafka.producer import Message, Moved, Transactions, UnknownOutcomeError
from ingest.log.kafka.topics import PROCESSOR_STATE, group_name, topic_name
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.chain import Work
from ingest.streams.faust.layout import Layout
from ingest.streams.faust.places import GROUP
from ingest.streams.faust.stores import join_key


class PartitionWriter:
    """The transactional producer of one partition; whoever opens one fences all that were opened before."""

    def __init__(self, settings: KafkaSettings, layout: Layout, partition: int) -> None:
        self._settings = settings
        self._layout = layout
        self._partition = partition
        self._input = TopicPartition(topic_name(settings, Topic.CAPTURED), partition)
        self._changelog = TopicPartition(topic_name(settings, PROCESSOR_STATE), partition)
        self._transactions: Transactions | None = None

    async def open(self) -> None:
        """Take the partition over; raises `LogError`. No former holder can commit anything afterwards."""
        name = f"{self._settings.topic_prefix}process.{self._partition}"
        self._transactions = Transactions(self._settings, name, self._layout.batch_bytes)
        try:
            await self._transactions.start()
        except (KafkaError, TimeoutError, OSError) as error:
            raise explain(error, self._settings, f"taking over partition {self._partition}") from error

    async def close(self) -> None:
        """Let the connection go, in a bounded time; an open transaction is left for the next who opens to end."""
        transactions, self._transactions = self._transactions, None
        if transactions is not None:
            await transactions.close()

    async def commit(self, work: Work, offset: int) -> int | None:
        """Write one turn's work, with `offset` as where the input goes on; durable on return.

        Gives the changelog's offset after what was written to it, None where nothing was. Raises `FencedError`. After
        any other `LogError` it is unknown whether the work counts, until the group's offset is read from a new writer.
        """
        assert self._transactions is not None, "opened before it is used"  # noqa: S101 - for whoever reads a traceback
        batch = self._batch(work)
        moved = Moved(group_name(self._settings, GROUP), {self._input: offset})
        try:
            first = await self._transactions.write(batch, moved)
        except (KafkaError, TimeoutError, UnknownOutcomeError, OSError) as error:
            raise self._explained(error) from error
        return first[self._changelog] + len(work.state) if work.state else None

    def _explained(self, error: Exception) -> Exception:
        cause = error.__cause__ if isinstance(error, UnknownOutcomeError) else error
        if isinstance(cause, ProducerFenced):
            return FencedError(f"another worker has taken over partition {self._partition}")
        return explain(cause or error, self._settings, f"committing partition {self._partition}")

    def _batch(self, work: Work) -> dict[TopicPartition, list[Message]]:
        batch: dict[TopicPartition, list[Message]] = {}
        places: dict[tuple[Topic, str], tuple[list[Message], bytes]] = {}
        time_ms = now_ms()
        rooms = self._layout.rooms
        for output in work.outputs:
            # A batch has many records of few threads: what follows from the key is found once for each.
            found = places.get((output.topic, output.key))
            if found is None:
                entries = batch.setdefault(self._place(output), [])
                found = places[output.topic, output.key] = entries, output.key.encode()
            entries, key = found
            if len(key) + len(output.value) <= rooms[output.topic]:
                entries.append(Message(key, output.value, time_ms))
            else:
                self._add_fitted(batch, output, time_ms)
        if work.state:
            batch[self._changelog] = list(_changes(work, time_ms))
        return batch

    def _add_fitted(self, batch: dict[TopicPartition, list[Message]], output: NewRecord, time_ms: int) -> None:
        for fitted in self._layout.fitted(output):
            entries = batch.setdefault(self._place(fitted), [])
            entries.append(Message(fitted.key.encode(), fitted.value, time_ms))

    def _place(self, record: NewRecord) -> TopicPartition:
        return TopicPartition(topic_name(self._settings, record.topic), self._layout.partition_of(record.key))


def _changes(work: Work, time_ms: int) -> Iterator[Message]:
    for key, value in work.state.items():
        yield Message(join_key(key), value, time_ms, _NO_HEADERS)


_NO_HEADERS: Final[tuple[tuple[str, bytes], ...]] = ()
"""State is this project's own: its entries have versions of their own, and there is one for each event."""
