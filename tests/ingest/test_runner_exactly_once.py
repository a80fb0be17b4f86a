"""The embedded runner gives each input's outputs exactly once, whatever fails in between."""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.streams import lane
from ingest.streams.embedded import EmbeddedRunner
from schemas.captured import RejectedRecord
from tests.support.log import captured, commit, everything, values
from tests.support.runner import Clock, FailingLog, Upper


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog.open(tmp_path / "log.db") as opened:
        yield opened


def counts(log: EmbeddedLog, group: str) -> dict[str, int]:
    (found,) = [dict(status.counts) for status in log.status().groups if status.group == group]
    return found


def test_each_input_gives_its_output_once(log: EmbeddedLog):
    runner = EmbeddedRunner(log, [Upper()])
    log.append(captured("a", "b", "a"))
    assert not runner.caught_up()
    assert runner.lag() == {"upper": 3}
    assert runner.run_once() == 3
    assert runner.caught_up()
    log.append(captured("b", "c"))
    runner.run_until_caught_up()
    assert runner.run_once() == 0
    assert values(log, Topic.EVENTS) == ["1 A", "2 B", "3 C"]
    assert counts(log, "upper") == {"seen": 5, "emitted": 3, "duplicate": 2}


def test_a_restart_goes_on_where_the_last_run_ended(log: EmbeddedLog):
    log.append(captured("a"))
    EmbeddedRunner(log, [Upper()]).run_until_caught_up()
    log.append(captured("a", "b"))
    EmbeddedRunner(log, [Upper()]).run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A", "2 B"]


def test_batches_are_bounded_by_records_and_bytes(log: EmbeddedLog, monkeypatch):
    monkeypatch.setattr(lane, "BATCH_RECORDS", 3)
    monkeypatch.setattr(lane, "BATCH_BYTES", 8)
    upper = Upper()
    log.append(captured("a", "b", "c", "d", "eeeeee", "ff", "g" * 99, "h"))
    EmbeddedRunner(log, [upper]).run_until_caught_up()
    assert upper.batches == [3, 2, 1, 1, 1]
    assert len(values(log, Topic.EVENTS)) == 8


def test_chained_processors_work_in_turns(log: EmbeddedLog):
    second = Upper("second", Topic.EVENTS, Topic.SIGNALS)
    log.append(captured("a", "b"))
    runner = EmbeddedRunner(log, [Upper(), second])
    runner.run_until_caught_up()
    assert values(log, Topic.SIGNALS) == ["1 1 A", "2 2 B"]
    assert runner.caught_up()


@pytest.mark.parametrize("step", ["before read", "before state", "before committed", "before commit", "after commit"])
def test_a_failure_at_any_step_costs_and_repeats_nothing(log: EmbeddedLog, monkeypatch, step: str):
    """The first time a step is reached it fails, as a kill there would; a new runner takes over."""
    monkeypatch.setattr(lane, "BATCH_RECORDS", 2)
    log.append(captured("a", "b", "a", "c", "d"))
    failed = 0
    for skipped in range(3):
        seen: list[str] = []

        def fails(name: str, seen=seen, skipped=skipped) -> bool:
            seen.append(name)
            return name == step and seen.count(step) == skipped + 1

        try:
            EmbeddedRunner(FailingLog(log, fails), [Upper()]).run_until_caught_up()
        except LogError:
            failed += 1
    assert failed
    EmbeddedRunner(log, [Upper()]).run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A", "2 B", "3 C", "4 D"]
    assert counts(log, "upper") == {"seen": 5, "emitted": 4, "duplicate": 1}


def test_failures_at_random_change_nothing(log: EmbeddedLog, monkeypatch):
    """One runner that goes on after each failure ends where one without failures does."""
    monkeypatch.setattr(lane, "BATCH_RECORDS", 3)
    chance = random.Random(5)
    failing = FailingLog(log, lambda _name: chance.random() < 0.2)
    runner = EmbeddedRunner(failing, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)])
    for number in range(60):
        log.append(captured(f"{number % 40}"))
        with suppress(LogError):
            runner.run_once()
    while not (log.committed("upper", Topic.CAPTURED) == 60 and log.committed("second", Topic.EVENTS) == 40):
        with suppress(LogError):
            runner.run_once()
    assert values(log, Topic.EVENTS) == [f"{number + 1} {number}" for number in range(40)]
    assert values(log, Topic.SIGNALS) == [f"{number + 1} {number + 1} {number}" for number in range(40)]
    assert counts(log, "upper") == {"seen": 60, "emitted": 40, "duplicate": 20}


def test_one_processors_failure_does_not_stop_the_others(log: EmbeddedLog):
    log.append([*captured("a"), NewRecord(Topic.EVENTS, "k", b"e")])
    failing = FailingLog(log, lambda name: name == "before state" and next(states))
    states = iter([True, False])
    runner = EmbeddedRunner(failing, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)])
    with pytest.raises(LogError, match="failed before state"):
        runner.run_once()
    assert (values(log, Topic.EVENTS), values(log, Topic.SIGNALS)) == (["e"], ["1 E"])


