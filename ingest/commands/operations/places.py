"""Places in the log as people name them: offsets, times, and who a conversation comes from."""

import re
from typing import Final

from ingest.export_selection import SelectionError
from ingest.log.contract import EventLog, Topic
from ingest.log.walk import offsets_before
from ingest.processors.times import to_iso, to_ms

BEGINNING: Final = "beginning"

_PLACE: Final = re.compile(r"(\d{1,18})(?::(\d{1,5}))?", re.ASCII)

_PAST_ALL: Final = 1 << 62
"""No record has so high an offset."""


def parse_place(option: str, raw: str, partitions: int) -> tuple[int, int]:
    """Understand `OFFSET` or `OFFSET:PARTITION`; gives partition and offset. Raises `SelectionError`."""
    match = _PLACE.fullmatch(raw)
    if match is None:
        raise SelectionError(f"{option} {raw!r}: an offset such as 120, or 120:3 in partition 3, is expected")
    offset, named = int(match[1]), match[2]
    if named is None and partitions > 1:
        raise SelectionError(f"{option} {raw}: there are {partitions} partitions; say which, as {raw}:0")
    partition = int(named or 0)
    if partition >= partitions:
        raise SelectionError(
            f"{option} {raw}: there is no partition {partition}; they are numbered 0 to {partitions - 1}"
        )
    return partition, offset


def place_text(partition: int, offset: int, partitions: int) -> str:
    """Write a place as `parse_place` takes it."""
    return f"{offset}:{partition}" if partitions > 1 else str(offset)


def start_of(log: EventLog, topic: Topic, option: str, raw: str) -> dict[int, int]:
    """Understand `beginning`, a time of appending, or a place: the offsets of the partitions to read after.

    A place names the first record of its partition that is read, and leaves the other partitions out. Digits alone are
    an offset. Raises `SelectionError`, and `LogError` when the log cannot be read.
    """
    partitions = log.partitions(topic)
    if raw == BEGINNING:
        return dict.fromkeys(range(partitions), 0)
    if _PLACE.fullmatch(raw):
        partition, offset = parse_place(option, raw, partitions)
        return dict.fromkeys(range(partitions), _PAST_ALL) | {partition: max(0, offset - 1)}
    if (time := to_iso(raw)) is None:
        raise SelectionError(
            f"{option} {raw!r}: {BEGINNING}, an offset such as 120, or a time such as 2026-01-31T12:00:00Z is expected"
        )
    return offsets_before(log, topic, to_ms(time))
