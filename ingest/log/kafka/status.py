"""What is known of the log on Kafka: asked of the brokers, and read from the checkpoints."""

from typing import TYPE_CHECKING

from ingest.log.contract import GroupStatus, LogStatus, SourceStatus, Topic, TopicStatus
from ingest.log.kafka.checkpoints import CheckpointTable
from ingest.log.kafka.retention import group_names
from ingest.log.kafka.topics import CHECKPOINTS

if TYPE_CHECKING:
    from ingest.log.kafka.connection import Connection


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
    prefix = len(connection.settings.topic_prefix)
    known = {place: topic for topic in Topic for place in await connection.places(topic)}
    found: list[GroupStatus] = []
    for name in await group_names(connection):
        committed = {place: at for place, at in (await connection.groups.committed(name)).items() if place in known}
        ends = await connection.readers.after_last(list(committed)) if committed else {}
        found += [
            GroupStatus(
                name[prefix:],
                known[place],
                at.offset,
                ends[place],
                max(0, ends[place] - at.offset),
                {},
                int(at.metadata) if at.metadata.isdecimal() else None,
                place.partition,
            )
            for place, at in sorted(committed.items())
        ]
    return found
