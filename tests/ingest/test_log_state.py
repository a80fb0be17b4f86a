"""Processor state is what was put last, at every moment of a merge, by whichever process, also when one is cut off."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ingest.log import state as state_module
from ingest.log.contract import LogError, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.state_contract import Commit
from ingest.streams.pending import PendingState, StoredState
from tests.support.log import commit, quick_folder

KEYS = st.sampled_from([bytes([first, second]) for first in b"ab\xff" for second in b"\x00x\xff"])
WRITES = st.dictionaries(KEYS, st.none() | st.binary(max_size=2), min_size=1, max_size=2)


def put(log: EmbeddedLog, writes: Mapping[bytes, bytes | None]) -> None:
    commit(log, 0, state={("s", key): value for key, value in writes.items()})


def assert_counted(log: EmbeddedLog) -> None:
    """What is said of recent writes is true: merges are begun by it."""
    with log._pool.lend() as connection:
        now = state_module.progress(connection)
        recent = [len(writes) for _, writes in state_module.recent_writes(connection, 0)]
        (size,) = connection.execute("SELECT coalesce(sum(length(writes)), 0) FROM state_recent").fetchone()
    assert (now.recent_rows, now.recent_bytes) == (sum(recent), size)


def apply(model: dict[bytes, bytes], writes: Mapping[bytes, bytes | None]) -> None:
    for key, value in writes.items():
        if value is None:
            model.pop(key, None)
        else:
            model[key] = value


class StateMachine(RuleBasedStateMachine):
    """Two handles on one file, as two processes have them; merges begin often and take several commits."""

    def __init__(self):
        super().__init__()
        self.bounds = state_module.MERGE_ROWS, state_module.SLICE_ROWS
        state_module.MERGE_ROWS, state_module.SLICE_ROWS = 5, 1
        self.held = ExitStack()
        self.folder = self.held.enter_context(quick_folder())
        self.logs = [EmbeddedLog.open(self.folder / "log.db") for _ in range(2)]
        self.model: dict[bytes, bytes] = {}

    @rule(handle=st.integers(0, 1), writes=WRITES, times=st.integers(1, 4))
    def put(self, handle, writes, times):
        for _ in range(times):
            put(self.logs[handle], writes)
        apply(self.model, writes)

    @rule(handle=st.integers(0, 1), writes=WRITES, times=st.integers(1, 12))
    def put_and_fail(self, handle, writes, times):
        """So many in one transaction that a merge may end in it, and the next begin."""
        log = self.logs[handle]

        def operation(connection) -> None:
            for _ in range(times):
                log._state_writer.put(connection, {("s", key): value for key, value in writes.items()})
            raise LogError("on purpose")

        with pytest.raises(LogError, match="on purpose"):
            log._write(operation)

    @rule(handle=st.integers(0, 1))
    def reopen(self, handle):
        self.logs[handle].close()
        self.logs[handle] = EmbeddedLog.open(self.folder / "log.db")

    @rule(handle=st.integers(0, 1), keys=st.lists(KEYS), prefix=st.sampled_from([b"", b"a", b"\xff", b"\xff\xff"]))
    def look(self, handle, keys, prefix):
        """Only one handle looks, so that the other's memory of recent writes grows old."""
        log = self.logs[handle]
        assert log.state("s", keys) == {key: self.model[key] for key in keys if key in self.model}
        expected = sorted(entry for entry in self.model.items() if entry[0].startswith(prefix))
        assert log.scan_state("s", prefix, 4) == expected[:4]

    def teardown(self):
        for log in self.logs:
            assert log.scan_state("s") == sorted(self.model.items())
            assert log.check() == []
            assert_counted(log)
            log.close()
        self.held.close()
        state_module.MERGE_ROWS, state_module.SLICE_ROWS = self.bounds


StateMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStateMachine = StateMachine.TestCase


@pytest.fixture
def logs(monkeypatch) -> Iterator[list[EmbeddedLog]]:
    """Two handles on one file: the third row freezes what is there, the next commit merges all of it."""
    monkeypatch.setattr(state_module, "MERGE_ROWS", 3)
    monkeypatch.setattr(state_module, "SLICE_ROWS", 10)
    with (
        quick_folder() as folder,
        EmbeddedLog.open(folder / "log.db") as one,
        EmbeddedLog.open(folder / "log.db") as two,
    ):
        yield [one, two]


def in_tree(log: EmbeddedLog) -> dict[bytes, bytes]:
    """What is merged."""
    with log._pool.lend() as connection:
        return dict(connection.execute("SELECT key, value FROM state"))


