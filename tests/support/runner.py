"""Processors and failing logs for tests of the runner."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ingest.log.contract import (
    LogError,
    LogStatus,
    NewRecord,
    Place,
    Record,
    Retention,
    SourceLog,
    Topic,
    Trimmed,
)
from ingest.log.state_contract import Commit, StateLog
from ingest.processors.contract import State


class Clock:
    """A clock that stands until it is set, in Unix milliseconds."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


class Upper:
    """Gives each new value once, in upper case, numbered by its state; fails on values that hold `poison`."""

    def __init__(self, name: str = "upper", topic: Topic = Topic.CAPTURED, output: Topic = Topic.EVENTS) -> None:
        self.name = name
        self.input = topic
        self._output = output
        self._counts: Counter[str] = Counter()
        self.batches: list[int] = []
        self.ticks: list[int] = []
        self.poison_in_tick = False

    def process(self, records: Sequence[Record], state: State) -> list[NewRecord]:
        self.batches.append(len(records))
        known = dict(state.get_many([b"number", *(record.value for record in records)]))
        number = int(known.get(b"number", b"0"))
        outputs = []
        for record in records:
            self._counts["seen"] += 1
            if record.value in known:
                self._counts["duplicate"] += 1
                continue
            known[record.value] = b"1"
            state.put(record.value, b"1")
            number += 1
            outputs.append(NewRecord(self._output, record.key, b"%d %s" % (number, record.value.upper())))
            self._counts["emitted"] += 1
            if b"poison" in record.value:
                raise ZeroDivisionError("a fault in the program")
        state.put(b"number", b"%d" % number)
        return outputs

    def tick(self, now_ms: int, state: State) -> list[NewRecord]:
        self.ticks.append(now_ms)
        if self.poison_in_tick:
            state.put(b"lost", b"1")
            raise ZeroDivisionError("a fault in the program")
        due = [key for key, _ in state.scan(b"due", 10)]
        for key in due:
            state.delete(key)
        return [NewRecord(self._output, "k", b"tick " + key) for key in due]

    def counts(self) -> Mapping[str, int]:
        counts, self._counts = self._counts, Counter()
        return counts


class FailingLog(StateLog):
    """A log that asks before and after each call whether to fail; what was written before a failure stays."""

    def __init__(self, log: StateLog, fails: Callable[[str], bool]) -> None:
        self._log = log
        self._fails = fails

    def _step(self, name: str) -> None:
        if self._fails(name):
            raise LogError(f"failed {name}")

    @property
    def where(self) -> str:
        return self._log.where

    def partitions(self, topic: Topic) -> int:
        return self._log.partitions(topic)

    def commit_offset(self, group: str, topic: Topic, offset: int, partition: int = 0) -> None:
        self._log.commit_offset(group, topic, offset, partition)

    def open_source(self, source: str) -> SourceLog:
        return self._log.open_source(source)

    def append(self, records: Sequence[NewRecord]) -> None:
        self._log.append(records)

    def read(self, topic: Topic, after: int, limit: int, max_bytes: int, partition: int = 0) -> list[Record]:
        self._step("before read")
        return self._log.read(topic, after, limit, max_bytes)

    def register_group(self, group: str, topic: Topic) -> None:
        self._log.register_group(group, topic)

    def forget_group(self, group: str, topic: Topic) -> None:
        self._log.forget_group(group, topic)

    def wait_for_append(self, positions: Mapping[Place, int], timeout_s: float) -> bool:
        return self._log.wait_for_append(positions, timeout_s)

    def committed(self, group: str, topic: Topic, partition: int = 0) -> int:
        self._step("before committed")
        return self._log.committed(group, topic)

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        return self._log.end_offset(topic)

    def state(self, store: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        self._step("before state")
        return self._log.state(store, keys)

    def scan_state(self, store: str, prefix: bytes = b"", limit: int = 1000) -> list[tuple[bytes, bytes]]:
        return self._log.scan_state(store, prefix, limit)

    def commit(self, commit: Commit) -> None:
        self._step("before commit")
        self._log.commit(commit)
        self._step("after commit")

    def trim(self, policies: Mapping[Topic, Retention], now_ms: int, ignore_groups: Collection[str] = ()) -> Trimmed:
        return self._log.trim(policies, now_ms, ignore_groups)

    def status(self) -> LogStatus:
        return self._log.status()

    def close(self) -> None:
        self._log.close()
