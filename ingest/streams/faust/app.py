"""The Faust application of one worker: a group member that hands what it fetches to the lanes."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import structlog
from aiokafka.structs import ConsumerRecord

from ingest.log.contract import LogError, Topic
from ingest.log.kafka.client import consumer_arguments
from ingest.log.kafka.stopping import STOP_SECONDS
from ingest.log.kafka.topics import group_name, topic_name
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.places import GROUP
from ingest.streams.faust.transport import FETCH_BYTES, Lanes, WorkerApp, batches_of

BUFFERED: Final = 2
"""Fetches that wait for a lane, over all partitions: enough to have one at hand when a batch is done."""

START_S: Final = 60.0
"""For Faust to connect: longer than a client's own time-outs."""

STOP_S: Final = STOP_SECONDS + 1.0
"""For Faust to leave the group, which takes milliseconds, or while brokers are away as long as its consumer may."""


_log = structlog.get_logger(__name__)


class Listener(Lanes, Protocol):
    """Who works off the partitions."""

    async def assigned(self, partitions: Iterable[int]) -> None:
        """These, and no others, are this worker's now."""
        ...

    async def revoked(self) -> None:
        """None is this worker's until `assigned` says which; whoever returns no longer works on any."""
        ...

    async def offer(self, partition: int, records: Sequence[ConsumerRecord]) -> None:
        """Take consecutive records of a partition."""
        ...


def application(settings: KafkaSettings, folder: Path, listener: Listener) -> WorkerApp:
    """Make an application, which runs once. `folder` is where Faust wants directories of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    app = WorkerApp(
        group_name(settings, GROUP),
        broker="kafka://",  # as all of Kafka's settings, the brokers are in `consumer_arguments`
        datadir=folder,
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        stream_wait_empty=False,
        stream_buffer_maxsize=BUFFERED,
    )
    app.consumer_arguments = consumer_arguments(settings) | {"max_partition_fetch_bytes": FETCH_BYTES}

    app.lanes = listener

    async def deliver(stream: Any) -> None:
        async for records in stream:
            await listener.offer(records[0].partition, records)

    async def on_assigned(*sent: Any, **_: Any) -> None:
        _, assigned = sent  # the application, and what it is assigned
        await listener.assigned(sorted(place.partition for place in assigned))

    async def on_revoked(*_sent: Any, **_: Any) -> None:
        await listener.revoked()

    app.agent(batches_of(app, topic_name(settings, Topic.CAPTURED)), name="process", concurrency=1)(deliver)
    app.on_partitions_assigned.connect(on_assigned)
    app.on_partitions_revoked.connect(on_revoked)
    return app


@asynccontextmanager
async def started(app: WorkerApp) -> AsyncIterator[asyncio.Task[None]]:
    """Start an application and stop it at the end; gives a task that fails with `LogError` when it ends by itself.

    Raises `LogError` when it cannot start.
    """
    ended = asyncio.create_task(_ended(app))
    starting = asyncio.create_task(app.start())
    try:
        await asyncio.wait({starting, ended}, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            ended.result()
        if not starting.done():
            raise LogError(f"the worker did not start within {START_S:.0f} s")
        starting.result()
        yield ended
    finally:
        await _stop(app, starting, ended)


async def first_of(stop: asyncio.Event, ended: asyncio.Task[None]) -> None:
    """Wait until `stop` is set, or for the application to end by itself; raises why it did."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({stopping, ended}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if ended.done():
        ended.result()


async def _ended(app: WorkerApp) -> None:
    await app.wait()
    raise LogError(f"the worker ended: {app.crash_reason!r}" if app.crash_reason else "the worker was stopped")


async def _stop(app: WorkerApp, *tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    stopping = asyncio.create_task(app.stop())
    await asyncio.wait({stopping, *tasks}, timeout=STOP_S)
    if not stopping.done():
        _log.warning("worker-left-behind", seconds=STOP_S)
        stopping.cancel()
        await app.abandon()
