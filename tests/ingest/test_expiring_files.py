"""Before Claude Code deletes session files that are not read yet, status, metrics and the log say so.

It deletes at its start what was not changed for `cleanupPeriodDays` (30 unless set).
"""

import asyncio
import json
import os
import time

import pytest

from adapters.sessions.claude_code_cleanup import DEFAULT_DAYS, NOTICE_DAYS, expiring, kept_days
from ingest import advice
from ingest.health import Health
from ingest.log.contract import LogError, LogStatus, SourceStatus
from ingest.metrics import Metrics
from ingest.settings import load
from tests.support.daemon import Home, session_file
from tests.support.sources import until

DAY = 86_400
NOW = 2_000_000_000.0


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name in ("SESSION_INGEST_CONFIG", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".claude"
    (folder / "projects" / "-work").mkdir(parents=True)
    return folder


def session(folder, name: str, age_days: float, now: float = NOW):
    path = folder / "projects" / "-work" / f"{name}.jsonl"
    path.write_text("{}\n")
    os.utime(path, (now - age_days * DAY,) * 2)
    return path


def set_days(folder, text: str):
    (folder / "settings.json").write_text(text)


def find(folder, read_until: float = 0.0):
    return expiring([folder / "projects"], read_until, NOW, managed=())


def test_only_files_that_will_soon_go_are_named(folder):
    session(folder, "young", 3)
    session(folder, "old", DEFAULT_DAYS - NOTICE_DAYS + 1)
    session(folder, "oldest", DEFAULT_DAYS - 2)
    found = find(folder)
    assert (found.files, round(found.first_days), found.period_days) == (2, 2, 30)


def test_what_was_read_is_in_no_danger(folder):
    session(folder, "read", 28)
    session(folder, "grown", 25)
    assert find(folder, NOW - 27 * DAY).files == 1
    assert find(folder, NOW - 20 * DAY) is None


def test_a_file_past_its_time_goes_at_the_next_start(folder):
    session(folder, "overdue", 40)
    assert find(folder).first_days == pytest.approx(-10)


def test_sub_agents_count_too(folder):
    path = folder / "projects" / "-work" / "s" / "subagents" / "agent-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    os.utime(path, (NOW - 29 * DAY,) * 2)
    assert find(folder).files == 1


@pytest.mark.parametrize(("text", "days"), [
    ('{"cleanupPeriodDays": 90}', 90),
    ('{"cleanupPeriodDays": 7.5, "other": [1]}', 7.5),
    ('{"cleanupPeriodDays": 0}', 0),
    ("{}", DEFAULT_DAYS),
    ('{"cleanupPeriodDays": null}', DEFAULT_DAYS),
    ('{"cleanupPeriodDays": "90"}', DEFAULT_DAYS),
    ('{"cleanupPeriodDays": -1}', DEFAULT_DAYS),
    ('{"cleanupPeriodDays": 1e999}', DEFAULT_DAYS),
    ("[1]", DEFAULT_DAYS),
    ("{broken", DEFAULT_DAYS),
    ("[" * 100_000, DEFAULT_DAYS),
    ("", DEFAULT_DAYS),
])  # fmt: skip
def test_the_agents_own_setting_counts_and_nonsense_does_not(folder, text, days):
    set_days(folder, text)
    assert kept_days(folder, managed=()) == days


def test_what_an_organisation_sets_goes_first(folder, tmp_path):
    set_days(folder, '{"cleanupPeriodDays": 90}')
    managed = tmp_path / "managed-settings.json"
    managed.write_text('{"cleanupPeriodDays": 10}')
    assert kept_days(folder, managed=(tmp_path / "none.json", managed)) == 10


def test_a_folder_that_is_not_there_is_in_no_danger(tmp_path):
    assert expiring([tmp_path / "none" / "projects"], 0.0, NOW, managed=()) is None


def settings(tmp_path, text: str = ""):
    path = tmp_path / "config.toml"
    path.write_text(text)
    return load(path)


def status_of(last_checkpoint_s: float | None) -> LogStatus:
    last = None if last_checkpoint_s is None else int(last_checkpoint_s * 1000)
    return LogStatus([], [SourceStatus("claude_code", {}, None, None, last, 1)], [], 0)


def test_a_source_that_is_off_reads_nothing_and_says_how_to_turn_it_on(folder, tmp_path):
    session(folder, "s", 29)
    (words,) = advice.told(settings(tmp_path), status_of(NOW), NOW)
    assert words == (
        "source claude_code: Claude Code will delete 1 unread session file, the first in a day: its cleanupPeriodDays"
        " is 30; set enabled = true in [sources.claude_code] (false, to hear no more of this), or set a longer time in"
        " its settings.json"
    )


def test_who_decided_against_the_source_is_left_alone(folder, tmp_path):
    session(folder, "s", 29)
    assert advice.told(settings(tmp_path, "[sources.claude_code]\nenabled = false\n"), status_of(None), NOW) == []


def test_a_source_that_is_on_is_in_danger_while_nobody_reads(folder, tmp_path):
    session(folder, "s", 29)
    on = settings(tmp_path, "[sources.claude_code]\nenabled = true\n")
    assert "let session-ingest run catch up" in advice.told(on, status_of(None), NOW)[0]
    assert "let session-ingest run catch up" in advice.told(on, status_of(NOW - 35 * DAY), NOW)[0]
    assert advice.told(on, status_of(NOW - 5 * DAY), NOW) == []


class StandingLog:
    """A log that cannot be read at first."""

    def __init__(self):
        self.asked = 0

    def status(self):
        self.asked += 1
        if self.asked == 1:
            raise LogError("busy")
        return status_of(None)


def test_the_daemon_tells_it_in_health_and_metrics(folder, tmp_path, monkeypatch):
    session(folder, "s", 29, time.time())
    monkeypatch.setattr(advice, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(advice, "PERIOD_SECONDS", 0.01)

    async def run():
        health, metrics = Health(log_open=True), Metrics()
        metrics.watch(health, StandingLog())
        telling = asyncio.create_task(advice.advise(settings(tmp_path), StandingLog(), health))
        await until(lambda: health.advice)
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        return health, metrics

    health, metrics = asyncio.run(run())
    assert health.warnings()[0].startswith("source claude_code: Claude Code will delete 1 unread session file")
    assert health.not_ready() == []
    assert metrics.registry.get_sample_value("ingest_expiring_files", {"source": "claude_code"}) == 1


def test_status_tells_it_without_a_daemon(folder, tmp_path):
    home = Home(tmp_path)
    session_file(home, 1).append(1)
    try:
        home.start()
        home.stop()
        session(folder, "s", 40, time.time())
        assert "will delete 1 unread session file, the first at its next start" in home.command("status").stdout
        assert len(json.loads(home.command("status", "--json").stdout)["warnings"]) == 1
    finally:
        home.close()
