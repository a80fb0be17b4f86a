"""How far each consumer group is behind the topic it reads."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from ingest.log.contract import EventLog, GroupStatus, LogStatus


@dataclass(frozen=True, slots=True)
class Lag:
    """`messages` are records not worked off, `seconds` the age of the oldest of them."""

    processor: str
    topic: str
    messages: int
    seconds: float
    partition: int = 0


def lags(log: EventLog, status: LogStatus) -> list[Lag]:
    """The lag of each group of `status`; reads one record of each that is behind."""
    return [Lag(group.group, str(group.topic), group.lag, _age(log, group), group.partition) for group in status.groups]


def oldest(behind: Iterable[Lag]) -> dict[tuple[str, str], float]:
    """The age of the oldest record that waits, in seconds, by processor and topic over all partitions."""
    ages: dict[tuple[str, str], float] = {}
    for lag in behind:
        place = lag.processor, lag.topic
        ages[place] = max(ages.get(place, 0.0), lag.seconds)
    return ages


def _age(log: EventLog, group: GroupStatus) -> float:
    waiting = log.read(group.topic, group.committed, 1, 1, group.partition) if group.lag else []
    return max(0.0, time.time() - waiting[0].time_ms / 1000) if waiting else 0.0
