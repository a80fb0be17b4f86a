"""The promises of an `EventLog`, whatever its engine: one suite that every engine must pass.

The mock cluster speaks Kafka's protocol without Java. What it cannot do is skipped by name.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest

from ingest.log.contract import EventLog, FencedError, LogError, NewRecord, Retention, SourceProgress, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import partition_of
from ingest.settings_kafka import KafkaSettings
from tests.support.kafka_log import on_broker, on_mock
from tests.support.log import ALL, captured, everything, spawn, values


@dataclass
class Engine:
    """One log, opened any number of times by this process, or by another one with the code of `opening`."""

    name: str
    open: Callable[[], EventLog]
    opening: str
    opened: list[EventLog] = field(default_factory=list)

    def __call__(self) -> EventLog:
        self.opened.append(self.open())
        return self.opened[-1]


@pytest.fixture(params=["embedded", "mock", "kafka"])
def opener(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Opens the same log, any number of times."""
    if request.param == "embedded":
        path = tmp_path / "state" / "log.db"
        code = (
            "from pathlib import Path\nfrom ingest.log.embedded import EmbeddedLog\n"
            f"log = EmbeddedLog.open(Path({str(path)!r}))"
        )
        engine = Engine("embedded", lambda: EmbeddedLog.open(path), code)
    else:
        engine = _on_kafka(request.param, _kafka_settings(request, monkeypatch))
    yield engine
    for log in engine.opened:
        log.close()


def _kafka_settings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> KafkaSettings:
    prefix = request.getfixturevalue("prefix")
    if request.param == "mock":
        return on_mock(request.getfixturevalue("mock"), prefix, monkeypatch)
    return on_broker(request.getfixturevalue("broker"), prefix)


def _on_kafka(name: str, settings: KafkaSettings) -> Engine:
    code = (
        "from ingest.log.kafka.log import KafkaLog\nfrom ingest.settings_kafka import KafkaSettings\n"
        f"log = KafkaLog.open(KafkaSettings.model_validate_json({settings.model_dump_json()!r}))"
    )
    return Engine(name, lambda: KafkaLog.open(settings), code)


@pytest.fixture
def log(opener: Engine) -> EventLog:
    return opener()


def needs(engine: Engine, what: str) -> None:
    """Skip on the mock, which lacks something."""
    if engine.name == "mock":
        pytest.skip(f"librdkafka's mock cluster {what}")


def partition(log: EventLog, key: str) -> int:
    """Where records of a key are."""
    return partition_of(key, log.partitions(Topic.CAPTURED))


def test_an_append_lands_with_its_checkpoint(log: EventLog, opener: Engine):
    source = log.open_source("pi")
    source.append(captured("a", "b"), {"file": b"2", "other": b"0", "empty": b""})
    source.append(captured("c"), {"file": b"3", "other": None})
    again = opener()
    assert values(again, Topic.CAPTURED) == ["a", "b", "c"]
    assert again.open_source("pi").checkpoints() == {"file": b"3", "empty": b""}


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
    source.append(captured("b"), {"file": b"2"})
    assert values(log, Topic.CAPTURED) == ["b"]


def test_a_key_keeps_its_order(log: EventLog):
    source = log.open_source("pi")
    for number in range(20):
        source.append(
            [NewRecord(Topic.CAPTURED, f"k{number % 3}", f"{number}.{part}".encode()) for part in range(3)], {}
        )
    of_key = [record for record in everything(log, Topic.CAPTURED) if record.key == "k1"]
    assert [record.value for record in of_key] == [
        f"{number}.{part}".encode() for number in range(1, 20, 3) for part in range(3)
    ]
    assert {record.partition for record in of_key} == {partition(log, "k1")}


def test_records_come_back_as_they_were_given(log: EventLog):
    log.append([NewRecord(Topic.EVENTS, "ключ/\x00", b"\x00\xff"), NewRecord(Topic.SIGNALS, "k", b"")])
    (record,) = everything(log, Topic.EVENTS)
    assert (record.topic, record.key, record.value) == (Topic.EVENTS, "ключ/\x00", b"\x00\xff")
    assert record.partition == partition(log, "ключ/\x00")
    assert record.time_ms > 1_600_000_000_000
    assert values(log, Topic.SIGNALS) == [""]


def test_topics_have_offsets_of_their_own_from_one(log: EventLog):
    log.append([*captured("a", "b"), NewRecord(Topic.EVENTS, "pi/thread", b"e")])
    place = partition(log, "pi/thread")
    assert [record.offset for record in everything(log, Topic.CAPTURED)] == [1, 2]
    assert [record.offset for record in everything(log, Topic.EVENTS)] == [1]
    assert (log.end_offset(Topic.CAPTURED, place), log.end_offset(Topic.SIGNALS, place)) == (2, 0)


def test_the_end_is_the_last_records_offset(log: EventLog):
    """Whatever stands behind it, such as the marks of transactions: a group that has read all has reached the end."""
    place = partition(log, "pi/thread")
    for number in range(5):
        log.append(captured(f"{number}"))
        assert log.end_offset(Topic.CAPTURED, place) == everything(log, Topic.CAPTURED)[-1].offset


