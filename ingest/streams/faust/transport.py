"""Faust's transport, made to hand over what it fetches as it was fetched, and to leave offsets alone.

Faust spends 200 us on each message: on its way through queues, decoding, acknowledging and sensors. A fetch of one
partition is handed on as one message here, so that this is paid for each few thousand records. Commits are off, as the
group's offset moves in the transactions of `writer`; so are Faust's bookkeeping of acknowledgements, its producer, and
its watch over commits that never come.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

import faust
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Producer, Transport
from faust.types import TP, ConsumerMessage

from ingest.log.kafka.leftovers import look_at
from ingest.log.kafka.stopping import STOP_SECONDS, stop
from ingest.log.kafka.unready import look_up_patiently

SESSION_TIMEOUT_MS: Final = 10_000
"""A worker that says nothing for so long has lost its partitions."""

HEARTBEAT_MS: Final = 3_000
"""A third of the session, as Kafka's documentation recommends."""

REBALANCE_TIMEOUT_MS: Final = 30_000
"""For all workers to give up what they hold: each needs at most `lane.STOP_S` twice."""

FETCH_BYTES: Final = 1024 * 1024
"""Of one partition at once; decompressed it may be ten times as much, and two or three are held."""


BUSY_S: Final = 0.02
"""How soon to look again for lanes with room, while some are busy: a batch takes some 100 ms."""


class Lanes(Protocol):
    """Who takes what is fetched."""

    def wants(self, partition: int) -> bool:
        """Whether there is room for records of a partition."""
        ...

    def coming(self, partition: int) -> None:
        """Note that records of a partition are on their way."""
        ...


class _Thread(AIOKafkaConsumerThread):
    """Runs the consumer, with arguments of this project's settings."""

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:  # noqa: ARG002 - the base class passes it
        consumer = AIOKafkaConsumer(
            **cast("WorkerApp", self.app).consumer_arguments,
            group_id=self.app.conf.id,
            partition_assignment_strategy=[StickyPartitionAssignor],
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        )
        look_up_patiently(consumer._client)  # noqa: SLF001 - there is no other way to it
        return consumer

    async def on_thread_stop(self) -> None:
        """Leave the group in a bounded time: Faust would wait as long as a consumer takes whose brokers are away."""
        await super(AIOKafkaConsumerThread, self).on_thread_stop()
        if self._consumer is not None:
            await stop(self._consumer)

    def _start_thread(self) -> None:
        try:
            super()._start_thread()
        except asyncio.CancelledError:  # by `_leave`, with whatever the thread hung in
            self.set_shutdown()


class _Consumer(Consumer):
    """Gives each partition's fetch as one message, whose value is the list of its records."""

    def _new_consumer_thread(self) -> _Thread:
        return _Thread(self, loop=self.loop, beacon=self.beacon)

    async def _getmany(self, active_partitions: Any, timeout: float) -> Mapping[TP, list[Any]]:  # noqa: ASYNC109
        """Fetch only for lanes that have room: one that is busy must not hold up the others' deliveries."""
        lanes = cast("WorkerApp", self.app).lanes
        wanted = {place for place in active_partitions if lanes.wants(place.partition)}
        if not wanted:
            await asyncio.sleep(BUSY_S)
            return {}
        fetched = await super()._getmany(wanted, timeout if len(wanted) == len(active_partitions) else BUSY_S)
        for place in fetched:
            lanes.coming(place.partition)
        return {place: [records] for place, records in fetched.items()}

    def _to_message(self, tp: TP, record: Any) -> ConsumerMessage:
        last = record[-1]
        seconds = last.timestamp / 1000
        return ConsumerMessage(
            last.topic, last.partition, last.offset, seconds, last.timestamp_type, None, None, record, None, tp=tp,
            generation_id=self.app.consumer_generation_id,
        )  # fmt: skip

    async def abandon(self) -> None:
        """Leave the group where Faust's own way out hangs: a member left behind would hold partitions for nothing."""
        thread = self._thread
        consumer = thread._consumer  # noqa: SLF001 - there is no other way to it once `stop` hangs
        if consumer is None:
            return
        leaving = _leave(consumer)
        try:
            left = asyncio.run_coroutine_threadsafe(leaving, thread.thread_loop)
        except RuntimeError:  # its loop is closed: the thread has come to its end meanwhile
            leaving.close()
            return
        waiting = asyncio.wrap_future(left)
        look_at(waiting)
        await asyncio.wait({waiting}, timeout=2 * STOP_SECONDS)

    def ack(self, message: Any) -> bool:
        """Note nothing: what is processed is known from the group's offset."""
        message.acked = True
        self._unacked_messages.discard(message)
        return True

    async def force_commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:  # noqa: ARG002
        """Commit nothing."""
        return False

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        pass

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Nothing: it would judge by commits."""


_THREAD: Final = "_serve"
"""The coroutine that is Faust's thread: it ends by itself once nothing holds it up."""


async def _leave(consumer: AIOKafkaConsumer) -> None:
    """Stop a consumer and what else waits in its loop, which is its thread's alone, so that the thread can end."""
    await stop(consumer)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if getattr(task.get_coro(), "__name__", "") != _THREAD:
            task.cancel()


class _Producer(Producer):
    """Connects to nothing."""

    async def on_start(self) -> None:
        """Start nothing."""

    async def on_stop(self) -> None:
        """Stop nothing."""


class _Transport(Transport):
    Consumer = _Consumer
    Producer = _Producer


class _Schema(faust.Schema[Any, Any]):
    """Leaves values as they were fetched."""

    def loads_key(self, app: Any, message: Any, **_: Any) -> None:
        """There is none: a message is many records."""

    def loads_value(self, app: Any, message: Any, **_: Any) -> Any:  # noqa: ARG002
        """The records."""
        return message.value


class WorkerApp(faust.App):
    """A Faust application on this transport."""

    consumer_arguments: Mapping[str, Any]
    lanes: Lanes

    async def abandon(self) -> None:
        """End what `stop` could not."""
        await cast("_Consumer", self.consumer).abandon()

    def _new_transport(self) -> _Transport:
        return _Transport(self.conf.broker_consumer, self)

    def _new_producer_transport(self) -> _Transport:
        return _Transport(self.conf.broker_producer, self)


def batches_of(app: WorkerApp, topic: str) -> Any:
    """The topic whose messages are lists of aiokafka's records, of one partition each."""
    return app.topic(topic, schema=_Schema())
