"""Whatever happens to workers and brokers, each captured event becomes one event: once, in order, none lost.

Every test appends under load, lets go wrong what may, and then reads all of the events back.
"""

import random
import time

import pytest

from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_outcome import must_be_exact, wait_for_events
from tests.support.worker_process import SESSION_MS, Fleet

pytestmark = pytest.mark.timeout(240)

LAPSE_S = SESSION_MS / 1000 * 2
"""In which a worker that says nothing has surely lost its partitions."""


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix)
    declare(made)
    return made


@pytest.fixture
def capturer(settings):
    return Capturer(settings)


@pytest.fixture
def fleet(settings, tmp_path):
    made = Fleet(settings, tmp_path)
    yield made
    made.end()


@pytest.mark.parametrize("store", [pytest.param("memory", marks=pytest.mark.soak), "rocksdb"])
def test_killing_workers_at_random_loses_and_repeats_nothing(settings, capturer, tmp_path, store):
    dice = random.Random(7)
    fleet = Fleet(settings, tmp_path, store)
    try:
        places = [tmp_path / "a", tmp_path / "b"]
        workers = [fleet.add(place) for place in places]
        with capturer.load():
            wait_for_events(settings, 1)
            for _ in range(5):
                time.sleep(dice.uniform(0.3, 3.0))
                which = dice.randrange(2)
                workers[which].kill()
                time.sleep(dice.uniform(0.0, 1.0))
                workers[which] = fleet.add(places[which])
        must_be_exact(settings, capturer.ids, f"workers killed five times, state in {store}")
    finally:
        fleet.end()


def test_workers_come_and_go_under_load(settings, capturer, fleet):
    first = fleet.add()
    with capturer.load():
        wait_for_events(settings, 1)
        second = fleet.add()
        time.sleep(3)
        third = fleet.add()
        time.sleep(3)
        assert first.stop() < 9
        time.sleep(2)
        assert second.stop() < 9
        time.sleep(1)
    must_be_exact(settings, capturer.ids, "two workers added, two removed")
    assert third.stop() < 9


def test_a_worker_that_hangs_longer_than_its_session_is_replaced_and_does_no_harm_when_it_wakes(
    settings, capturer, fleet
):
    sleeper = fleet.add()
    with capturer.load():
        wait_for_events(settings, 1)
        other = fleet.add()
        time.sleep(3)
        sleeper.pause()
        time.sleep(LAPSE_S)
        before = capturer.count
        time.sleep(2)
        sleeper.resume()
        time.sleep(LAPSE_S)
        assert before < capturer.count
    must_be_exact(settings, capturer.ids, "a worker paused beyond its session and resumed")
    assert sleeper.running
    assert other.running


def test_all_partitions_pass_to_the_other_worker_while_the_first_hangs(settings, capturer, fleet):
    sleeper = fleet.add()
    with capturer.transaction():
        capturer.events("t", 3)
    wait_for_events(settings, 3)
    sleeper.pause()
    fleet.add()
    capturer.threads(20, 5, "u")
    wait_for_events(settings, capturer.count)
    sleeper.resume()
    must_be_exact(settings, capturer.ids, "one worker hangs, another takes everything")


def test_a_broker_killed_under_load_comes_back_to_exact_events(broker, settings, capturer, fleet):
    fleet.add()
    fleet.add()
    with capturer.load():
        wait_for_events(settings, 1)
        for _ in range(2):
            time.sleep(2)
            broker.kill()
            time.sleep(2)
            broker.start()
    must_be_exact(settings, capturer.ids, "the broker killed twice")
    assert len(fleet.running) == 2


@pytest.mark.soak
def test_a_broker_that_hangs_for_a_while_costs_nothing(broker, settings, capturer, fleet):
    fleet.add()
    with capturer.load():
        wait_for_events(settings, 1)
        broker.pause()
        time.sleep(LAPSE_S)
        broker.resume()
        time.sleep(1)
    must_be_exact(settings, capturer.ids, "the broker hung beyond the session")


@pytest.mark.soak
def test_a_worker_that_starts_before_its_broker_works_once_it_is_there(broker, settings, capturer, fleet):
    with capturer.transaction():
        capturer.events("t", 10)
    broker.kill()
    worker = fleet.add()
    time.sleep(3)
    assert worker.running
    broker.start()
    must_be_exact(settings, capturer.ids, "the broker came after the worker")


def test_a_worker_stops_in_time_although_its_broker_is_away(broker, settings, capturer, fleet):
    worker = fleet.add()
    with capturer.transaction():
        capturer.events("t", 10)
    wait_for_events(settings, 10)
    broker.kill()
    time.sleep(1)
    assert worker.stop(30) < 12
