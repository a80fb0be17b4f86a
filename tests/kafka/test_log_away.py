"""Brokers that are away at start: the daemon comes up, says why it is not ready, waits, and goes on by itself."""

import json
import time

import pytest

from tests.support.daemon import Home, eventually, fetch, session_file
from tests.support.kafka_log import captured_texts, make_topics, settings_for, variables_of


@pytest.fixture
def settings(broker, prefix):
    return settings_for(broker.bootstrap, prefix)


@pytest.fixture
def home(settings, tmp_path):
    home = Home(tmp_path, variables_of(settings))
    yield home
    home.close()


def reasons(home: Home) -> list[str]:
    return json.loads(fetch(f"{home.url}/readyz")[1])["reasons"]


def test_a_daemon_starts_waits_and_goes_on(broker, settings, home):
    make_topics(settings)
    session = session_file(home, 1)
    session.append(3)
    broker.kill()
    home.start("--only", "capture", wait=False)
    eventually(lambda: home.url, 60)
    told = eventually(lambda: (found := reasons(home)) and any("no broker answers" in each for each in found) and found)
    assert any(settings.bootstrap_servers[0] in reason for reason in told)
    status = home.command("status")
    assert status.returncode == 1
    assert "not ready" in status.stdout
    assert "no broker answers" in status.stdout
    time.sleep(2)
    assert home.process.poll() is None
    broker.start()
    eventually(home.ready, 120)
    assert captured_texts(settings) == session.texts
    session.append(2)
    eventually(lambda: captured_texts(settings) == session.texts, 60)
    assert home.command("status").returncode == 0
    assert home.stop() == 0
    # A second start begins where the first has stopped.
    home.start("--only", "capture")
    assert home.stop() == 0
    assert captured_texts(settings) == session.texts


def test_missing_topics_are_told_and_waited_for(settings, home):
    session = session_file(home, 1)
    session.append(1)
    home.start("--only", "capture", wait=False)
    eventually(lambda: home.url and any("topics --create" in reason for reason in reasons(home)), 60)
    assert home.command("run", "--check").returncode == 1
    made = home.command("topics", "--create")
    assert made.returncode == 0, made.stderr
    eventually(home.ready, 120)
    assert captured_texts(settings) == session.texts
    assert home.stop() == 0


def test_a_stop_is_quick_while_brokers_are_away(broker, settings, home):
    make_topics(settings)
    session_file(home, 1).append(1)
    home.start("--only", "capture")
    broker.kill()
    time.sleep(2)
    begun = time.monotonic()
    home.stop(seconds=12)
    assert time.monotonic() - begun < 11
    broker.start()


@pytest.mark.parametrize(("fault", "mend"), [("kill", "start"), ("pause", "resume")])
def test_the_triage_does_not_hold_up_a_stop_while_brokers_are_away(broker, settings, home, fault, mend):
    make_topics(settings)
    session = session_file(home, 1)
    session.append(1)
    home.start("--only", "capture", "--only", "triage")
    eventually(lambda: captured_texts(settings) == session.texts, 60)
    getattr(broker, fault)()
    try:
        session.append(2)
        assert home.stop() == 0, home.errors()
    finally:
        getattr(broker, mend)()
    home.start("--only", "capture", "--only", "triage")
    eventually(lambda: captured_texts(settings) == session.texts, 60)
    assert home.stop() == 0, home.errors()
