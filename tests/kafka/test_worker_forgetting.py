"""What retention has taken from the log, the workers forget too: in the changelog, in the copy, and nothing else."""

import time

import pytest

from ingest.log.contract import FencedError, Retention, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.processors.deduplicate import id_key
from ingest.streams.faust import forgetting
from ingest.streams.faust.rocks import RocksStore
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore
from tests.support.moves import remembered
from tests.support.one_partition import OnePartition
from tests.support.worker import Capturer, declare, in_loop, settings_of
from tests.support.worker_outcome import event_ids

DAY_MS = 24 * 3600 * 1000
NOW_MS = int(time.time() * 1000)
OLD = [f"old-{number}" for number in range(25)]
NEW = [f"new-{number}" for number in range(5)]


@pytest.fixture(params=["memory", "rocksdb"])
def shelf(request, tmp_path):
    """A place for the copies of the state, new ones for each worker."""
    made = iter(range(100))
    if request.param == "memory":
        return lambda: Shelf(lambda _: MemoryStore())
    return lambda: Shelf(lambda _: RocksStore(tmp_path / str(next(made))))


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix, partitions=1)
    declare(made)
    return made


@pytest.fixture
def capturer(settings, monkeypatch):
    """Has captured some events ten days ago, and some just now."""
    monkeypatch.setattr(forgetting, "PAGE", 7)
    made = Capturer(settings)
    with made.transaction():
        made.events("old", len(OLD), NOW_MS - 10 * DAY_MS)
        made.events("new", len(NEW), NOW_MS)
    return made


def trim(settings, days: float) -> None:
    with KafkaLog.open(settings) as log:
        log.trim(dict.fromkeys(Topic, Retention(max_age_s=days * DAY_MS / 1000)), NOW_MS)


def known(settings) -> set[bytes]:
    """Of which events the changelog says last that they are remembered."""
    return {key for (store, key), (_, value) in remembered(settings).items() if store == "normalize" and value}


def copied(partition) -> set[bytes]:
    """The events that the copy remembers."""
    return {key for page in partition._store.pages("normalize", 3) for key, _ in page}


def keys(ids: list[str]) -> set[bytes]:
    return {id_key(name) for name in ids}


async def ticks(partition, count: int = 10, now_ms: int = NOW_MS) -> None:
    for _ in range(count):
        await partition.tick(now_ms)


@in_loop
async def test_what_has_left_the_log_is_forgotten_and_only_that(settings, capturer, shelf):
    async with OnePartition(settings) as bench:
        worker = await bench.take_up(shelf())
        await worker.catch_up()
        await ticks(worker)
        assert copied(worker) == known(settings) == keys(OLD + NEW), "the log has all of it still"
        trim(settings, days=5)
        await ticks(worker)
        assert copied(worker) == keys(OLD + NEW), "a pass has ended; the next one is not due yet"
        at = await bench.committed()
        await ticks(worker, now_ms=NOW_MS + forgetting.PASS_MS)
        assert copied(worker) == known(settings) == keys(NEW)
        assert await bench.committed() == at
        assert bench.metrics.registry.get_sample_value("processor_forgotten_events_total") == len(OLD)


@in_loop
async def test_an_event_that_was_forgotten_passes_once_more_and_others_do_not(settings, capturer, shelf):
    """Also for a worker that has read the changelog only afterwards."""
    async with OnePartition(settings) as bench:
        await (await bench.take_up(shelf())).catch_up()
        trim(settings, days=5)
        await ticks(await bench.take_up(shelf()))
        heir = await bench.take_up(shelf())
        capturer.ids.clear()
        for _ in range(2):
            with capturer.transaction():
                capturer.events("old", len(OLD))
                capturer.events("new", len(NEW))
            capturer.ids.clear()
        await heir.catch_up()
        assert copied(heir) == keys(OLD + NEW)
    assert event_ids(settings) == OLD + NEW + OLD


@in_loop
async def test_a_worker_that_was_replaced_forgets_nothing(settings, capturer, shelf):
    async with OnePartition(settings) as bench:
        zombie = await bench.take_up(shelf())
        await zombie.catch_up()
        trim(settings, days=5)
        heir = await bench.take_up(shelf())
        with pytest.raises(FencedError):
            await ticks(zombie)
        assert known(settings) == copied(heir) == keys(OLD + NEW)
        await ticks(heir)
        assert known(settings) == copied(heir) == keys(NEW)


@in_loop
async def test_a_pass_that_is_cut_off_is_made_good_by_the_next_worker(settings, capturer, shelf):
    async with OnePartition(settings) as bench:
        first = await bench.take_up(shelf())
        await first.catch_up()
        trim(settings, days=5)
        await ticks(first, 2)
        some = known(settings)
        assert keys(NEW) < some < keys(OLD + NEW)
        heir = await bench.take_up(shelf())
        assert copied(heir) == some
        await ticks(heir)
        assert known(settings) == copied(heir) == keys(NEW)
