"""Reading a topic of several partitions: everything once, each thread in order, up to where it ended."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.export_pam import STORE_NAME, BundleWriter
from ingest.export_selection import Reading, Selection
from ingest.log import walk as walking
from ingest.log.contract import NewRecord, Record, Topic
from ingest.log.walk import offset_before, offsets_before, walk
from ingest.mended import Mended, place_of, split_place
from ingest.processors.deduplicate import MENDED_LABEL
from schemas.event import CanonicalEvent, decode, encode
from tests.support.pam import read_bundle
from tests.support.partitions import PartitionedLog
from tests.support.processors import event
from triage.report.gather import Gatherer
from triage.report.log_source import read_records
from triage.report.tally import Tally

appends = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), max_size=12)


def filled(keys: list[list[int]], partitions: int) -> PartitionedLog:
    log = PartitionedLog(partitions)
    count = 0
    for append in keys:
        records = [NewRecord(Topic.EVENTS, f"{key}", f"{count + at}".encode()) for at, key in enumerate(append)]
        count += len(records)
        log.append(records)
    return log


@settings(deadline=None)
@given(appends, st.integers(1, 4), st.integers(1, 5))
def test_all_records_come_once_and_in_order_of_their_partition(keys, partitions, batch) -> None:
    """Whatever the holes in its offsets, and however little is read at once."""
    log = filled(keys, partitions)
    before, walking.BATCH_RECORDS = walking.BATCH_RECORDS, batch
    try:
        found = list(walk(log, Topic.EVENTS))
    finally:
        walking.BATCH_RECORDS = before
    numbers = [int(record.value) for record in found]
    assert sorted(numbers) == list(range(sum(map(len, keys))))
    for number in range(partitions):
        of_one = [record.offset for record in found if record.partition == number]
        assert of_one == sorted(of_one)
    times = [record.time_ms for record in found]
    assert times == sorted(times)


@settings(deadline=None)
@given(appends, st.integers(1, 4), st.data())
def test_it_begins_and_ends_where_it_is_told(keys, partitions, data) -> None:
    log = filled(keys, partitions)
    after = {number: data.draw(st.integers(0, 20)) for number in range(partitions)}
    end = {number: data.draw(st.integers(0, 20)) for number in range(partitions)}
    wanted = {r.value for r in walk(log, Topic.EVENTS) if after[r.partition] < r.offset <= end[r.partition]}
    assert {record.value for record in walk(log, Topic.EVENTS, after, end)} == wanted


def test_what_is_appended_meanwhile_is_left_for_later() -> None:
    log = filled([[1], [2]], 2)
    found = walk(log, Topic.EVENTS)
    first = next(found)
    log.append([NewRecord(Topic.EVENTS, first.key, b"99")])
    assert [record.value for record in found] == [b"1"]


@settings(deadline=None)
@given(appends, st.integers(1, 3), st.integers(-2, 15))
def test_the_offset_before_a_time(keys, partitions, at) -> None:
    log = filled(keys, partitions)
    time_ms = 1_773_489_600_000 + at
    for number, offset in offsets_before(log, Topic.EVENTS, time_ms).items():
        assert offset == offset_before(log, Topic.EVENTS, time_ms, number)
        for record in log.read(Topic.EVENTS, 0, 1000, 1 << 30, number):
            assert (record.offset > offset) == (record.time_ms >= time_ms)


@given(st.integers(0, (1 << 15) - 1), st.integers(0, (1 << 48) - 1))
def test_a_place_is_a_number_that_sqlite_can_hold(partition: int, offset: int) -> None:
    place = place_of(Record(Topic.EVENTS, offset, "", b"", 0, partition))
    assert split_place(place) == (partition, offset)
    assert place < 1 << 63


def conversation(log: PartitionedLog) -> list[CanonicalEvent]:
    """Seven threads of six events, every second event mended once or twice further on."""
    made = [event(f"{n}", thread_id=f"t-{n % 7}", times=[f"2026-03-14T12:00:{n:02}Z"]) for n in range(42)]
    for one in made:
        log.append([as_record(one)])
    for one in made[::2] + made[::4]:
        one.event.text = f"{one.event.text}."
        marked = decode(encode(one))
        marked.event.labels = [MENDED_LABEL]
        log.append([as_record(marked)])
    return made


def as_record(one: CanonicalEvent) -> NewRecord:
    return NewRecord(Topic.EVENTS, f"{one.source.provider_account_key}/{one.source.thread_id}", encode(one))


def test_of_a_mended_event_only_the_last_version_counts() -> None:
    log = PartitionedLog()
    made = conversation(log)
    with Mended(log) as mended:
        assert mended.count == 32
        last = [r for r in walk(log, Topic.EVENTS) if not mended.outdates(r, decode(r.value))]
    assert len(last) == 42
    assert {decode(r.value).event.text for r in last} == {one.event.text for one in made}


def test_an_export_of_several_partitions_has_every_event_once_as_it_is_now() -> None:
    log = PartitionedLog()
    made = conversation(log)
    found = [record.value for record, _ in Reading(log, Selection()).selected()]
    assert sorted(found) == sorted(map(encode, made))


def test_a_bundle_of_several_partitions_has_every_thread_in_order(tmp_path: Path) -> None:
    log = PartitionedLog()
    made = conversation(log)
    bundle = BundleWriter(tmp_path, Reading(log, Selection())).write()
    assert (bundle.conversations, bundle.messages, bundle.repeated) == (7, 42, 0)
    conversations = [content for name, content in read_bundle(tmp_path).items() if name != STORE_NAME]
    texts = sorted([message["content"]["text"] for message in one["messages"]] for one in conversations)
    assert texts == sorted([one.event.text for one in made if one.source.thread_id == f"t-{n}"] for n in range(7))


def test_a_report_over_several_partitions_takes_every_event_once_as_it_is_now() -> None:
    log = PartitionedLog()
    conversation(log)
    gatherer = Gatherer("2026-01-01T00:00:00.000Z", [])
    read_records(gatherer, log, gatherer.source(Tally("log", "log", "", by_entry=False, file_format="log")), "log")
    assert (gatherer.events, gatherer.duplicates, gatherer.problems) == (42, 0, [])
