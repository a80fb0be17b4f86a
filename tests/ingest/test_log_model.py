"""The embedded log against a model of lists and dictionaries, over any sequence of calls."""

from collections import defaultdict
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ingest.log import state as state_module
from ingest.log.contract import FencedError, NewRecord, Retention, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.state_contract import Commit
from tests.support.log import quick_folder

TOPICS = st.sampled_from([Topic.CAPTURED, Topic.EVENTS])
SOURCES = st.sampled_from(["one", "two"])
VALUES = st.lists(st.binary(max_size=20), max_size=4)
KEYS = st.binary(min_size=1, max_size=2)
STATE = st.dictionaries(st.tuples(st.sampled_from(["s", "t"]), KEYS), st.none() | st.binary(max_size=3), max_size=6)


class LogMachine(RuleBasedStateMachine):
    """Two handles on one file, as two processes have them, and a model of what is in it."""

    def __init__(self):
        super().__init__()
        # So small that merges begin, are cut off by the other handle, and end, within a few calls.
        self.bounds = state_module.MERGE_ROWS, state_module.SLICE_ROWS
        state_module.MERGE_ROWS, state_module.SLICE_ROWS = 6, 2
        self.held = ExitStack()
        self.folder = self.held.enter_context(quick_folder())
        self.logs = [EmbeddedLog.open(self.folder / "log.db") for _ in range(2)]
        self.records: dict[Topic, dict[int, bytes]] = {topic: {} for topic in Topic}
        self.ends: dict[Topic, int] = defaultdict(int)
        self.sources: dict[str, list] = {"one": [], "two": []}
        self.checkpoints: dict[str, dict[str, bytes]] = {"one": {}, "two": {}}
        self.committed = 0
        self.state: dict[tuple[str, bytes], bytes] = {}

    def _appended(self, topic: Topic, values: list[bytes]) -> None:
        for value in values:
            self.ends[topic] += 1
            self.records[topic][self.ends[topic]] = value

    @rule(handle=st.integers(0, 1), topic=TOPICS, values=VALUES)
    def append(self, handle, topic, values):
        self.logs[handle].append([NewRecord(topic, "k", value) for value in values])
        self._appended(topic, values)

    @rule(handle=st.integers(0, 1), source=SOURCES)
    def open_source(self, handle, source):
        self.sources[source].append(self.logs[handle].open_source(source))

    @rule(source=SOURCES, back=st.integers(1, 2), values=VALUES, part=st.sampled_from("ab"), moved=st.none() | KEYS)
    def append_of_source(self, source, back, values, part, moved):
        copies = self.sources[source]
        if len(copies) < back:
            return
        records = [NewRecord(Topic.CAPTURED, "k", value) for value in values]
        if back > 1:
            with pytest.raises(FencedError):
                copies[-back].append(records, {part: moved})
            return
        copies[-1].append(records, {part: moved})
        self._appended(Topic.CAPTURED, values)
        if moved is None:
            self.checkpoints[source].pop(part, None)
        else:
            self.checkpoints[source][part] = moved

    @rule(handle=st.integers(0, 1), ahead=st.integers(0, 3), values=VALUES, writes=STATE)
    def commit(self, handle, ahead, values, writes):
        offset = min(self.committed + ahead, self.ends[Topic.CAPTURED])
        outputs = [NewRecord(Topic.EVENTS, "k", value) for value in values]
        self.logs[handle].commit(Commit("g", Topic.CAPTURED, offset, self.committed, outputs, writes))
        self.committed = offset
        self._appended(Topic.EVENTS, values)
        for key, value in writes.items():
            if value is None:
                self.state.pop(key, None)
            else:
                self.state[key] = value

    @rule(handle=st.integers(0, 1), writes=STATE, wrong=st.integers(1, 3))
    def commit_from_elsewhere(self, handle, writes, wrong):
        after = self.committed + wrong
        with pytest.raises(FencedError):
            self.logs[handle].commit(Commit("g", Topic.CAPTURED, after, after, [], writes))

    @rule(handle=st.integers(0, 1), topic=TOPICS, kept=st.integers(0, 40))
    def trim(self, handle, topic, kept):
        self.logs[handle].trim({topic: Retention(max_bytes=kept)}, now_ms=0)
        size = sum(len(value) + 1 for value in self.records[topic].values())
        has_group = topic is Topic.CAPTURED and any(group.group == "g" for group in self.logs[0].status().groups)
        for offset, value in sorted(self.records[topic].items()):
            if size <= kept or (has_group and offset > self.committed):
                break
            size -= len(value) + 1
            del self.records[topic][offset]

    @rule(handle=st.integers(0, 1))
    def reopen(self, handle):
        self.logs[handle].close()
        self.logs[handle] = EmbeddedLog.open(self.folder / "log.db")
        # Sources of a closed handle are gone with it; the next take-over fences what is left.
        self.sources = {"one": [], "two": []}

    @invariant()
    def the_log_is_as_the_model(self):
        for log in self.logs:
            for topic in (Topic.CAPTURED, Topic.EVENTS):
                found = {record.offset: record.value for record in log.read(topic, 0, 10**6, 2**40)}
                assert found == self.records[topic]
                assert list(found) == sorted(found)
                assert log.end_offset(topic) == self.ends[topic]
            assert log.committed("g", Topic.CAPTURED) == self.committed
            for store in ("s", "t"):
                expected = {key: value for (of, key), value in self.state.items() if of == store}
                assert log.scan_state(store) == sorted(expected.items())
                assert log.scan_state(store, limit=3) == sorted(expected.items())[:3]
                asked = [*expected, b"\x00\x00\x00"]
                assert log.state(store, asked) == expected

    def teardown(self):
        for log in self.logs:
            assert log.check() == []
            for source, parts in self.checkpoints.items():
                assert log.open_source(source).checkpoints() == parts
            log.close()
        self.held.close()
        state_module.MERGE_ROWS, state_module.SLICE_ROWS = self.bounds


LogMachine.TestCase.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLogMachine = LogMachine.TestCase