def test_a_second_runner_does_no_harm(log: EmbeddedLog):
    """The one that comes second is fenced, reads its offset again, and goes on from there."""
    one, two = EmbeddedRunner(log, [Upper()]), EmbeddedRunner(log, [Upper()])
    for value in "abcdef":
        log.append(captured(value))
        one.run_once()
        two.run_once()
        two.run_once()
    log.append(captured("g"))
    two.run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A", "2 B", "3 C", "4 D", "5 E", "6 F", "7 G"]


def test_a_replay_gives_the_same(log: EmbeddedLog, tmp_path: Path):
    log.append(captured("b", "a", "poison", "b", "c"))
    EmbeddedRunner(log, [Upper()]).run_until_caught_up()
    with EmbeddedLog.open(tmp_path / "again.db") as again:
        for record in everything(log, Topic.CAPTURED):
            again.append([NewRecord(Topic.CAPTURED, record.key, record.value)])
            EmbeddedRunner(again, [Upper()]).run_until_caught_up()
        assert values(again, Topic.EVENTS) == values(log, Topic.EVENTS)
        assert again.scan_state("upper") == log.scan_state("upper")


def test_a_poisoned_record_is_rejected_and_costs_no_other(log: EmbeddedLog):
    log.append(captured("a", "b", "poison", "a", "c", key="pi/t"))
    runner = EmbeddedRunner(log, [Upper()])
    runner.run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A", "2 B", "3 C"]
    assert log.state("upper", [b"poison"]) == {}
    (record,) = everything(log, Topic.REJECTED)
    rejected = msgspec.json.decode(record.value, type=RejectedRecord)
    assert record.key == "pi/t"
    assert (rejected.source, rejected.stage, rejected.reason) == ("upper", "processing", "processor-error")
    assert (rejected.where, rejected.sample) == ("conversations.captured 3", b"poison")
    assert "ZeroDivisionError: a fault in the program" in rejected.detail
    assert counts(log, "upper") == {"seen": 5, "emitted": 3, "duplicate": 1, "rejected": 1, "failed": 1}
    log.append(captured("d"))
    runner.run_until_caught_up()
    assert values(log, Topic.EVENTS)[-1] == "4 D"


def test_nothing_but_poison_does_not_block(log: EmbeddedLog):
    log.append(captured("poison 1", "poison 2"))
    runner = EmbeddedRunner(log, [Upper()])
    runner.run_until_caught_up()
    assert len(everything(log, Topic.REJECTED)) == 2
    assert runner.caught_up()


def test_a_large_poisoned_record_leaves_a_bounded_sample(log: EmbeddedLog):
    log.append(captured("poison" + "x" * 300_000))
    EmbeddedRunner(log, [Upper()]).run_until_caught_up()
    (record,) = everything(log, Topic.REJECTED)
    rejected = msgspec.json.decode(record.value, type=RejectedRecord)
    assert (len(rejected.sample), rejected.size_bytes) == (65_536, 300_006)


def test_a_tick_comes_at_a_bounded_rate(log: EmbeddedLog):
    clock, upper = Clock(), Upper()
    runner = EmbeddedRunner(log, [upper], clock=clock)
    start = clock.now
    for _ in range(12):
        runner.run_once()
        clock.now += 1_000
    assert upper.ticks == [start, start + 5_000, start + 10_000]


def test_a_tick_moves_state_and_outputs_but_not_the_offset(log: EmbeddedLog):
    clock = Clock()
    runner = EmbeddedRunner(log, [Upper()], clock=clock)
    log.append(captured("a"))
    runner.run_until_caught_up()
    commit_state = {("upper", b"due 1"): b"", ("upper", b"due 2"): b""}
    commit(log, 1, group="upper", state=commit_state)
    clock.now += 5_000
    runner.run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A", "tick due 1", "tick due 2"]
    assert log.scan_state("upper", b"due") == []
    assert log.committed("upper", Topic.CAPTURED) == 1
    clock.now += 5_000
    runner.run_until_caught_up()
    assert len(values(log, Topic.EVENTS)) == 3


def test_a_tick_waits_while_there_is_more_to_read_but_not_for_ever(log: EmbeddedLog):
    clock, upper = Clock(), Upper()
    runner = EmbeddedRunner(log, [upper], clock=clock)
    runner.run_once()
    for number in range(30):
        clock.now += 5_000
        log.append(captured(f"{number}"))
        runner.run_once()
    waited = [later - earlier for earlier, later in zip(upper.ticks, upper.ticks[1:], strict=False)]
    assert waited == [65_000, 65_000]


def test_a_tick_that_fails_costs_neither_the_stream_nor_the_state(log: EmbeddedLog):
    clock, upper = Clock(), Upper()
    upper.poison_in_tick = True
    runner = EmbeddedRunner(log, [upper], clock=clock)
    log.append(captured("a"))
    runner.run_until_caught_up()
    assert values(log, Topic.EVENTS) == ["1 A"]
    assert log.state("upper", [b"lost"]) == {}
    assert counts(log, "upper")["failed"] == 1


def test_a_group_protects_its_records_from_the_start(log: EmbeddedLog):
    EmbeddedRunner(log, [Upper()])
    assert [(group.group, group.committed) for group in log.status().groups] == [("upper", 0)]
