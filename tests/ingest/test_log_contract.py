"""The promises of an `EventLog`, whatever its engine: one suite that every engine must pass."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from ingest.log.contract import (
    Commit,
    EventLog,
    FencedError,
    LogError,
    NewRecord,
    Retention,
    SourceProgress,
    Topic,
)
from ingest.log.embedded import EmbeddedLog
from tests.support.log import ALL, captured, commit, everything, spawn, values

Opener = Callable[[], EventLog]


@pytest.fixture(params=["embedded"])
def opener(request, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same log, any number of times."""
    opened: list[EventLog] = []

    def open_() -> EventLog:
        opened.append(EmbeddedLog.open(tmp_path / "state" / "log.db"))
        return opened[-1]

    assert request.param == "embedded"
    yield open_
    for log in opened:
        log.close()


@pytest.fixture
def log(opener: Opener) -> EventLog:
    return opener()


def test_an_append_lands_with_its_checkpoint(log: EventLog, opener: Opener):
    source = log.open_source("pi")
    source.append(captured("a", "b"), {"file": b"2", "other": b"0"})
    source.append(captured("c"), {"file": b"3", "other": None})
    again = opener()
    assert values(again, Topic.CAPTURED) == ["a", "b", "c"]
    assert again.open_source("pi").checkpoints() == {"file": b"3"}


def test_sources_do_not_see_each_others_checkpoints(log: EventLog):
    log.open_source("one").append([], {"file": b"1"})
    log.open_source("two").append([], {"file": b"2"})
    assert log.open_source("one").checkpoints() == {"file": b"1"}


def test_an_append_that_cannot_be_written_leaves_nothing(log: EventLog):
    source = log.open_source("pi")
    bad = [*captured("a"), NewRecord(Topic.EVENTS, "k", None)]  # type: ignore[arg-type]
    with pytest.raises(LogError):
        source.append(bad, {"file": b"1"})
    assert values(log, Topic.CAPTURED) == []
    assert source.checkpoints() == {}


def test_a_key_keeps_its_order(log: EventLog):
    source = log.open_source("pi")
    for number in range(20):
        source.append(
            [NewRecord(Topic.CAPTURED, f"k{number % 3}", f"{number}.{part}".encode()) for part in range(3)], {}
        )
    of_key = [record.value for record in everything(log, Topic.CAPTURED) if record.key == "k1"]
    assert of_key == [f"{number}.{part}".encode() for number in range(1, 20, 3) for part in range(3)]


def test_records_come_back_as_they_were_given(log: EventLog):
    log.append([NewRecord(Topic.EVENTS, "ключ/\x00", b"\x00\xff")])
    (record,) = everything(log, Topic.EVENTS)
    assert (record.topic, record.key, record.value, record.partition) == (Topic.EVENTS, "ключ/\x00", b"\x00\xff", 0)
    assert record.time_ms > 1_600_000_000_000


def test_topics_have_offsets_of_their_own_from_one(log: EventLog):
    log.append([*captured("a", "b"), NewRecord(Topic.EVENTS, "k", b"e")])
    assert [record.offset for record in everything(log, Topic.CAPTURED)] == [1, 2]
    assert [record.offset for record in everything(log, Topic.EVENTS)] == [1]
    assert (log.end_offset(Topic.CAPTURED), log.end_offset(Topic.SIGNALS)) == (2, 0)


def test_an_offset_is_never_used_again(log: EventLog, opener: Opener):
    log.append(captured("a", "b"))
    log.trim({Topic.CAPTURED: Retention(max_bytes=0)}, now_ms=0)
    assert values(log, Topic.CAPTURED) == []
    log.close()
    again = opener()
    assert again.end_offset(Topic.CAPTURED) == 2
    again.append(captured("c"))
    assert [record.offset for record in everything(again, Topic.CAPTURED)] == [3]


def test_a_read_is_bounded_by_records_and_bytes(log: EventLog):
    log.append(captured("aaaa", "bbbb", "cccc"))
    assert [record.offset for record in log.read(Topic.CAPTURED, 0, 2, ALL)] == [1, 2]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 8)] == [2, 3]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 7)] == [2]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 1)] == [2]
    assert log.read(Topic.CAPTURED, 3, 9, ALL) == []


def test_a_newer_copy_fences_an_older_one(log: EventLog, opener: Opener):
    old = log.open_source("pi")
    old.append(captured("a"), {"file": b"1"})
    new = opener().open_source("pi")
    with pytest.raises(FencedError, match="pi"):
        old.append(captured("x"), {"file": b"9"})
    new.append(captured("b"), {"file": b"2"})
    log.open_source("other").append(captured("c"), {})
    assert values(log, Topic.CAPTURED) == ["a", "b", "c"]
    assert new.checkpoints() == {"file": b"2"}


def test_what_was_read_can_be_read_again(log: EventLog):
    log.append(captured("a", "b"))
    commit(log, 2)
    assert values(log, Topic.CAPTURED) == ["a", "b"]


def test_a_commit_moves_outputs_state_and_offset(log: EventLog, opener: Opener):
    log.append(captured("a", "b"))
    commit(log, 2, records=[NewRecord(Topic.EVENTS, "k", b"e")], state={("normalize", b"id"): b"1"})
    again = opener()
    assert again.committed("normalize", Topic.CAPTURED) == 2
    assert values(again, Topic.EVENTS) == ["e"]
    assert again.state("normalize", [b"id", b"none"]) == {b"id": b"1"}
    assert again.committed("other", Topic.CAPTURED) == 0


