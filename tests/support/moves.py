"""An embedded log worth moving, and what must be on Kafka once it is moved."""

from collections import defaultdict
from datetime import timedelta
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from ingest.log.contract import EventLog, NewRecord, SourceProgress, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import PROCESSOR_STATE, topic_name
from ingest.log.walk import walk
from ingest.processors.chain import processors
from ingest.settings import Settings
from ingest.settings_kafka import KafkaSettings
from ingest.streams.embedded import EmbeddedRunner
from ingest.streams.faust.stores import split_key
from schemas.captured import encode_record
from tests.support.processors import captured, record_of

IDLE = timedelta(seconds=1)
"""So that old threads have their summaries."""

Seen = dict[Topic, dict[str, list[tuple[bytes, int]]]]
"""Values and times by topic and key."""


def record(thread: int, number: int) -> NewRecord:
    """A record of two events of a thread, with a signal in it."""
    events = [captured(f"I am blocked: {thread}-{number}-{n}", role="assistant") for n in range(2)]
    content = record_of(*events, thread_id=f"t-{thread}")
    return NewRecord(Topic.CAPTURED, f"pi/t-{thread}", encode_record(content))


def fill(path: Path, threads: int, rounds: int) -> None:
    """Fill a log: captured and processed records, checkpoints, rejected and decided things, groups of consumers."""
    clock = iter(range(1_700_000_000_000, 1_800_000_000_000, 10))
    with EmbeddedLog.open(path, clock=lambda: next(clock)) as log:
        pi, other = log.open_source("pi"), log.open_source("other")
        for number in range(rounds):
            new = [record(thread, number) for thread in range(threads)]
            pi.append(new, {"file": b"%d" % number, f"part-{number}": b"x"}, SourceProgress({"seen": len(new)}))
        pi.append([], {"part-0": None})
        other.append([NewRecord(Topic.CAPTURED, "pi/t-bad", b"{")], {"room": b"r"}, SourceProgress({"seen": 1}))
        EmbeddedRunner(log, processors(IDLE)).run_until_caught_up()
        log.append([NewRecord(Topic.DECISIONS, "k", b'{"decided": 1}')])
        events = log.end_offset(Topic.EVENTS)
        for group, at in (("triage", events), ("reader", events // 3), ("new", 0)):
            log.register_group(group, Topic.EVENTS)
            log.commit_offset(group, Topic.EVENTS, at)


def everything(log: EventLog) -> Seen:
    """All records of a log; those of a key in order."""
    found: Seen = {topic: defaultdict(list) for topic in Topic}
    for topic in Topic:
        for one in walk(log, topic):
            found[topic][one.key].append((one.value, one.time_ms))
    return found


def remembered(settings: KafkaSettings) -> dict[tuple[str, bytes], tuple[int, bytes]]:
    """What the changelog says last of each key: its partition and value."""
    consumer = Consumer(
        {
            "bootstrap.servers": settings.bootstrap_servers[0],
            "group.id": f"{settings.topic_prefix}test",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    name = topic_name(settings, PROCESSOR_STATE)
    consumer.assign([TopicPartition(name, number, 0) for number in range(settings.partitions)])
    found, ended = {}, set()
    try:
        while len(ended) < settings.partitions:
            for message in consumer.consume(1000, 1.0):
                if message.error():
                    ended.add(message.partition())
                else:
                    found[split_key(message.key())] = message.partition(), message.value()
    finally:
        consumer.close()
    return found


def must_be_moved(settings: Settings) -> None:
    """Everything of the embedded log is on Kafka, once, in order, at its time."""
    with EmbeddedLog.open(settings.log_path, read_only=True) as log, KafkaLog.open(settings.kafka) as moved:
        assert everything(moved) == everything(log)
        assert all(found for topic, found in everything(log).items() if topic is not Topic.SUMMARIES)
        known = {source.source: source for source in moved.status().sources}
        for source in log.status().sources:
            there = known.pop(source.source)
            assert (there.counts, there.parts, there.last_append_ms) == (
                source.counts,
                source.parts,
                source.last_append_ms,
            )
            assert moved.open_source(source.source).checkpoints() == log.checkpoints(source.source)
        assert not known
        must_be_at_the_same_record(log, moved)
    must_be_remembered(settings)


def must_be_at_the_same_record(log: EmbeddedLog, moved: KafkaLog) -> None:
    """Consumer groups have read as much as before; the workers' has read all that was captured."""
    for group in log.status().groups:
        if group.group in {processor.name for processor in processors()}:
            continue
        before = everything_until(log, group.topic, {0: group.committed})
        at = {n: moved.committed(group.group, group.topic, n) for n in range(moved.partitions(group.topic))}
        assert everything_until(moved, group.topic, at) == before, group.group
    for number in range(moved.partitions(Topic.CAPTURED)):
        assert moved.committed("process", Topic.CAPTURED, number) == moved.end_offset(Topic.CAPTURED, number)


def everything_until(log: EventLog, topic: Topic, offsets: dict[int, int]) -> list[bytes]:
    """The values that a group has read."""
    return sorted(found.value for found in walk(log, topic, end=offsets))


def must_be_remembered(settings: Settings) -> None:
    """Each event's entry is in the partition of its thread, and each thread's state with its place among those due."""
    found = remembered(settings.kafka)
    with EmbeddedLog.open(settings.log_path, read_only=True) as log:
        known = dict(log.scan_state("normalize", b"", 1 << 30))
        threads = dict(log.scan_state("summaries", b"t/", 1 << 30))
        due = dict(log.scan_state("summaries", b"due/", 1 << 30))
    assert {key: value for (store, key), (_, value) in found.items() if store == "normalize"} == known
    assert {key for (store, key) in found if store == "summaries"} == threads.keys() | due.keys()
