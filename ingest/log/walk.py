"""Reading whole topics: all partitions of one, in batches, up to where each ended when the reading began."""

from collections.abc import Iterator, Mapping
from heapq import merge
from typing import Final

from ingest.log.contract import EventLog, Record, Topic

BATCH_RECORDS: Final = 2_000
BATCH_BYTES: Final = 8 * 1024 * 1024
"""What is read at once, of all partitions together: enough to be fast, little enough to hold."""

Offsets = Mapping[int, int]
"""An offset of each partition of a topic."""


def ends(log: EventLog, topic: Topic) -> dict[int, int]:
    """Give the highest offset of each partition."""
    return {partition: log.end_offset(topic, partition) for partition in range(log.partitions(topic))}


def walk(log: EventLog, topic: Topic, after: Offsets | None = None, end: Offsets | None = None) -> Iterator[Record]:
    """Yield the records above `after` up to `end`, by default from the first one to the last there is now.

    Records of one partition come in order, and so do those of one key; partitions are merged by time of appending.
    """
    after, end = after or {}, ends(log, topic) if end is None else end
    limit, size = max(1, BATCH_RECORDS // max(1, len(end))), max(1, BATCH_BYTES // max(1, len(end)))
    parts = [_part(log, topic, after.get(number, 0), last, limit, size, number) for number, last in end.items()]
    return parts[0] if len(parts) == 1 else merge(*parts, key=lambda record: record.time_ms)


def _part(log: EventLog, topic: Topic, after: int, end: int, limit: int, size: int, partition: int) -> Iterator[Record]:
    # No more than is wanted: an export asks for single records here and there.
    while after < end and (batch := log.read(topic, after, min(limit, end - after), size, partition)):
        for record in batch:
            if record.offset > end:
                return
            yield record
        after = batch[-1].offset


def offset_before(log: EventLog, topic: Topic, time_ms: int, partition: int = 0) -> int:
    """Give the offset after which records of a partition were appended at `time_ms` (Unix, ms) or later.

    By bisection: exact as far as times grow with offsets, which a clock that was set back may break.
    """
    low, high = 0, log.end_offset(topic, partition)
    while low < high:
        middle = (low + high) // 2
        found = log.read(topic, middle, 1, 1, partition)
        if found and found[0].time_ms < time_ms:
            low = found[0].offset
        else:
            high = middle
    return low


def offsets_before(log: EventLog, topic: Topic, time_ms: int) -> dict[int, int]:
    """Give `offset_before` of each partition."""
    return {partition: offset_before(log, topic, time_ms, partition) for partition in range(log.partitions(topic))}
