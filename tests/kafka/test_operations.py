"""`replay` and `rejected` beside running workers: what they append goes through, once, and what was wrong is mended."""

import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ingest.commands.operations.replay import ReplayRequest, run_replay
from ingest.commands.operations.retry import RetryRequest, retry_rejected
from ingest.export_selection import Reading, Selection
from ingest.log.contract import NewRecord, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.log.walk import walk
from ingest.processors import drafts, signals
from ingest.processors.chain import processors
from ingest.rejections import Choice, rejections
from ingest.settings import Settings
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.chain import Chain, Work
from ingest.streams.faust.stores import MemoryStore
from schemas.captured import Origin, encode_record
from tests.support.commands import INGEST, TRIAGE, run
from tests.support.kafka_log import settle
from tests.support.processors import captured, record_of
from tests.support.worker import declare, settings_of
from tests.support.worker_outcome import wait_for_events
from tests.support.worker_process import Fleet


@pytest.fixture
def settings(broker, prefix: str, tmp_path: Path) -> Settings:
    kafka = settings_of(broker.bootstrap, prefix, 3)
    declare(kafka)
    return Settings(state_dir=tmp_path / "state", engine="kafka", kafka=kafka)


def new(*texts: str, thread: str = "t-1", role: str = "user") -> NewRecord:
    content = record_of(*(captured(text, role=role) for text in texts), thread_id=thread)
    return NewRecord(Topic.CAPTURED, f"pi/{thread}", encode_record(content))


class OneWorker:
    """The processors as a worker runs them, in this process: so that a test can mend them."""

    def __init__(self, log: KafkaLog, settings: KafkaSettings) -> None:
        self._log, self._settings, self._chain, self._store = log, settings, Chain(processors()), MemoryStore()
        self._after: dict[int, int] = {}

    def run(self) -> Work:
        settle(self._settings)
        records = list(walk(self._log, Topic.CAPTURED, self._after))
        self._after |= {record.partition: record.offset for record in records}
        work = self._chain.process(sorted(records, key=lambda record: record.partition), self._store)
        self._store.apply(work.state, 0)
        self._log.append(work.outputs)
        settle(self._settings)
        return work


def faulty(monkeypatch, module, name: str):
    right = getattr(module, name)

    def wrong(*arguments):
        if "poison" in repr(arguments):
            raise ZeroDivisionError("a fault in the program")
        return right(*arguments)

    monkeypatch.setattr(module, name, wrong)
    return lambda: monkeypatch.setattr(module, name, right)


def exported(log: KafkaLog) -> list[tuple[str, str]]:
    return sorted((event.event.text, event.event.role) for _, event in Reading(log, Selection()).selected())


def test_a_replay_beside_workers_repeats_no_event(settings: Settings, tmp_path: Path) -> None:
    with KafkaLog.open(settings.kafka) as log:
        log.append([new(f"a {number}", f"b {number}", thread=f"t-{number}") for number in range(10)])
        fleet = Fleet(settings.kafka, tmp_path)
        fleet.add()
        try:
            wait_for_events(settings.kafka, 20)
            told = run_replay(ReplayRequest("beginning", Selection(), False), settings, Console(file=StringIO()))
            assert (told.records, told.processed) == (10, False)
            log.append([new("later", thread="t-3")])
            wait_for_events(settings.kafka, 21)
        finally:
            fleet.end()
        assert len(list(walk(log, Topic.EVENTS))) == 21


def test_a_wrong_role_is_mended(settings: Settings, monkeypatch) -> None:
    with KafkaLog.open(settings.kafka) as log:
        worker = OneWorker(log, settings.kafka)
        log.append([new("a", thread="t-1"), new("b", thread="t-2")])
        worker.run()
        monkeypatch.setattr(drafts, "speaker", lambda *_: ("assistant", True))
        run_replay(ReplayRequest("beginning", Selection(), False), settings, Console(file=StringIO()))
        worker.run()
        assert exported(log) == [("a", "assistant"), ("b", "assistant")]
        assert len(list(walk(log, Topic.EVENTS))) == 4


@pytest.mark.parametrize(("module", "name"), [(drafts, "_draft"), (signals, "derive")])
def test_what_a_processor_failed_on_is_worked_off_again(settings: Settings, monkeypatch, module, name: str) -> None:
    """Also where it was a later one, whose events are not read from the log again."""
    mend = faulty(monkeypatch, module, name)
    with KafkaLog.open(settings.kafka) as log:
        worker = OneWorker(log, settings.kafka)
        log.append([new("I am blocked: poison", thread="t-1", role="assistant"), new("fine", thread="t-2")])
        worker.run()
        (found,) = rejections(log)
        (first, _) = sorted(walk(log, Topic.CAPTURED), key=lambda record: record.key)
        assert found.bad.origin == Origin(Topic.CAPTURED, first.offset, first.time_ms, first.partition)
        mend()
        request = RetryRequest([], Choice(stage="processing"), False)
        result = retry_rejected(request, settings, Console(file=StringIO()))
        assert (result.rejections, result.appended, result.not_retried) == (1, 1, 0)
        worker.run()
        assert [text for text, _ in exported(log)] == ["I am blocked: poison", "fine"]
        assert len(list(walk(log, Topic.SIGNALS))) == 1
        assert len(list(rejections(log))) == 1


def test_the_report_and_the_export_read_all_partitions(settings: Settings, tmp_path: Path) -> None:
    """With the settings of the daemon, and no more said than on one machine."""
    now = datetime.now(UTC).isoformat()
    with KafkaLog.open(settings.kafka) as log:
        worker = OneWorker(log, settings.kafka)
        for number in range(12):
            content = record_of(captured(f"may I? {number}", role="assistant", times=[now]), thread_id=f"t-{number}")
            log.append([NewRecord(Topic.CAPTURED, f"pi/t-{number}", encode_record(content))])
        worker.run()
        assert len({record.partition for record in walk(log, Topic.EVENTS)}) > 1
    variables = {
        "SESSION_INGEST__ENGINE": "kafka",
        "SESSION_INGEST__KAFKA__BOOTSTRAP_SERVERS": settings.kafka.bootstrap_servers[0],
        "SESSION_INGEST__KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
    }
    report = run(TRIAGE, "--log", "--json", home=tmp_path, env=variables)
    assert report.returncode == 0, report.stderr.decode()
    told = json.loads(report.stdout)
    assert told["sources"]["log"].startswith("Kafka at 127.0.0.1")
    assert [(session["format"], session["assistantMessages"]) for session in told["sessions"]] == [("log", 12)]
    exported = run(INGEST, "export", "--output", "-", home=tmp_path, env=variables)
    assert sorted(json.loads(line)["event"]["text"] for line in exported.stdout.splitlines()) == sorted(
        f"may I? {number}" for number in range(12)
    )
    listed = run(INGEST, "rejected", "list", "--json", home=tmp_path, env=variables)
    assert (listed.returncode, json.loads(listed.stdout)["total"]) == (0, 0)