def test_a_commit_from_another_place_is_fenced_and_writes_nothing(log: EventLog):
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


def test_a_commit_may_stay_where_it_is(log: EventLog):
    log.append(captured("a"))
    commit(log, 1)
    commit(log, 1, state={("normalize", b"k"): b"v"})
    assert log.committed("normalize", Topic.CAPTURED) == 1
    assert log.state("normalize", [b"k"]) == {b"k": b"v"}


def test_state_is_set_replaced_deleted_and_scanned_in_key_order(log: EventLog):
    put = {("s", key): b"1" for key in (b"b", b"a\xff", b"a", b"a\x00", b"\xff\xff")}
    commit(log, 0, state={**put, ("t", b"a"): b"other"})
    commit(log, 0, state={("s", b"a"): b"2", ("s", b"b"): None, ("s", b"none"): None})
    assert log.state("s", [b"a", b"b"]) == {b"a": b"2"}
    assert log.scan_state("s") == [(b"a", b"2"), (b"a\x00", b"1"), (b"a\xff", b"1"), (b"\xff\xff", b"1")]
    assert log.scan_state("s", b"a", 2) == [(b"a", b"2"), (b"a\x00", b"1")]
    assert log.scan_state("s", b"\xff") == [(b"\xff\xff", b"1")]
    assert log.scan_state("never") == []


def test_many_keys_are_found_at_once(log: EventLog):
    keys = [number.to_bytes(4, "big") for number in range(1_000)]
    commit(log, 0, state={("s", key): key for key in keys})
    assert log.state("s", [*keys, b"none", keys[0]]) == {key: key for key in keys}


def test_a_forgotten_group_begins_again(log: EventLog):
    log.append(captured("a"))
    commit(log, 1)
    log.forget_group("normalize", Topic.CAPTURED)
    assert log.committed("normalize", Topic.CAPTURED) == 0


def test_waiting_ends_with_an_append(log: EventLog):
    assert not log.wait_for_append({(Topic.CAPTURED, 0): 0}, timeout_s=0)
    thread = Thread(target=log.append, args=(captured("a"),))
    thread.start()
    assert log.wait_for_append({(Topic.EVENTS, 0): 0, (Topic.CAPTURED, 0): 0}, timeout_s=60)
    thread.join()
    assert not log.wait_for_append({(Topic.CAPTURED, 0): 1}, timeout_s=0.01)


_APPENDER = """
import sys
from pathlib import Path
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
with EmbeddedLog.open(Path(sys.argv[1])) as log:
    source = log.open_source(sys.argv[2])
    print("open", flush=True)
    for number in range(int(sys.argv[3])):
        source.append([NewRecord(Topic.CAPTURED, sys.argv[2], f"{sys.argv[2]}{number}".encode())],
                      {"n": str(number).encode()})
"""


def test_two_processes_append_at_the_same_time(tmp_path: Path):
    """Both create the same log, and neither loses, repeats or reorders anything."""
    path = tmp_path / "log.db"
    children = [spawn(_APPENDER, path, name, "60") for name in ("one", "two")]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    with EmbeddedLog.open(path) as log:
        for name in ("one", "two"):
            of_name = [record.value for record in everything(log, Topic.CAPTURED) if record.key == name]
            assert of_name == [f"{name}{number}".encode() for number in range(60)]
            assert log.open_source(name).checkpoints() == {"n": b"59"}
        assert [record.offset for record in everything(log, Topic.CAPTURED)] == list(range(1, 121))


def test_waiting_ends_with_another_processs_append(tmp_path: Path):
    path = tmp_path / "log.db"
    with EmbeddedLog.open(path) as log:
        child = spawn(_APPENDER, path, "one", "1")
        assert log.wait_for_append({(Topic.CAPTURED, 0): 0}, timeout_s=60)
        child.communicate(timeout=60)
    assert child.returncode == 0


def test_status_counts_what_was_written(log: EventLog):
    source = log.open_source("pi")
    source.append(captured("ab", key="k"), {"f": b"", "g": b""}, SourceProgress({"emitted": 2}, "2026-01-01T00:00:00Z"))
    source.append(captured("c", key="k"), {"g": None}, SourceProgress({"emitted": 1, "empty": 4}))
    log.open_source("idle")
    log.register_group("signals", Topic.EVENTS)
    after = log.committed("normalize", Topic.CAPTURED)
    log.commit(Commit("normalize", Topic.CAPTURED, 1, after, counts={"emitted": 5}))
    status = log.status()
    topic = next(topic for topic in status.topics if topic.topic is Topic.CAPTURED)
    assert (topic.records, topic.bytes, topic.end_offset) == (2, 5, 2)
    assert topic.oldest_ms == everything(log, Topic.CAPTURED)[0].time_ms
    idle, pi = status.sources
    assert (idle.source, idle.counts, idle.last_append_ms, idle.parts) == ("idle", {}, None, 0)
    assert (pi.counts, pi.last_event_iso, pi.parts) == ({"emitted": 3, "empty": 4}, "2026-01-01T00:00:00Z", 1)
    assert pi.last_append_ms is not None
    assert pi.last_checkpoint_ms is not None
    normalize, signals = status.groups
    assert (normalize.group, normalize.committed, normalize.lag, normalize.counts) == (
        "normalize",
        1,
        1,
        {"emitted": 5},
    )
    assert (signals.group, signals.topic, signals.committed, signals.lag) == ("signals", Topic.EVENTS, 0, 0)
    assert status.size_bytes > 0
