"""Consumer groups on Kafka: their offsets, kept by the brokers, without joining a group.

Our offset of a record is Kafka's + 1, and Kafka commits the offset to read next: so what is committed is the same
number in both. With the offset goes, as its metadata, when it was committed (Unix, ms). Brokers forget the offsets of
a group that has been silent for `offsets.retention.minutes`, a week by default; whoever reads registers at its start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from aiokafka import errors
from aiokafka.client import AIOKafkaClient, CoordinationType
from aiokafka.protocol.admin import DescribeGroupsRequest
from aiokafka.protocol.commit import OffsetCommitRequest, OffsetFetchRequest
from aiokafka.structs import OffsetAndMetadata, TopicPartition

from ingest.clock import now_ms
from ingest.log.kafka.client import client_arguments
from ingest.log.kafka.requests import OffsetDeleteRequest
from ingest.log.kafka.stopping import stop
from ingest.log.kafka.unready import look_up_patiently
from ingest.settings_kafka import KafkaSettings

T = TypeVar("T")

_NO_GENERATION: Final = -1
_NO_RETENTION: Final = -1
"""Not a member of the group, and the brokers' own retention. Source: Kafka's protocol, OffsetCommit."""

_TRIES: Final = 60
_PAUSE_S: Final = 0.25
"""A coordinator that moves, or that reads its log after a restart, is there again within seconds; on a machine that is
busy within a quarter of a minute."""

_PASSING: Final = (
    errors.NotCoordinatorForGroupError,
    errors.GroupCoordinatorNotAvailableError,
    errors.GroupLoadInProgressError,
    errors.NodeNotReadyError,
    errors.KafkaConnectionError,
    errors.RequestTimedOutError,
)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class Groups:
    """The offsets of consumer groups. Runs in the log's event loop alone; raises `KafkaError`."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._client: AIOKafkaClient | None = None
        self._starting = asyncio.Lock()

    async def committed(
        self, group: str, places: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets that a group has committed, of all partitions by default; `group` is its name on the brokers."""
        asked = None if places is None else list(_by_topic(places).items())

        async def fetch(client: AIOKafkaClient, node: int) -> dict[TopicPartition, OffsetAndMetadata]:
            answer = await client.send(node, OffsetFetchRequest(group, asked))
            _check(answer.error_code)
            found = {}
            for topic, partitions in answer.topics:
                for partition, offset, metadata, code in partitions:
                    _check(code)
                    if offset >= 0:
                        found[TopicPartition(topic, partition)] = OffsetAndMetadata(offset, metadata)
            return found

        return await self._with_coordinator(group, fetch)

    async def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit offsets for a group that no member is in; with members, only they may commit."""
        time_ms = str(now_ms())
        by_topic: dict[str, list[tuple[int, int, str]]] = {}
        for place, offset in offsets.items():
            by_topic.setdefault(place.topic, []).append((place.partition, offset, time_ms))

        async def send(client: AIOKafkaClient, node: int) -> None:
            request = OffsetCommitRequest(group, _NO_GENERATION, "", _NO_RETENTION, list(by_topic.items()))
            answer = await client.send(node, request)
            for _, partitions in answer.topics:
                for _, code in partitions:
                    _check(code)

        await self._with_coordinator(group, send)

    async def forget(self, group: str, places: list[TopicPartition]) -> None:
        """Drop a group's offsets in these partitions."""
        by_topic = _by_topic(places)

        async def send(client: AIOKafkaClient, node: int) -> None:
            answer = await client.send(node, OffsetDeleteRequest(group, by_topic))
            if answer.error_code == errors.GroupIdNotFound.errno:
                return
            _check(answer.error_code)
            for _, partitions in answer.topics:
                for _, code in partitions:
                    _check(code)

        await self._with_coordinator(group, send)

    async def has_members(self, group: str) -> bool:
        """Whether a process is in a group now."""

        async def ask(client: AIOKafkaClient, node: int) -> bool:
            answer = await client.send(node, DescribeGroupsRequest([group], include_authorized_operations=False))
            code, _, _, _, _, members, *_ = answer.groups[0]
            if code == errors.GroupIdNotFound.errno:
                return False
            _check(code)
            return bool(members)

        return await self._with_coordinator(group, ask)

    async def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            await stop(client)

    async def _with_coordinator(self, group: str, work: Callable[[AIOKafkaClient, int], Awaitable[T]]) -> T:
        try:
            return await self._tried(group, work)
        except (*_PASSING, asyncio.CancelledError):
            await self.close()  # the next client reads secrets anew: it may be that these are not taken any longer
            raise

    async def _tried(self, group: str, work: Callable[[AIOKafkaClient, int], Awaitable[T]]) -> T:
        for attempt in range(1, _TRIES + 1):
            client = await self._connected()
            try:
                node = await client.coordinator_lookup(CoordinationType.GROUP, group)
                return await work(client, node)
            except _PASSING:
                if attempt == _TRIES:
                    raise
                client.force_metadata_update()
                await asyncio.sleep(_PAUSE_S)
        raise AssertionError("the last attempt returns or raises")

    async def _connected(self) -> AIOKafkaClient:
        async with self._starting:
            if self._client is None:
                client = AIOKafkaClient(**client_arguments(self._settings))
                look_up_patiently(client)
                try:
                    await client.bootstrap()
                except BaseException:
                    await stop(client)
                    raise
                self._client = client
            return self._client


def _by_topic(places: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for place in places:
        by_topic.setdefault(place.topic, []).append(place.partition)
    return by_topic


def _check(code: Any) -> None:
    kind = errors.for_code(code)
    if kind is not errors.NoError:
        raise kind
