"""`session-ingest status` on Kafka shows how far the workers are behind: for each partition, and over all of them."""

import json

import pytest

from ingest.log.contract import NewRecord, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import partition_of
from tests.support.daemon import Home, eventually
from tests.support.kafka_log import variables_of
from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_outcome import wait_for_events
from tests.support.worker_process import Fleet

PARTITIONS = 3


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix, PARTITIONS)
    declare(made)
    return made


@pytest.fixture
def home(settings, tmp_path):
    return Home(tmp_path / "home", variables_of(settings))


def workers_of(home: Home) -> dict:
    """What is told of the workers."""
    answer = home.command("status", "--json")
    assert answer.returncode == 0, answer.stderr
    (found,) = [view for view in json.loads(answer.stdout)["processors"] if view["name"] == "process"]
    return found


def lags(view: dict) -> dict[int, int]:
    return {each["partition"]: each["lag"] for each in view["partitions"]}


def test_what_waits_is_shown_before_a_worker_ran_while_none_runs_and_once_all_is_done(settings, home, tmp_path):
    capturer, fleet = Capturer(settings), Fleet(settings, tmp_path)
    threads = [f"t{number}" for number in range(12)]
    expected = dict.fromkeys(range(PARTITIONS), 0)
    for thread in threads:
        expected[partition_of(f"pi/{thread}", PARTITIONS)] += 1
    with capturer.transaction():
        for thread in threads:
            capturer.events(thread, 2)
    assert lags(eventually(lambda: (view := workers_of(home))["lag"] == len(threads) and view, 60)) == expected
    try:
        worker = fleet.add()
        wait_for_events(settings, capturer.count)
        done = eventually(lambda: (view := workers_of(home))["lag"] == 0 and view, 120)
        assert all(each["committed"] >= each["endOffset"] for each in done["partitions"])
        assert worker.stop() >= 0
    finally:
        fleet.end()
    with capturer.transaction():
        capturer.events(threads[0], 1)
    busy = partition_of(f"pi/{threads[0]}", PARTITIONS)
    waiting = eventually(lambda: (view := workers_of(home))["lag"] and view, 120)
    assert {number for number, lag in lags(waiting).items() if lag} == {busy}
    assert waiting["lagSeconds"] >= 0
    line = next(line for line in home.command("status").stdout.splitlines() if line.startswith("process "))
    assert line.split()[:3] == ["process", "conversations.captured", str(waiting["lag"])]
    assert line.split()[-2:] == ["-", "-"], "what workers made is in their metrics; here nobody knows it"


def test_a_partition_in_which_a_group_has_committed_nothing_waits_as_a_whole(settings):
    with KafkaLog.open(settings) as log:
        log.append([NewRecord(Topic.EVENTS, f"pi/t{number}", b"{}") for number in range(12)])
        log.register_group("reader", Topic.EVENTS)
        log.commit_offset("half", Topic.EVENTS, log.end_offset(Topic.EVENTS, 0), 0)
        found = {(group.group, group.partition): group.lag for group in log.status().groups}
        ends = [log.end_offset(Topic.EVENTS, number) for number in range(PARTITIONS)]
    assert [found["reader", number] for number in range(PARTITIONS)] == ends
    assert [found["half", number] for number in range(PARTITIONS)] == [0, *ends[1:]]
