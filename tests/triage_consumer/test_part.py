"""The triage within the daemon: it starts whatever is away, takes turns, says what is wrong, and mends itself."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from ingest.capture import Pauses
from ingest.health import Health
from ingest.log.contract import LogError
from ingest.log.embedded import EmbeddedLog
from ingest.metrics import Metrics
from ingest.parts import Context, load_parts, part_names
from ingest.settings import Settings, TriageSettings
from tests.support.commands import INGEST, Daemon, run, wait_for
from tests.support.consumer import records_of
from tests.support.sources import until
from tests.support.stores import decision
from tests.support.triage import PiSession, event
from triage.board.model import Proposal
from triage.consumer import NAME, TriagePart
from triage.store.database import Store

QUICK = Pauses(first=0.01, longest=0.05)


def context(folder: Path, log: EmbeddedLog, url: str | None = None) -> Context:
    triage = TriageSettings(database_url=SecretStr(url) if url else None)
    return Context(Settings(state_dir=folder, triage=triage), log, Health(), Metrics())


def proposals(store: Path | str) -> list[Proposal]:
    with Store.open(store) as opened, opened.read() as repository:
        return repository.proposals.listed()


def drive(work: Any) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


@pytest.fixture
def log(tmp_path: Path):
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        yield log


def metric(given: Context, name: str) -> float:
    lines = given.metrics.render().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name) and "{" not in line[len(name)])


def test_it_is_found_by_its_entry_point():
    assert NAME in part_names()
    assert isinstance(load_parts([NAME])[0], TriagePart)


def test_it_reads_what_comes_and_tells_what_was_decided(tmp_path: Path, log: EmbeddedLog):
    given = context(tmp_path, log)

    async def work() -> None:
        part = TriagePart(QUICK)
        await part.start(given)
        log.append(records_of([event("- idea: a bell", "user")]))
        await until(lambda: (tmp_path / "triage.db").exists() and proposals(tmp_path / "triage.db"), 30)
        with Store.open(tmp_path / "triage.db") as store, store.write() as repository:
            repository.decisions.append(decision())
        await until(lambda: metric(given, "triage_decisions_told_total") == 1, 30)
        begun = time.monotonic()
        await part.stop()
        assert time.monotonic() - begun < 5

    drive(work())
    assert metric(given, "triage_records_total") == 1
    assert given.health.problems == {}


def test_one_reads_at_a_time_and_the_next_goes_on_when_it_stops(tmp_path: Path, log: EmbeddedLog):
    first, second = context(tmp_path, log), context(tmp_path, log)

    async def work() -> None:
        one, other = TriagePart(QUICK), TriagePart(QUICK)
        await one.start(first)
        log.append(records_of([event("- idea: a bell", "user")]))
        await until(lambda: metric(first, "triage_records_total") == 1, 30)
        await other.start(second)
        log.append(records_of([event("- idea: a crane", "user")]))
        await until(lambda: metric(first, "triage_records_total") == 2, 30)
        await one.stop()
        log.append(records_of([event("- idea: a rope", "user")]))
        await until(lambda: metric(second, "triage_records_total") == 1, 30)
        await other.stop()

    drive(work())
    assert len(proposals(tmp_path / "triage.db")) == 3


def test_a_database_that_is_away_is_told_without_its_password_and_taken_up_when_it_is_there(
    postgres, tmp_path: Path, log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
):
    url = postgres.url()
    given = context(tmp_path, log, "postgresql://triage:hunter2@127.0.0.1:1/none")

    async def work() -> None:
        part = TriagePart(QUICK)
        await part.start(given)
        await until(lambda: NAME in given.health.problems, 30)
        assert "hunter2" not in given.health.problems[NAME]
        assert any(reason.startswith("triage: ") for reason in given.health.not_ready())
        monkeypatch.setattr(Settings, "triage_store", property(lambda _: url))
        log.append(records_of([event("- idea: a bell", "user")]))
        await until(lambda: NAME not in given.health.problems and proposals(url), 30)
        await part.stop()

    drive(work())


def test_a_log_that_fails_is_told_and_tried_again(tmp_path: Path, log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch):
    given = context(tmp_path, log)
    real = EmbeddedLog.read

    def failing(*_: object, **__: object) -> None:
        raise LogError("the disk is gone")

    async def work() -> None:
        part = TriagePart(QUICK)
        monkeypatch.setattr(EmbeddedLog, "read", failing)
        await part.start(given)
        await until(lambda: given.health.problems.get(NAME) == "the disk is gone", 30)
        monkeypatch.setattr(EmbeddedLog, "read", real)
        log.append(records_of([event("- idea: a bell", "user")]))
        await until(lambda: metric(given, "triage_records_total") == 1, 30)
        assert given.health.problems == {}
        await part.stop()

    drive(work())


def test_it_stops_before_it_has_begun(tmp_path: Path, log: EmbeddedLog):
    async def work() -> None:
        part = TriagePart(QUICK)
        await part.stop()
        await part.start(context(tmp_path, log))
        await part.stop()

    drive(work())


def test_it_runs_alone_beside_a_daemon_that_captures_and_processes(tmp_path: Path):
    PiSession(tmp_path / ".pi/agent/sessions/--w--/a.jsonl", "/w").say("user", "- idea: a bell")
    daemon = Daemon(tmp_path, "--only", "capture", "--only", "process")
    triage = None
    store = tmp_path / "state" / "session-triage" / "triage.db"
    try:
        daemon.wait_ready()
        assert not store.exists()
        triage = Daemon(tmp_path, "--only", "triage")
        wait_for("the proposal", lambda: store.exists() and _quietly(store), 60)
        refused = run(INGEST, "run", "--only", "triage", home=tmp_path)
        assert refused.returncode != 0
        assert b"already running" in refused.stderr
    finally:
        assert triage is None or triage.stop() == 0
        assert daemon.stop() == 0


def _quietly(store: Path) -> list[Proposal]:
    with suppress(Exception):  # it is being made just now
        return proposals(store)
    return []


def test_a_part_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path):
    refused = run(INGEST, "run", "--only", "web", home=tmp_path)
    assert refused.returncode == 2
    assert b"there are: capture, process, triage" in refused.stderr
