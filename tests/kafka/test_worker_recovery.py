"""A worker outlives its Faust application: what fails in there costs some seconds and no event."""

import asyncio

import pytest

from ingest.health import Health
from ingest.metrics import Metrics
from ingest.processing import PART
from ingest.processors.chain import processors
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore
from ingest.streams.faust.workers import Workers
from tests.support.daemon import eventually
from tests.support.kafka import LEFT_BEHIND, left_behind
from tests.support.worker import Capturer, declare, in_loop, settings_of
from tests.support.worker_outcome import must_be_exact

# A thread of Faust that hangs is cancelled, and says so of itself.
pytestmark = [pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"), LEFT_BEHIND]


@pytest.fixture(autouse=True)
def leftovers():
    with left_behind():
        yield


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix)
    declare(made)
    return made


class Failing(Workers):
    """Fails the first time that it is told of partitions."""

    failing = "assigned"

    async def assigned(self, partitions):
        self._fail("assigned")
        await super().assigned(partitions)

    async def revoked(self):
        self._fail("revoked")
        await super().revoked()

    def _fail(self, what):
        if self.failing == what:
            self.failing = ""
            raise ZeroDivisionError("a fault in the program")


@pytest.mark.parametrize("failing", ["assigned", "revoked"])
@in_loop
async def test_a_fault_while_partitions_are_dealt_out_is_said_and_mended(settings, tmp_path, failing):
    capturer = Capturer(settings)
    capturer.threads(10, 3)
    health = Health()
    workers = Failing(settings, tmp_path, processors, Shelf(lambda _: MemoryStore()), health, Metrics())
    workers.failing = failing
    workers.start()
    said = []
    for _ in range(1500):
        said += [health.problems[PART]] if PART in health.problems and not said else []
        if said and PART not in health.problems:
            break
        await asyncio.sleep(0.02)
    assert "ZeroDivisionError" in said[0]
    await asyncio.to_thread(must_be_exact, settings, capturer.ids, f"a fault in {failing}")
    assert health.not_ready() == ["the log is not open"], "of the worker itself nothing is wrong any longer"
    await workers.stop()


@in_loop
async def test_a_partition_that_fails_is_said_and_taken_up_again(settings, tmp_path, monkeypatch):
    capturer = Capturer(settings)
    capturer.threads(10, 3)
    health, failed = Health(), []

    class BadOnce(MemoryStore):
        def apply(self, writes, position):
            if writes and len(failed) < 3:
                failed.append(position)
                raise OSError("the disk is full")
            super().apply(writes, position)

    metrics = Metrics()
    workers = Workers(settings, tmp_path, processors, Shelf(lambda _: BadOnce()), health, metrics)
    workers.start()
    await asyncio.to_thread(must_be_exact, settings, capturer.ids, "state that could not be written thrice")
    # The events are there before their state, whose writing fails last: to be taken up again comes after it.
    await asyncio.to_thread(eventually, lambda: len(failed) == 3 and PART not in health.problems)
    assert metrics.registry.get_sample_value("processor_partition_failures_total") >= len(failed)
    await workers.stop()
