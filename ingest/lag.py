"""How far each consumer group is behind the topic it reads."""

import time
from dataclasses import dataclass

from ingest.log.contract import EventLog, GroupStatus, LogStatus


@dataclass(frozen=True, slots=True)
class Lag:
    """`messages` are records not worked off, `seconds` the age of the oldest of them."""

    processor: str
    topic: str
    messages: int
    seconds: float


def lags(log: EventLog, status: LogStatus) -> list[Lag]:
    """The lag of each group of `status`; reads one record of each that is behind."""
    return [Lag(group.group, str(group.topic), group.lag, _age(log, group)) for group in status.groups]


def _age(log: EventLog, group: GroupStatus) -> float:
    waiting = log.read(group.topic, group.committed, limit=1, max_bytes=1) if group.lag else []
    return max(0.0, time.time() - waiting[0].time_ms / 1000) if waiting else 0.0
