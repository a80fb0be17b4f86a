"""What only a log that keeps processors' state promises: outputs, state and offset move together."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.log.contract import FencedError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.state_contract import Commit, StateLog
from tests.support.log import captured, commit, values

Opener = Callable[[], StateLog]


@pytest.fixture
def opener(tmp_path: Path) -> Iterator[Opener]:
    """Opens the same log, any number of times."""
    opened: list[StateLog] = []

    def open_() -> StateLog:
        opened.append(EmbeddedLog.open(tmp_path / "state" / "log.db"))
        return opened[-1]

    yield open_
    for log in opened:
        log.close()


@pytest.fixture
def log(opener: Opener) -> StateLog:
    return opener()


def test_a_commit_moves_outputs_state_and_offset(log: StateLog, opener: Opener):
    log.append(captured("a", "b"))
    commit(log, 2, records=[NewRecord(Topic.EVENTS, "k", b"e")], state={("normalize", b"id"): b"1"})
    again = opener()
    assert again.committed("normalize", Topic.CAPTURED) == 2
    assert values(again, Topic.EVENTS) == ["e"]
    assert again.state("normalize", [b"id", b"none"]) == {b"id": b"1"}
    assert again.committed("other", Topic.CAPTURED) == 0


def test_a_commit_from_another_place_is_fenced_and_writes_nothing(log: StateLog):
    log.append(captured("a", "b", "c"))
    commit(log, 2)
    output = [NewRecord(Topic.EVENTS, "k", b"e")]
    for stale in (
        Commit("normalize", Topic.CAPTURED, 1, 0, output, {("normalize", b"id"): b"1"}),
        Commit("normalize", Topic.CAPTURED, 3, 1, output, {("normalize", b"id"): b"1"}),
        Commit("normalize", Topic.CAPTURED, 1, 2, output, {("normalize", b"id"): b"1"}),
    ):
        with pytest.raises(FencedError, match="normalize"):
            log.commit(stale)
    assert (log.committed("normalize", Topic.CAPTURED), values(log, Topic.EVENTS)) == (2, [])
    assert log.state("normalize", [b"id"]) == {}


def test_a_commit_may_stay_where_it_is(log: StateLog):
    log.append(captured("a"))
    commit(log, 1)
    commit(log, 1, state={("normalize", b"k"): b"v"})
    assert log.committed("normalize", Topic.CAPTURED) == 1
    assert log.state("normalize", [b"k"]) == {b"k": b"v"}


def test_state_is_set_replaced_deleted_and_scanned_in_key_order(log: StateLog):
    put = {("s", key): b"1" for key in (b"b", b"a\xff", b"a", b"a\x00", b"\xff\xff")}
    commit(log, 0, state={**put, ("t", b"a"): b"other"})
    commit(log, 0, state={("s", b"a"): b"2", ("s", b"b"): None, ("s", b"none"): None})
    assert log.state("s", [b"a", b"b"]) == {b"a": b"2"}
    assert log.scan_state("s") == [(b"a", b"2"), (b"a\x00", b"1"), (b"a\xff", b"1"), (b"\xff\xff", b"1")]
    assert log.scan_state("s", b"a", 2) == [(b"a", b"2"), (b"a\x00", b"1")]
    assert log.scan_state("s", b"\xff") == [(b"\xff\xff", b"1")]
    assert log.scan_state("never") == []


def test_many_keys_are_found_at_once(log: StateLog):
    keys = [number.to_bytes(4, "big") for number in range(1_000)]
    commit(log, 0, state={("s", key): key for key in keys})
    assert log.state("s", [*keys, b"none", keys[0]]) == {key: key for key in keys}


def test_a_group_counts_what_it_made(log: StateLog):
    log.append(captured("a", "b"))
    log.commit(Commit("normalize", Topic.CAPTURED, 1, 0, counts={"emitted": 5}))
    log.commit(Commit("normalize", Topic.CAPTURED, 2, 1, counts={"emitted": 1, "rejected": 2}))
    (group,) = log.status().groups
    assert (group.committed, group.lag, group.counts) == (2, 0, {"emitted": 6, "rejected": 2})
    assert group.last_commit_ms is not None
