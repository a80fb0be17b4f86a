"""How long data takes to get all the way through, measured also when nobody writes.

A mark is set where the topics end and followed until every consumer group has passed it. What they made of it lies
behind the first mark, so another one is set then, as often as topics follow on each other; and where this process runs
the processors, their loop must have gone round as well. The mark is a set of offsets and no record: that would be in
every export, replay and count. Source: the heartbeat of Prometheus' practices for offline processing.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from ingest.health import Health
from ingest.log.contract import EventLog, GroupStatus, LogError, Topic
from ingest.metrics import Metrics

HOPS: Final = 3
"""Captured to events, events to signals and summaries, and all three to whoever reads them."""

PERIOD_SECONDS: Final = 15.0
"""Between two marks: as often as Prometheus usually scrapes."""

LOOK_SECONDS: Final = 1.0
"""How often a mark on its way is looked for: lag that matters is a matter of seconds."""

Seat = tuple[str, Topic, int]

_log = structlog.get_logger(__name__)


class Mark:
    """A mark where the log ended by a status of all `groups`; `left` says how many hops it has before it."""

    def __init__(self, groups: Sequence[GroupStatus]) -> None:
        self.left = HOPS
        self._wanted = _ends(groups)

    @property
    def through(self) -> bool:
        """Whether everything before the mark has gone all the way."""
        return self.left == 0

    def look(self, groups: Sequence[GroupStatus]) -> None:
        """Make the next hop if all groups have passed the mark, by a status that is newer than the last one."""
        at = {_seat(group): group for group in groups}
        if not any(seat in at and at[seat].lag and at[seat].committed < end for seat, end in self._wanted.items()):
            self.left = max(0, self.left - 1)
            self._wanted = _ends(groups)


class Heartbeat:
    """Sets marks and follows them, for ever; `wake` lets this process's processors go round now."""

    def __init__(
        self,
        log: EventLog,
        health: Health,
        metrics: Metrics,
        wake: Callable[[], None],
        *,
        period_seconds: float = PERIOD_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._log, self._health, self._metrics, self._wake = log, health, metrics, wake
        self._period, self._look = period_seconds, look_seconds

    async def run(self) -> None:
        """Beat; while the log cannot be read, no mark gets through, which is what there is to say."""
        while True:
            try:
                await self._beat()
            except LogError as error:
                _log.debug("heartbeat-missed", reason=str(error))  # `ingest.log_watch` tells what is wrong with the log
            await asyncio.sleep(self._period)

    async def _beat(self) -> None:
        begun, started = time.time(), time.monotonic()
        mark = Mark(await self._groups())
        self._wake()
        while not (mark.through and self._gone_round(started)):
            left = mark.left
            mark.look(await self._groups())
            if mark.left == left:
                await asyncio.sleep(self._look)
        self._metrics.went_through(begun, time.monotonic() - started)

    async def _groups(self) -> Sequence[GroupStatus]:
        status = await asyncio.to_thread(self._log.status)
        return status.groups

    def _gone_round(self, started: float) -> bool:
        """Whether the processors are alive; those of another process show by their offsets alone."""
        return self._health.round_ended is None or self._health.round_ended >= started


def _seat(group: GroupStatus) -> Seat:
    return group.group, group.topic, group.partition


def _ends(groups: Sequence[GroupStatus]) -> Mapping[Seat, int]:
    return {_seat(group): group.end_offset for group in groups if group.lag}
