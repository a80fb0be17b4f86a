"""The daemon on Kafka: capture and workers in one process, or in several that share the work, as `--only` says."""

import json
import subprocess
import time
from collections import defaultdict

import pytest

from ingest.log.contract import Topic
from tests.support.daemon import PROGRAM, Home, eventually, fetch, session_file
from tests.support.kafka_log import variables_of
from tests.support.worker import declare, settings_of
from tests.support.worker_outcome import read_all

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix, partitions=2)
    declare(made)
    return made


@pytest.fixture
def home(settings, tmp_path):
    made = Home(tmp_path, variables_of(settings))
    yield made
    if made.process is not None:
        made.process.kill()
        made.process.wait()


def texts(settings):
    """The texts of the events by thread, in order."""
    threads = defaultdict(list)
    for _, _, value in read_all(settings, Topic.EVENTS):
        event = json.loads(value)
        threads[event["source"]["threadId"]].append(event["event"]["text"])
    return threads


def test_one_daemon_captures_and_processes_and_tells_it_in_metrics(settings, home):
    file = session_file(home, 1)
    file.append(20)
    home.start()
    eventually(lambda: texts(settings)[file.session] == file.texts, 60)
    _, metrics = fetch(f"{home.url}/metrics")
    assert 'processor_events_total{outcome="emitted",processor="normalize"} 20.0' in metrics
    assert "processor_partitions 2.0" in metrics
    assert metrics.count("# TYPE processor_events_total") == 1
    file.append(5)
    eventually(lambda: texts(settings)[file.session] == file.texts, 60)
    assert home.stop() == 0


def test_workers_with_one_state_directory_share_the_partitions_of_one_capture(settings, home):
    files = [session_file(home, number) for number in range(6)]
    workers = []
    try:
        for number in range(2):
            with (home.path / f"worker-{number}.log").open("ab") as output:
                workers.append(
                    subprocess.Popen(
                        [*PROGRAM, "run", "--only", "process"],
                        env=home.environment,
                        cwd=home.path,
                        stdout=output,
                        stderr=output,
                    )
                )
        home.start("--only", "capture")
        for file in files:
            file.append(10)
        eventually(lambda: all(texts(settings)[file.session] == file.texts for file in files), 90)
        logs = [(home.path / f"worker-{number}.log").read_text() for number in range(2)]
        assert all("partitions-assigned" in log for log in logs), logs
        started = time.monotonic()
        for worker in workers:
            worker.terminate()
        assert [worker.wait(20) for worker in workers] == [0, 0]
        assert time.monotonic() - started < 10
        assert home.stop() == 0
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def test_without_topics_the_daemon_says_what_to_do_and_goes_on_once_they_are_there(broker, home, settings):
    home.variables["SESSION_INGEST__KAFKA__TOPIC_PREFIX"] = settings.topic_prefix + "later."
    later = settings_of(broker.bootstrap, settings.topic_prefix + "later.", partitions=2)
    file = session_file(home, 1)
    file.append(3)
    home.start(wait=False)
    eventually(lambda: home.url, 30)
    eventually(lambda: "topics --create" in fetch(f"{home.url}/readyz")[1], 30)
    declare(later)
    eventually(lambda: texts(later)[file.session] == file.texts, 90)
    eventually(home.ready, 60)
    assert home.stop() == 0