def test_there_are_no_partitions_but_those(log: EventLog):
    for wrong in (-1, log.partitions(Topic.CAPTURED)):
        with pytest.raises(LogError, match="partition"):
            log.read(Topic.CAPTURED, 0, 1, ALL, wrong)
        with pytest.raises(LogError, match="partition"):
            log.end_offset(Topic.CAPTURED, wrong)


def test_what_is_old_goes_and_an_offset_is_never_used_again(log: EventLog, opener: Engine):
    needs(opener, "lists no groups and deletes no records")
    log.append(captured("a", "b"))
    place, ms = partition(log, "pi/thread"), int(time.time() * 1000)
    assert log.trim({Topic.CAPTURED: Retention(max_age_s=60)}, now_ms=ms).records == {Topic.CAPTURED: 0}
    log.trim({Topic.CAPTURED: Retention(max_age_s=60)}, now_ms=ms + 120_000)
    assert values(log, Topic.CAPTURED) == []
    end = log.end_offset(Topic.CAPTURED, place)
    log.close()
    again = opener()
    assert again.end_offset(Topic.CAPTURED, place) == end >= 2
    again.append(captured("c"))
    assert [record.offset > end for record in everything(again, Topic.CAPTURED)] == [True]


def test_what_a_group_has_yet_to_read_does_not_go(log: EventLog, opener: Engine):
    needs(opener, "lists no groups and deletes no records")
    log.append(captured("a"))
    log.append(captured("b"))
    first, second = everything(log, Topic.CAPTURED)
    later = int(time.time() * 1000) + 120_000
    log.register_group("triage", Topic.CAPTURED)
    log.trim({Topic.CAPTURED: Retention(max_age_s=60)}, later)
    assert values(log, Topic.CAPTURED) == ["a", "b"]
    log.commit_offset("triage", Topic.CAPTURED, first.offset, first.partition)
    log.trim({Topic.CAPTURED: Retention(max_age_s=60)}, later)
    assert everything(log, Topic.CAPTURED) == [second]
    log.trim({Topic.CAPTURED: Retention(max_age_s=60)}, later, ignore_groups=["triage"])
    assert values(log, Topic.CAPTURED) == []


def test_a_read_is_bounded_by_records_and_bytes(log: EventLog):
    log.append(captured("aaaa", "bbbb", "cccc"))
    place = partition(log, "pi/thread")
    assert [record.offset for record in log.read(Topic.CAPTURED, 0, 2, ALL, place)] == [1, 2]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 8, place)] == [2, 3]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 7, place)] == [2]
    assert [record.offset for record in log.read(Topic.CAPTURED, 1, 9, 1, place)] == [2]
    assert log.read(Topic.CAPTURED, 3, 9, ALL, place) == []
    assert log.read(Topic.CAPTURED, 300, 9, ALL, place) == []
    assert [record.offset for record in log.read(Topic.CAPTURED, 2, 9, ALL, place)] == [3]


def test_a_newer_copy_fences_an_older_one(log: EventLog, opener: Engine):
    needs(opener, "fences no transactional id")
    old = log.open_source("pi")
    old.append(captured("a"), {"file": b"1"})
    new = opener().open_source("pi")
    for _ in range(2):
        with pytest.raises(FencedError, match="pi"):
            old.append(captured("x"), {"file": b"9"})
    new.append(captured("b"), {"file": b"2"})
    log.open_source("other").append(captured("c"), {})
    assert values(log, Topic.CAPTURED) == ["a", "b", "c"]
    assert new.checkpoints() == {"file": b"2"}


def test_a_newer_opening_in_the_same_process_fences_too(log: EventLog):
    old = log.open_source("pi")
    new = log.open_source("pi")
    new.append(captured("a"), {"file": b"1"})
    with pytest.raises(FencedError, match="pi"):
        old.append(captured("x"), {"file": b"9"})
    assert new.checkpoints() == {"file": b"1"}


def test_what_was_read_can_be_read_again(log: EventLog):
    log.append(captured("a", "b"))
    log.commit_offset("normalize", Topic.CAPTURED, 2, partition(log, "pi/thread"))
    assert values(log, Topic.CAPTURED) == values(log, Topic.CAPTURED) == ["a", "b"]


def test_a_group_goes_forward_only(log: EventLog):
    log.append(captured("a", "b", "c"))
    place = partition(log, "pi/thread")
    assert log.committed("triage", Topic.CAPTURED, place) == 0
    log.register_group("triage", Topic.CAPTURED)
    log.commit_offset("triage", Topic.CAPTURED, 2, place)
    log.commit_offset("triage", Topic.CAPTURED, 1, place)
    log.register_group("triage", Topic.CAPTURED)
    assert log.committed("triage", Topic.CAPTURED, place) == 2
    assert log.committed("other", Topic.CAPTURED, place) == 0


