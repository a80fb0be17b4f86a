"""Retention removes the oldest records by age or size, never unread ones, and what was remembered of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.log import retention
from ingest.log.contract import NewRecord, Retention, Topic
from ingest.log.embedded import EmbeddedLog
from tests.support.log import captured, commit, values

DAY_MS = 24 * 3600 * 1000


class Clock:
    """A clock that stands until it is set, in Unix milliseconds."""

    now = 100 * DAY_MS

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> Iterator[EmbeddedLog]:
    with EmbeddedLog.open(tmp_path / "log.db", clock=clock) as opened:
        yield opened


def days(log: EmbeddedLog, clock: Clock, count: int, topic: Topic = Topic.CAPTURED) -> None:
    """A record a day."""
    for number in range(count):
        log.append([NewRecord(topic, "k", f"{number:03}".encode())])
        clock.now += DAY_MS


def test_without_a_policy_everything_stays(log: EmbeddedLog, clock: Clock):
    days(log, clock, 3)
    for policies in ({}, {Topic.CAPTURED: Retention()}):
        log.trim(policies, clock.now)
    assert values(log, Topic.CAPTURED) == ["000", "001", "002"]


def test_old_records_go(log: EmbeddedLog, clock: Clock):
    days(log, clock, 10)
    trimmed = log.trim({Topic.CAPTURED: Retention(max_age_s=3 * 24 * 3600)}, clock.now)
    assert trimmed.records == {Topic.CAPTURED: 7}
    assert values(log, Topic.CAPTURED) == ["007", "008", "009"]


def test_the_oldest_go_when_a_topic_is_too_large(log: EmbeddedLog, clock: Clock):
    days(log, clock, 10)
    size_of_four = 4 * len("k000")
    log.trim({Topic.CAPTURED: Retention(max_bytes=size_of_four)}, clock.now)
    assert values(log, Topic.CAPTURED) == ["006", "007", "008", "009"]
    topic = log.status().topics[0]
    assert (topic.records, topic.bytes, topic.end_offset) == (4, size_of_four, 10)
    assert topic.oldest_ms == clock.now - 4 * DAY_MS


def test_other_topics_are_left_alone(log: EmbeddedLog, clock: Clock):
    days(log, clock, 2)
    days(log, clock, 2, Topic.EVENTS)
    log.trim({Topic.CAPTURED: Retention(max_bytes=0)}, clock.now)
    assert (values(log, Topic.CAPTURED), values(log, Topic.EVENTS)) == ([], ["000", "001"])


def test_unread_records_stay(log: EmbeddedLog, clock: Clock):
    """The group that is furthest behind decides, running or not."""
    days(log, clock, 10)
    commit(log, 8, group="fast")
    commit(log, 3, group="stopped")
    everything = {Topic.CAPTURED: Retention(max_bytes=0)}
    log.trim(everything, clock.now)
    assert values(log, Topic.CAPTURED)[0] == "003"
    log.trim(everything, clock.now, ignore_groups=["stopped"])
    assert values(log, Topic.CAPTURED)[0] == "008"
    log.forget_group("stopped", Topic.CAPTURED)
    log.forget_group("fast", Topic.CAPTURED)
    log.trim(everything, clock.now)
    assert values(log, Topic.CAPTURED) == []


def test_a_group_is_protected_before_its_first_commit(log: EmbeddedLog, clock: Clock):
    log.register_group("new", Topic.CAPTURED)
    days(log, clock, 2)
    assert log.trim({Topic.CAPTURED: Retention(max_bytes=0)}, clock.now).records == {Topic.CAPTURED: 0}
    assert values(log, Topic.CAPTURED) == ["000", "001"]


def test_many_records_go_in_slices(log: EmbeddedLog, clock: Clock, monkeypatch):
    monkeypatch.setattr(retention, "_SLICE_RECORDS", 7)
    log.append(captured(*(f"{number}" for number in range(100))))
    assert log.trim({Topic.CAPTURED: Retention(max_bytes=0)}, clock.now).records == {Topic.CAPTURED: 100}
    assert values(log, Topic.CAPTURED) == []


def test_the_file_shrinks(log: EmbeddedLog, clock: Clock):
    for _ in range(20):
        log.append(captured("x" * 100_000))
    log.trim({Topic.CAPTURED: Retention(max_bytes=0)}, clock.now)
    log.close()
    assert log.path.stat().st_size < 500_000


def test_ids_of_events_that_left_the_log_are_forgotten(log: EmbeddedLog, clock: Clock, monkeypatch):
    """Neither those of events that are still there, nor other stores, whether or not they are merged already."""
    monkeypatch.setattr("ingest.log.state.MERGE_ROWS", 8)
    monkeypatch.setattr("ingest.log.state.SLICE_ROWS", 5)
    monkeypatch.setattr(retention, "_SLICE_KEYS", 3)
    for number in range(20):
        record = NewRecord(Topic.EVENTS, "k", f"{number}".encode())
        value = clock.now.to_bytes(8, "big") + b"digest__"
        log.append(captured(f"{number}"))
        state = {("normalize", bytes([number])): value, ("signals", bytes([number])): value}
        commit(log, number + 1, records=[record], state=state)
        clock.now += DAY_MS
    policy = Retention(max_age_s=5 * 24 * 3600)
    trimmed = log.trim({Topic.CAPTURED: policy, Topic.EVENTS: policy}, clock.now)
    assert values(log, Topic.EVENTS) == ["15", "16", "17", "18", "19"]
    kept = [key[0] for key, _ in log.scan_state("normalize")]
    assert trimmed.remembered == 20 - len(kept) > 0
    # A day of grace: 14 was processed a day before the oldest event that stays.
    assert [key for key in kept if key >= 14] == [14, 15, 16, 17, 18, 19]
    assert len(log.scan_state("signals")) == 20


def test_ids_stay_while_captured_records_could_bring_the_events_again(log: EmbeddedLog, clock: Clock, monkeypatch):
    monkeypatch.setattr("ingest.log.state.MERGE_ROWS", 1)
    for number in range(4):
        log.append(captured(f"{number}"))
        value = clock.now.to_bytes(8, "big") + b"digest__"
        event = NewRecord(Topic.EVENTS, "k", b"e")
        commit(log, number + 1, records=[event], state={("normalize", bytes([number])): value})
        clock.now += 10 * DAY_MS
    assert log.trim({Topic.EVENTS: Retention(max_bytes=0)}, clock.now).remembered == 0
    assert len(log.scan_state("normalize")) == 4
