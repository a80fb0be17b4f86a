"""What is known of the log on Kafka: asked of the brokers, and read from the checkpoints."""

from typing import TYPE_CHECKING, Final

from aiokafka.structs import OffsetAndMetadata

from ingest.log.contract import GroupStatus, LogStatus, SourceStatus, Topic, TopicStatus
from ingest.log.kafka.checkpoints import CheckpointTable
from ingest.log.kafka.groups import Offsets
from ingest.log.kafka.retention import group_names
from ingest.log.kafka.topics import CHECKPOINTS, group_name
from ingest.streams.faust.places import GROUP

if TYPE_CHECKING:
    from ingest.log.kafka.connection import Connection

_NOTHING: Final = OffsetAndMetadata(0, "")
"""What a group has committed in a partition before its first commit there."""


class SourceTables:
    """What all sources have committed, read from where the last look ended."""

    def __init__(self) -> None:
        self._tables: list[CheckpointTable] = []

    async def statuses(self, connection: "Connection") -> list[SourceStatus]:
        """Every source by name."""
        if not self._tables:
            self._tables = [CheckpointTable(place) for place in await connection.places(CHECKPOINTS)]
        for table in self._tables:
            await table.refresh(connection.readers)
        found = [status for table in self._tables for status in table.statuses()]
        return sorted(found, key=lambda status: status.source)


async def status(connection: "Connection", sources: SourceTables) -> LogStatus:
    """Topics, sources and groups, each as of its own moment."""
    return LogStatus(
        topics=[await _topic(connection, topic) for topic in Topic],
        sources=await sources.statuses(connection),
        groups=await _groups(connection),
        size_bytes=None,
        exact=False,
    )


async def _topic(connection: "Connection", topic: Topic) -> TopicStatus:
    offsets = connection.readers.offsets
    places = await connection.places(topic)
    begins, ends = await offsets.begins(places), await connection.readers.after_last(places)
    oldest = [at[1] for at in (await offsets.at_times(dict.fromkeys(places, 0))).values() if at is not None]
    return TopicStatus(
        topic,
        records=sum(ends[place] - begins[place] for place in places),
        bytes=None,
        end_offset=sum(ends.values()),
        oldest_ms=min(oldest, default=None),
    )


async def _groups(connection: "Connection") -> list[GroupStatus]:
    workers = group_name(connection.settings, GROUP)
    places = {topic: await connection.places(topic) for topic in Topic}
    found: list[GroupStatus] = []
    for name in sorted({*await group_names(connection), workers}):
        committed = await connection.groups.committed(name)
        for topic, own in places.items():
            # Workers have everything to do from the start on, also before one has run.
            if any(place in committed for place in own) or (name == workers and topic is Topic.CAPTURED):
                found += await _group(connection, name, topic, committed)
    return found


async def _group(connection: "Connection", name: str, topic: Topic, committed: Offsets) -> list[GroupStatus]:
    """A group on each partition of a topic; where it has committed nothing yet, all that is there waits for it."""
    places = await connection.places(topic)
    begins, ends = await connection.readers.offsets.begins(places), await connection.readers.after_last(places)
    found: list[GroupStatus] = []
    for place in places:
        at = committed.get(place, _NOTHING)
        lag = max(0, ends[place] - max(at.offset, begins[place]))
        last_ms = int(at.metadata) if at.metadata.isdecimal() else None
        group = name.removeprefix(connection.settings.topic_prefix)
        found.append(GroupStatus(group, topic, at.offset, ends[place], lag, {}, last_ms, place.partition))
    return found