def test_memory_of_recent_writes_is_given_up_when_they_are_merged(logs: list[EmbeddedLog]):
    writer, reader = logs
    put(writer, {b"k": b"1"})
    assert reader.state("s", [b"k"]) == {b"k": b"1"}
    for writes in ({b"k": b"2"}, {b"f": b""}, {b"g": b""}):
        put(writer, writes)
    assert in_tree(writer) == {b"k": b"2", b"f": b""}
    assert reader.state("s", [b"k"]) == {b"k": b"2"}


def test_recent_deletions_hide_merged_entries(logs: list[EmbeddedLog]):
    log, _ = logs
    for key in (b"a", b"b", b"c", b"d"):
        put(log, {key: b"1"})
    assert sorted(in_tree(log)) == [b"a", b"b", b"c"]
    put(log, {b"a": None, b"b": None})
    assert sorted(in_tree(log)) == [b"a", b"b", b"c"]
    assert log.scan_state("s", limit=1) == [(b"c", b"1")]
    assert log.state("s", [b"a", b"c"]) == {b"c": b"1"}
    put(log, {b"e": b"1"})
    assert sorted(in_tree(log)) == [b"c", b"d"]


def test_a_merge_that_another_process_began_is_begun_again(logs: list[EmbeddedLog]):
    one, two = logs
    for number in range(3):
        put(one, {b"k": b"%d" % number})
    put(two, {b"k": b"newer"})
    put(one, {b"l": b"1"})
    put(one, {b"m": b"1"})
    assert in_tree(two)[b"k"] == b"newer"
    assert one.scan_state("s") == two.scan_state("s") == [(b"k", b"newer"), (b"l", b"1"), (b"m", b"1")]


def test_a_merge_that_was_rolled_back_leaves_nothing(logs: list[EmbeddedLog]):
    """Another process freezes up to the same row, which is another one there."""
    one, two = logs
    put(one, {b"a": b"1"})
    put(one, {b"b": b"1"})

    def fail(connection) -> None:
        one._state_writer.put(connection, {("s", b"lost"): b"1"})
        raise LogError("on purpose")

    with pytest.raises(LogError, match="on purpose"):
        one._write(fail)
    put(two, {b"c": b"1"})
    put(one, {b"d": b"1"})
    put(one, {b"e": b"1"})
    assert sorted(in_tree(one)) == [b"a", b"b", b"c", b"d"]
    assert [key for key, _ in two.scan_state("s")] == [b"a", b"b", b"c", b"d", b"e"]


def test_a_whole_merge_leaves_nothing_recent_but_what_came_since(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(state_module, "MERGE_ROWS", 10)
    monkeypatch.setattr(state_module, "SLICE_ROWS", 3)
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        for number in range(200):
            put(log, {bytes([number]): b"1", bytes([number // 2]): None if number % 3 else b"2"})
        with log._pool.lend() as connection:
            recent = sum(len(writes) for _, writes in state_module.recent_writes(connection, 0))
            (merged,) = connection.execute("SELECT count(*) FROM state").fetchone()
        assert_counted(log)
    assert recent < 30
    assert merged > 90


def test_large_values_start_a_merge_too(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(state_module, "MERGE_BYTES", 50_000)
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        for number in range(100):
            put(log, {b"k": b"%05d" % number * 2_000})
        with log._pool.lend() as connection:
            (recent,) = connection.execute("SELECT count(*) FROM state_recent").fetchone()
        assert recent < 20
        assert log.state("s", [b"k"]) == {b"k": b"00099" * 2_000}


@given(st.lists(st.tuples(st.booleans(), WRITES), max_size=8), st.sampled_from([b"", b"a", b"b\xff"]))
@settings(max_examples=30, deadline=None)
def test_pending_writes_lie_over_stored_ones(steps, prefix):
    """A processor sees its own writes at once; a layer over them only adds what it is told to."""
    model: dict[bytes, bytes] = {}
    with quick_folder() as folder, EmbeddedLog.open(folder / "log.db") as log:
        put(log, {b"ax": b"stored", b"b\xff": b"stored"})
        apply(model, {b"ax": b"stored", b"b\xff": b"stored"})
        pending = PendingState(StoredState(log, "s"))
        for kept, writes in steps:
            layer = PendingState(pending)
            for key, value in writes.items():
                if value is None:
                    layer.delete(key)
                else:
                    layer.put(key, value)
            if kept:
                pending.absorb(layer)
                apply(model, writes)
        assert pending.get_many(iter([b"ax", b"b\xff", b"a\x00", b"none"])) == {
            key: model[key] for key in (b"ax", b"b\xff", b"a\x00") if key in model
        }
        expected = sorted(entry for entry in model.items() if entry[0].startswith(prefix))
        assert pending.scan(prefix, 2) == expected[:2]
        log.commit(Commit("g", Topic.CAPTURED, 0, 0, [], pending.writes("s")))
        assert log.scan_state("s") == sorted(model.items())
