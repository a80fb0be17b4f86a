"""Brokers that die or hang, and workers and sources that are fenced, leave no traceback on a daemon's standard error.

What aiokafka and Faust leave behind then is theirs, and what there is to say is said in one entry of the log.
"""

import time

import pytest

from tests.support.daemon import Home, session_file
from tests.support.kafka_log import steal_epoch, variables_of
from tests.support.worker import declare, settings_of
from tests.support.worker_outcome import wait_for_events

pytestmark = pytest.mark.timeout(400)

FOREIGN = ("Traceback", "never retrieved", "never awaited", "was destroyed", "Exception in callback", "exception=")
"""What Python says of futures, tasks and threads whose end nobody looked at."""


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix)
    declare(made)
    return made


@pytest.fixture
def home(settings, tmp_path):
    variables = variables_of(settings, LOG__FORMAT="console")  # which writes a traceback as Python does
    made = Home(tmp_path, variables)
    yield made
    made.close()


def must_be_quiet(home: Home) -> None:
    said = home.errors()
    found = [line for line in said.splitlines() if any(word in line for word in FOREIGN)]
    assert not found, said[said.index(found[0]) - 1000 :][:5000]


@pytest.mark.soak
def test_brokers_that_die_and_hang_under_load(broker, settings, home):
    files = [session_file(home, number) for number in range(4)]
    home.start("--only", "capture", "--only", "process")
    for round_number in range(2):
        for file in files:
            file.append(200)
        wait_for_events(settings, 200 * 4 * round_number + 1)
        broker.kill()
        for file in files:
            file.append(5)
        time.sleep(1 + round_number)
        broker.start()
    broker.pause()
    time.sleep(3)
    broker.resume()
    wait_for_events(settings, sum(file.written for file in files))
    broker.kill()
    time.sleep(1)
    home.stop(seconds=30)
    assert "Unable connect" in home.errors(), "the library says in a line what it met"
    must_be_quiet(home)


def test_fenced_producers_of_partitions_and_sources(settings, home):
    """As by a second copy that takes each of them over, again and again, while it works."""
    files = [session_file(home, number) for number in range(4)]
    home.start("--only", "capture", "--only", "process")
    thieves = [f"process.{number}" for number in range(settings.partitions)] + ["source.pi"]
    for turn in range(2):
        for file in files:
            file.append(200)
        wait_for_events(settings, 200 * 4 * turn + 1)
        for name in thieves:
            steal_epoch(settings, settings.topic_prefix + name)
    wait_for_events(settings, sum(file.written for file in files))
    home.stop(seconds=30)
    assert "partition-fenced" in home.errors()
    must_be_quiet(home)
