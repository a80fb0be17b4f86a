"""Moves the triage along the log: a batch, what it changes, and the offsets after it in one transaction of the store.

So each record is applied once, however often a process dies; and as applying one again changes nothing, a log that is
read anew from its beginning does no harm either. The log is told afterwards how far the group has come, for retention
and lag; what counts is in the store.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from ingest.clock import now_ms
from ingest.log.contract import EventLog, Place, Record
from triage.batch import TOPICS, Applied, apply
from triage.store.database import Store
from triage.store.errors import BadValueError

GROUP: Final = "triage"
"""The consumer group, and the name of the turn."""

BATCH_RECORDS: Final = 4_000
BATCH_BYTES: Final = 8 * 1024 * 1024
"""A batch: a disk sync is shared by thousands of records, and a stop waits for less than a second."""

_log = structlog.get_logger(__name__)


class Reader:
    """One consumer of a log, with the turn on a store."""

    def __init__(
        self,
        log: EventLog,
        store: Store,
        holder: str,
        *,
        clock: Callable[[], int] = now_ms,
        default_workspace: str = "",
    ) -> None:
        """Take over from whoever held the turn before; raises `LogError` and `StoreError`."""
        self._log = log
        self._store = store
        self._clock = clock
        self._default_workspace = default_workspace
        for topic in TOPICS:
            log.register_group(GROUP, topic)
        with store.write() as repository:
            self._epoch = repository.positions.take_over(GROUP, holder)
            known = repository.positions.committed(log.where)
        self.positions = {place: self._begin(place, known.get(place, 0)) for place in self._places()}
        self._first = 0

    def step(self) -> Applied | None:
        """Work off one batch; None when there was nothing. Raises `LogError`, `StoreError`, `TurnLostError`."""
        records = self._read()
        if not records:
            return None
        begun = time.perf_counter()
        applied = self._apply(records)
        applied.seconds = time.perf_counter() - begun
        for (topic, partition), offset in _ends(records).items():
            self._log.commit_offset(GROUP, topic, offset, partition)
        return applied

    def wait(self, timeout_s: float) -> bool:
        """Wait until there is something to read; whether there is."""
        return self._log.wait_for_append(self.positions, timeout_s)

    def lag(self) -> int:
        """How many records wait, where offsets have no holes."""
        return sum(self._log.end_offset(topic, part) - at for (topic, part), at in self.positions.items())

    def _places(self) -> list[Place]:
        return [(topic, part) for topic in TOPICS for part in range(self._log.partitions(topic))]

    def _begin(self, place: Place, offset: int) -> int:
        """Give where to go on: at the beginning when the log ends before where the store has come to."""
        topic, partition = place
        if offset <= self._log.end_offset(topic, partition):
            return offset
        _log.warning(
            "log-is-another", topic=str(topic), partition=partition, offset=offset, advice="read from its start"
        )
        return 0

    def _read(self) -> list[Record]:
        """Read from each partition in turn, another one first each time, until a batch is full."""
        records: list[Record] = []
        size = 0
        places = list(self.positions)
        self._first = (self._first + 1) % len(places)
        for topic, partition in places[self._first :] + places[: self._first]:
            room = BATCH_RECORDS - len(records)
            if room <= 0 or size >= BATCH_BYTES:
                break
            found = self._log.read(topic, self.positions[topic, partition], room, BATCH_BYTES - size, partition)
            size += sum(len(record.value) for record in found)
            records += found
        return records

    def _apply(self, records: Sequence[Record]) -> Applied:
        try:
            return self._commit(records)
        except BadValueError as error:
            if len(records) > 1:
                return self._apply_by_halves(records)
            reason = type(error.__cause__).__name__
            _log.error("record-rejected", reason="not-storable", where=_where(records[0]), error_type=reason)
            return self._pass_over(records[0])

    def _apply_by_halves(self, records: Sequence[Record]) -> Applied:
        """Find the record that the database refuses, so that it costs no others."""
        middle = len(records) // 2
        applied = self._apply(records[:middle])
        applied.add(self._apply(records[middle:]))
        return applied

    def _commit(self, records: Sequence[Record]) -> Applied:
        ends = _ends(records)
        with self._store.write() as repository:
            repository.positions.check_turn(GROUP, self._epoch)
            applied = apply(repository, records, self._clock(), self._default_workspace)
            repository.positions.commit(self._log.where, ends)
        self.positions.update(ends)
        return applied

    def _pass_over(self, record: Record) -> Applied:
        ends = _ends([record])
        with self._store.write() as repository:
            repository.positions.check_turn(GROUP, self._epoch)
            repository.positions.commit(self._log.where, ends)
        self.positions.update(ends)
        applied = Applied(records=1)
        applied.rejected["not-storable"] += 1
        return applied


def _ends(records: Sequence[Record]) -> dict[Place, int]:
    """Give the last offset of each partition among records."""
    return {(record.topic, record.partition): record.offset for record in records}


def _where(record: Record) -> str:
    return f"{record.topic} {record.partition}:{record.offset}"