def test_a_forgotten_group_begins_again(log: EventLog, opener: Engine):
    needs(opener, "knows no OffsetDelete")
    log.append(captured("a"))
    place = partition(log, "pi/thread")
    log.commit_offset("triage", Topic.CAPTURED, 1, place)
    log.commit_offset("triage", Topic.EVENTS, 1, place)
    log.forget_group("triage", Topic.CAPTURED)
    assert log.committed("triage", Topic.CAPTURED, place) == 0
    assert log.committed("triage", Topic.EVENTS, place) == 1
    log.forget_group("never", Topic.CAPTURED)


def test_waiting_ends_with_an_append(log: EventLog):
    place = partition(log, "pi/thread")
    assert not log.wait_for_append({(Topic.CAPTURED, place): 0}, timeout_s=0)
    thread = Thread(target=log.append, args=(captured("a"),))
    thread.start()
    assert log.wait_for_append({(Topic.EVENTS, place): 0, (Topic.CAPTURED, place): 0}, timeout_s=60)
    thread.join()
    assert not log.wait_for_append({(Topic.CAPTURED, place): 1}, timeout_s=0.01)


_APPENDER = """
import sys
from ingest.log.contract import NewRecord, Topic
with log:
    source = log.open_source(sys.argv[1])
    print("open", flush=True)
    for number in range(int(sys.argv[2])):
        source.append([NewRecord(Topic.CAPTURED, sys.argv[1], f"{sys.argv[1]}{number}".encode())],
                      {"n": str(number).encode()})
"""


def test_two_processes_append_at_the_same_time(opener: Engine):
    """Both open the same log at once, and neither loses, repeats or reorders anything."""
    children = [spawn(f"{opener.opening}\n{_APPENDER}", name, "60") for name in ("one", "two")]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    log = opener()
    for name in ("one", "two"):
        of_name = [record for record in everything(log, Topic.CAPTURED) if record.key == name]
        assert [record.value for record in of_name] == [f"{name}{number}".encode() for number in range(60)]
        assert [record.offset for record in of_name] == sorted({record.offset for record in of_name})
        assert log.open_source(name).checkpoints() == {"n": b"59"}
    assert len(everything(log, Topic.CAPTURED)) == 120


def test_waiting_ends_with_another_processs_append(opener: Engine):
    log = opener()
    child = spawn(f"{opener.opening}\n{_APPENDER}", "one", "1")
    assert log.wait_for_append({(Topic.CAPTURED, partition(log, "one")): 0}, timeout_s=60)
    child.communicate(timeout=60)
    assert child.returncode == 0


def test_status_tells_of_topics_sources_and_groups(log: EventLog, opener: Engine):
    needs(opener, "lists no groups")
    source = log.open_source("pi")
    source.append(captured("ab", key="k"), {"f": b"", "g": b""}, SourceProgress({"emitted": 2}, "2026-01-01T00:00:00Z"))
    source.append(captured("c", key="k"), {"g": None}, SourceProgress({"emitted": 1, "empty": 4}))
    log.open_source("idle")
    place, first = partition(log, "k"), everything(log, Topic.CAPTURED)[0]
    log.register_group("signals", Topic.EVENTS)
    log.commit_offset("normalize", Topic.CAPTURED, first.offset, place)
    status = log.status()
    topic = next(topic for topic in status.topics if topic.topic is Topic.CAPTURED)
    assert topic.end_offset == sum(log.end_offset(Topic.CAPTURED, each) for each in range(log.partitions(topic.topic)))
    assert (topic.records == 2) if status.exact else (topic.records >= 2)
    assert topic.oldest_ms == first.time_ms
    idle, pi = status.sources
    assert (idle.source, idle.counts, idle.last_append_ms, idle.parts) == ("idle", {}, None, 0)
    assert (pi.counts, pi.last_event_iso, pi.parts) == ({"emitted": 3, "empty": 4}, "2026-01-01T00:00:00Z", 1)
    assert pi.last_append_ms is not None
    assert pi.last_checkpoint_ms is not None
    groups = {(group.group, group.topic, group.partition): group for group in status.groups}
    normalize, signals = groups["normalize", Topic.CAPTURED, place], groups["signals", Topic.EVENTS, place]
    assert (normalize.committed, normalize.lag >= 1, normalize.last_commit_ms is not None) == (1, True, True)
    assert (signals.committed, signals.lag) == (0, 0)


def test_status_gives_sizes_where_the_engine_tells(log: EventLog, opener: Engine):
    needs(opener, "lists no groups")
    log.append(captured("ab", key="k"))
    status = log.status()
    captured_bytes = next(topic.bytes for topic in status.topics if topic.topic is Topic.CAPTURED)
    if opener.name == "embedded":
        assert captured_bytes == 3
        assert status.size_bytes
    else:
        assert (captured_bytes, status.size_bytes) == (None, None)


def test_a_log_that_works_has_no_problems(log: EventLog, opener: Engine):
    needs(opener, "tells no configuration of a topic")
    assert log.problems() == []
