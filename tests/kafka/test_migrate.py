"""`session-ingest migrate` moves a log whole: nothing missing, nothing twice, however often it is cut off."""

import os
import random
import subprocess
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ingest.commands.operations.migrate import run_migrate
from ingest.commands.operations.replay import ReplayRequest, run_replay
from ingest.export_selection import Selection
from ingest.locks import DAEMON_LOCK, try_lock
from ingest.log.contract import LogError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.kafka.log import KafkaLog
from ingest.migration import move
from ingest.settings import Settings
from tests.support.commands import INGEST, environment, wait_for
from tests.support.moves import everything, fill, must_be_moved, record
from tests.support.worker import declare, settings_of
from tests.support.worker_outcome import event_ids
from tests.support.worker_process import Fleet

PARTITIONS = 3


@pytest.fixture
def settings(broker, prefix: str, tmp_path: Path) -> Settings:
    """An installation with an empty Kafka beside it."""
    kafka = settings_of(broker.bootstrap, prefix, PARTITIONS)
    declare(kafka)
    return Settings(state_dir=tmp_path / "state" / "session-triage", kafka=kafka)


def migrate(settings: Settings, *, dry_run: bool = False) -> str:
    out = StringIO()
    run_migrate(settings, Console(file=out, width=200), dry_run=dry_run)
    return out.getvalue()


def test_everything_moves(settings: Settings, monkeypatch) -> None:
    """Over many transactions; and the log it comes from is as it was."""
    monkeypatch.setattr(move, "BATCH_RECORDS", 7)
    fill(settings.log_path, threads=7, rounds=6)
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        before = everything(log)
    told = migrate(settings)
    assert 'engine = "kafka"' in told
    must_be_moved(settings)
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        assert everything(log) == before
    assert "was moved" in migrate(settings)
    must_be_moved(settings)


def test_a_dry_run_moves_nothing(settings: Settings) -> None:
    fill(settings.log_path, threads=2, rounds=2)
    told = migrate(settings, dry_run=True)
    assert "conversations.events: 8 records" in told
    assert "source pi: 2 checkpoints" in told
    with KafkaLog.open(settings.kafka) as log:
        assert not any(found for found in everything(log).values())


def test_killed_at_any_point_it_goes_on_where_it_was(settings: Settings, tmp_path: Path) -> None:
    """With `kill -9`, again and again, until a run comes to its end."""
    fill(settings.log_path, threads=30, rounds=30)
    variables = {
        "SESSION_INGEST__KAFKA__BOOTSTRAP_SERVERS": settings.kafka.bootstrap_servers[0],
        "SESSION_INGEST__KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
        "SESSION_INGEST__KAFKA__PARTITIONS": str(PARTITIONS),
        "SESSION_INGEST__KAFKA__COMPRESSION": "none",
    }
    code = "from ingest.migration import move; move.BATCH_RECORDS = 40; from ingest.cli import main; main()"
    dice, kills = random.Random(4), 0
    deadline = time.monotonic() + 180
    while True:
        process = subprocess.Popen(
            [Path(INGEST).with_name("python"), "-c", code, "migrate"],
            env={**environment(tmp_path, **variables), "PYTHONPATH": str(Path.cwd())},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        try:
            _, errors = process.communicate(timeout=dice.uniform(1.0, 4.0) if kills < 6 else 100)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            assert time.monotonic() < deadline
            continue
        assert process.returncode == 0, errors.decode()
        break
    print(f"killed {kills} times")  # noqa: T201 - how hard the test was
    assert kills >= 2
    must_be_moved(settings)


def test_a_broker_killed_meanwhile_costs_nothing(settings: Settings, broker, monkeypatch) -> None:
    monkeypatch.setattr(move, "BATCH_RECORDS", 20)
    fill(settings.log_path, threads=10, rounds=20)
    steps = 0
    steps_of = move.Move._steps

    def with_kills(self):
        nonlocal steps
        for step in steps_of(self):
            steps += 1
            if steps == 8:
                broker.kill()
                broker.start()
            yield step

    monkeypatch.setattr(move.Move, "_steps", with_kills)
    migrate(settings)
    assert steps > 8
    must_be_moved(settings)


def test_what_waits_is_processed_first(settings: Settings) -> None:
    fill(settings.log_path, threads=2, rounds=2)
    with EmbeddedLog.open(settings.log_path) as log:
        log.append([record(1, 99)])
    assert "1 records wait for the processors" in migrate(settings)
    must_be_moved(settings)


def test_it_is_refused_while_a_daemon_runs(settings: Settings) -> None:
    fill(settings.log_path, threads=1, rounds=1)
    lock = try_lock(settings.state_dir / DAEMON_LOCK)
    assert lock is not None
    with lock, pytest.raises(LogError, match=f"process {os.getpid()} works on the log; stop it"):
        migrate(settings)


def test_it_is_refused_where_kafka_has_records_of_its_own(settings: Settings) -> None:
    fill(settings.log_path, threads=1, rounds=1)
    with KafkaLog.open(settings.kafka) as log:
        log.append([NewRecord(Topic.SIGNALS, "k", b"{}")])
    with pytest.raises(LogError, match=r"records of its own \(1 of conversations.signals\)"):
        migrate(settings)


def test_without_a_log_or_topics_it_says_so(broker, prefix: str, tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path / "state", kafka=settings_of(broker.bootstrap, prefix))
    with pytest.raises(LogError, match=str(settings.log_path)):
        migrate(settings)
    fill(settings.log_path, threads=1, rounds=1)
    with pytest.raises(LogError, match="session-ingest topics --create"):
        migrate(settings)


def test_workers_know_what_passed(settings: Settings, tmp_path: Path) -> None:
    """All that was captured is replayed on Kafka and something new is captured: only the new gives events."""
    fill(settings.log_path, threads=5, rounds=4)
    migrate(settings)
    before = event_ids(settings.kafka)
    fleet = Fleet(settings.kafka, tmp_path)
    fleet.add()
    request = ReplayRequest("beginning", Selection(), dry_run=False)
    told = run_replay(request, settings.model_copy(update={"engine": "kafka"}), Console(file=StringIO()))
    assert (told.records, told.passed_over) == (20, {"unreadable": 1})
    with KafkaLog.open(settings.kafka) as log:
        log.append([record(2, 99)])
    try:
        wait_for("events", lambda: len(event_ids(settings.kafka)) >= len(before) + 2, 60)
        time.sleep(2)  # whatever would come twice, comes
    finally:
        fleet.end()
    found = event_ids(settings.kafka)
    assert len(found) == len(set(found)) == len(before) + 2
