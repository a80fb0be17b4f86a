"""What must come of what workers on Kafka were given: each event once, in order, none lost, none foreign."""

import time
from collections import Counter, defaultdict

from confluent_kafka import Consumer, TopicPartition

from ingest.log.contract import Topic
from ingest.log.kafka.topics import topic_name
from ingest.settings_kafka import KafkaSettings
from schemas.event import decode


def read_all(settings: KafkaSettings, topic: str) -> list[tuple[int, str, bytes]]:
    """Every committed record of a topic: partition, key, value; in order within a partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": settings.bootstrap_servers[0],
            "group.id": f"{settings.topic_prefix}test",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    name = topic_name(settings, topic)
    consumer.assign([TopicPartition(name, number, 0) for number in range(settings.partitions)])
    found, ended = [], set()
    try:
        while len(ended) < settings.partitions:
            for message in consumer.consume(1000, 1.0):
                if message.error():
                    ended.add(message.partition())
                else:
                    found.append((message.partition(), (message.key() or b"").decode(), message.value()))
    finally:
        consumer.close()
    return found


def event_ids(settings: KafkaSettings, topic: str = Topic.EVENTS) -> list[str]:
    """The ids of a topic's events."""
    return [decode(value).event.id for _, _, value in read_all(settings, topic)]


def wait_for_events(settings: KafkaSettings, count: int, seconds: float = 120) -> None:
    """Wait until so many events are there."""
    deadline = time.monotonic() + seconds
    while (have := len(read_all(settings, Topic.EVENTS))) < count:
        assert time.monotonic() < deadline, f"{have} of {count} events in {seconds} s"
        time.sleep(0.5)


def must_be_exact(settings: KafkaSettings, expected: dict[str, list[str]], what: str) -> None:
    """Each event once by its id, in order within its thread, none lost, none foreign; prints the counts."""
    wait_for_events(settings, sum(len(ids) for ids in expected.values()))
    time.sleep(2)  # whatever would come twice, comes
    found = [decode(value) for _, _, value in read_all(settings, Topic.EVENTS)]
    times = Counter(event.event.id for event in found)
    wanted = {name for ids in expected.values() for name in ids}
    lost, foreign = wanted - set(times), set(times) - wanted
    twice = {name for name, count in times.items() if count > 1}
    counts = f"{len(lost)} lost, {len(twice)} twice, {len(foreign)} foreign"
    print(f"{what}: {len(wanted)} captured, {len(found)} events, {counts}")  # noqa: T201 - the figures are asked for
    assert (lost, twice, foreign) == (set(), set(), set())
    order: dict[str, list[str]] = defaultdict(list)
    for event in found:
        order[event.source.thread_id].append(event.event.id)
    assert dict(order) == {thread: ids for thread, ids in expected.items() if ids}
    signals = Counter(event_ids(settings, Topic.SIGNALS))
    assert len(signals) == len(wanted), "each of these events gives one signal"
    assert max(signals.values()) == 1
    assert read_all(settings, Topic.REJECTED) == []
