"""One partition on a real broker: outputs, state and offset move together, whoever delivers what, and how often."""

import asyncio

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ingest.log.contract import FencedError, LogError, NewRecord, Topic
from ingest.log.kafka.topics import topic_name
from ingest.streams.faust.layout import ask_layout
from ingest.streams.faust.reading import bounds
from ingest.streams.faust.rocks import RocksStore
from ingest.streams.faust.shelf import Shelf
from ingest.streams.faust.stores import MemoryStore
from schemas.captured import encode_record
from schemas.event import decode
from tests.support.one_partition import OnePartition
from tests.support.processors import captured, record_of
from tests.support.worker import Capturer, declare, in_loop, settings_of
from tests.support.worker_outcome import event_ids, read_all


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix, partitions=1)
    declare(made)
    return made


@pytest.fixture
def capturer(settings):
    return Capturer(settings)


def capture(capturer, count, thread="t"):
    for _ in range(count):
        with capturer.transaction():
            capturer.events(thread, 1)


def ids(count, thread="t"):
    return [f"{thread}-{number}" for number in range(count)]


@in_loop
async def test_what_is_delivered_twice_is_processed_once(settings, capturer):
    capture(capturer, 5)
    async with OnePartition(settings) as bench:
        partition = await bench.take_up()
        records = await bench.delivered()
        await partition.work(records[:3])
        await partition.work(records[1:])
        await partition.work(records)
    assert event_ids(settings) == ids(5)


@in_loop
async def test_what_was_not_delivered_is_read_before_what_was(settings, capturer):
    capture(capturer, 60)
    async with OnePartition(settings) as bench:
        partition = await bench.take_up()
        records = await bench.delivered()
        await partition.work(records[10:12])
        await partition.work(records[50:])
    assert event_ids(settings) == ids(60)


@in_loop
async def test_without_any_delivery_catching_up_processes_all_and_leaves_no_lag(settings, capturer):
    capture(capturer, 5)
    async with OnePartition(settings) as bench:
        partition = await bench.take_up()
        await partition.catch_up()
        _, end = await bounds(bench.around.offsets, bench.captured)
        assert await bench.committed() == end == 10, "the marks of five transactions are behind it too"
    assert event_ids(settings) == ids(5)


@in_loop
async def test_a_worker_that_was_replaced_can_commit_nothing(settings, capturer):
    capture(capturer, 4)
    async with OnePartition(settings) as bench:
        zombie = await bench.take_up()
        records = await bench.delivered()
        await zombie.work(records[:2])
        heir = await bench.take_up(Shelf(lambda _: MemoryStore()))
        with pytest.raises(FencedError):
            await zombie.work(records)
        assert heir.position == records[1].offset + 1
        await heir.work(records)
    assert event_ids(settings) == ids(4)


@in_loop
async def test_state_comes_back_from_the_changelog(settings, capturer):
    capture(capturer, 3)
    async with OnePartition(settings) as bench:
        await (await bench.take_up()).catch_up()
        capturer.ids.clear()
        capture(capturer, 4)  # three of them again
        heir = await bench.take_up(Shelf(lambda _: MemoryStore()))
        await heir.catch_up()
    assert event_ids(settings) == ids(4)


@in_loop
async def test_state_on_disk_goes_on_where_it_was(settings, capturer, tmp_path):
    capture(capturer, 3)
    async with OnePartition(settings, lambda _: RocksStore(tmp_path / "0")) as bench:
        await (await bench.take_up()).catch_up()
    before = RocksStore(tmp_path / "0")
    assert before.position > 3
    before.close()
    capturer.ids.clear()
    capture(capturer, 4)
    async with OnePartition(settings, lambda _: RocksStore(tmp_path / "0")) as bench:
        await (await bench.take_up()).catch_up()
    assert event_ids(settings) == ids(4)


@in_loop
async def test_state_on_disk_of_other_topics_keeps_no_event_out(broker, settings, capturer, tmp_path):
    capture(capturer, 3)
    async with OnePartition(settings, lambda _: RocksStore(tmp_path / "0")) as bench:
        await (await bench.take_up()).catch_up()
    other = settings_of(broker.bootstrap, settings.topic_prefix + "reset.", partitions=1)
    declare(other)
    again = Capturer(other)
    capture(again, 1)
    async with OnePartition(other, lambda _: RocksStore(tmp_path / "0")) as bench:
        await (await bench.take_up()).catch_up()
    assert event_ids(other) == ids(1)
    again.ids.clear()
    capture(again, 8)
    async with OnePartition(other) as bench:  # the changelog is longer now than what is on disk
        await (await bench.take_up()).catch_up()
    again.ids.clear()
    capture(again, 9)
    async with OnePartition(other, lambda _: RocksStore(tmp_path / "0")) as bench:
        await (await bench.take_up()).catch_up()
    assert event_ids(other) == ids(9), "what the old topics knew counts for nothing, what the new ones know does"


@in_loop
async def test_records_that_are_none_are_rejected_and_cost_no_others(settings, capturer):
    with capturer.transaction():
        capturer.events("t", 1)
        capturer.record(NewRecord(Topic.CAPTURED, "pi/t", b"no JSON"))
        capturer.record(NewRecord(Topic.CAPTURED, "pi/t", b""))
        capturer.events("t", 1)
    async with OnePartition(settings) as bench:
        await (await bench.take_up()).catch_up()
    assert event_ids(settings) == ids(2)
    assert len(read_all(settings, Topic.REJECTED)) == 2


@in_loop
async def test_an_event_larger_than_its_topic_takes_is_cut_and_says_so(broker, prefix):
    settings = settings_of(broker.bootstrap, prefix, partitions=1)
    declare(settings, {Topic.EVENTS: {"max.message.bytes": "20000"}})
    capturer = Capturer(settings)
    with capturer.transaction():
        capturer.events("t", 1)
        capturer.record(NewRecord(Topic.CAPTURED, "pi/t", _one_large_event()))
        capturer.events("t", 1)
    async with OnePartition(settings) as bench:
        await (await bench.take_up()).catch_up()
    found = [decode(value).event for _, _, value in read_all(settings, Topic.EVENTS)]
    assert [event.id for event in found] == ["t-0", "large", "t-1"]
    assert "truncated" in found[1].labels
    assert len(found[1].text) > 10_000


def _one_large_event():
    return encode_record(record_of(captured("x" * 50_000, id="large"), thread_id="t"))


@in_loop
async def test_topics_with_different_partitions_are_refused_by_name(broker, prefix):
    settings = settings_of(broker.bootstrap, prefix, partitions=2)
    declare(settings)
    name = topic_name(settings, "conversations.events")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.delete_topics([name])[name].result(30)
    await asyncio.sleep(1)
    admin.create_topics([NewTopic(name, 3, 1)])[name].result(30)
    with pytest.raises(LogError, match=r"conversations\.events 3"):
        await ask_layout(settings)


@in_loop
async def test_missing_topics_are_named_with_what_makes_them(broker, prefix):
    with pytest.raises(LogError, match="session-ingest topics --create"):
        await ask_layout(settings_of(broker.bootstrap, prefix))
