"""Processors run in one process at a time, at once when woken, again after a failure that is told, and stop cleanly."""

import asyncio
import threading
from functools import partial

from ingest.capture import Pauses
from ingest.health import Health
from ingest.locks import is_held, try_lock
from ingest.log.contract import LogError
from ingest.metrics import Metrics
from ingest.processing import Processing
from tests.support.sources import until

FAST = Pauses(first=0.001, longest=0.005)


class ScriptedRunner:
    """Gives or raises what the script says, then 0 for ever."""

    def __init__(self, *script):
        self.script = list(script)
        self.calls = 0

    def run_once(self):
        self.calls += 1
        step = self.script.pop(0) if self.script else 0
        if isinstance(step, Exception):
            raise step
        return step() if callable(step) else step


def drive(tmp_path, runner, condition, *, pauses=FAST, during=None):
    """Process until the condition holds; gives health and metrics."""
    health, metrics = Health(), Metrics()

    async def run():
        processing = Processing(runner, tmp_path / "p.lock", health, metrics, pauses=pauses)
        processing.start()
        try:
            await until(lambda: condition(health))
            if during:
                await during(processing)
        finally:
            await processing.stop()

    asyncio.run(run())
    return health, metrics


def test_it_works_on_while_there_is_something(tmp_path):
    runner = ScriptedRunner(5, 7, 1)
    _, metrics = drive(tmp_path, runner, lambda _: runner.calls >= 4)
    assert metrics.registry.get_sample_value("processor_records_total") == 13


def test_a_wake_is_followed_at_once(tmp_path, monkeypatch):
    """A fresh capture does not wait for the next look."""
    monkeypatch.setattr("ingest.processing.POLL_SECONDS", 3600)
    runner = ScriptedRunner()

    async def during(processing):
        for number in range(50):
            processing.wake()
            await until(partial(lambda calls: runner.calls >= calls, number + 2))

    drive(tmp_path, runner, lambda _: runner.calls >= 1, during=during)
    assert runner.calls >= 51


def test_a_failure_is_told_counted_and_tried_again(tmp_path):
    """And forgotten by readiness once it works."""
    problems = []
    runner = ScriptedRunner(LogError("disk full"), LogError("disk full"), 3)
    health, metrics = drive(tmp_path, runner, lambda h: problems.append(dict(h.problems)) or runner.calls >= 4)
    assert {"processors": "disk full"} in problems
    assert health.problems == {}
    labels = {"source": "processors", "stage": "processing", "type": "LogError"}
    assert metrics.registry.get_sample_value("ingest_errors_total", labels) == 2


def test_an_unexpected_failure_does_not_show_its_words(tmp_path):
    runner = ScriptedRunner(*[ValueError("words of a conversation")] * 1000)
    health, _ = drive(tmp_path, runner, lambda h: h.problems)
    assert health.problems == {"processors": "unexpected ValueError; see the daemon's log"}


def test_it_waits_for_its_turn_and_lets_go_at_the_end(tmp_path):
    """An import may be running the processors."""
    runner = ScriptedRunner()
    other = try_lock(tmp_path / "p.lock", 0)

    async def during(processing):
        other.release()
        await until(lambda: runner.calls)

    drive(tmp_path, runner, lambda _: runner.calls == 0, during=during)
    assert runner.calls
    assert not is_held(tmp_path / "p.lock")


def test_it_can_be_stopped_while_it_waits_for_its_turn(tmp_path):
    runner = ScriptedRunner()
    with try_lock(tmp_path / "p.lock", 0):
        drive(tmp_path, runner, lambda _: True)
    assert runner.calls == 0


def test_a_stop_finishes_the_batch_at_hand(tmp_path):
    entered, leave, done = threading.Event(), threading.Event(), []

    def batch():
        entered.set()
        leave.wait(10)
        done.append(True)
        return 1

    runner = ScriptedRunner(batch, 5, 5)

    async def during(processing):
        stopping = asyncio.create_task(processing.stop())
        await asyncio.sleep(0.02)
        assert not stopping.done()
        leave.set()
        await stopping

    drive(tmp_path, runner, lambda _: entered.is_set(), during=during)
    assert done == [True]
    assert runner.calls == 1


def test_a_lock_that_cannot_be_made_is_told_and_tried_again(tmp_path):
    """The state directory may be taken away while the daemon runs."""
    (tmp_path / "p.lock").mkdir()
    runner = ScriptedRunner()

    async def during(processing):
        (tmp_path / "p.lock").rmdir()
        await until(lambda: runner.calls)

    health, _ = drive(tmp_path, runner, lambda h: "Is a directory" in h.problems.get("processors", ""), during=during)
    assert health.problems == {}
