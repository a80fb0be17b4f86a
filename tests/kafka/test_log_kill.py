"""`kill -9` of a capturing process at any point loses nothing and repeats nothing: checkpoint and records are one."""

import random

from ingest.log.contract import Topic
from ingest.log.kafka.log import KafkaLog
from tests.support.kafka_capture import SOURCE, Capturing
from tests.support.kafka_log import on_broker
from tests.support.log import everything

KILLS = 8
END = 900


def numbers(log: KafkaLog) -> list[list[int]]:
    """What is in the log, by partition, in its order."""
    by_key: dict[str, list[int]] = {}
    for record in everything(log, Topic.CAPTURED):
        by_key.setdefault(record.key, []).append(int(record.value))
    return list(by_key.values())


def test_nothing_is_lost_and_nothing_comes_twice(broker, prefix):
    settings, chance = on_broker(broker, prefix), random.Random(4)
    kills = 0
    for _ in range(KILLS):
        capturing = Capturing(settings, END)
        for _ in range(chance.randrange(1, 40)):
            if capturing.next() in ("done", ""):
                break
        capturing.kill()
        kills += 1
        with KafkaLog.open(settings, read_only=True) as log:
            there = sorted(number for of_key in numbers(log) for number in of_key)
        # What it was told is there, and what is there is a beginning of it all, each number once.
        assert there == list(range(len(there)))
        assert len(there) >= capturing.told
    last = Capturing(settings, END)
    assert last.wait() == 0
    with KafkaLog.open(settings) as log:
        found = numbers(log)
        assert sorted(number for of_key in found for number in of_key) == list(range(END))
        assert all(of_key == sorted(of_key) for of_key in found)
        assert log.open_source(SOURCE).checkpoints() == {"file": str(END).encode()}
        (source,) = log.status().sources
        assert source.counts == {"emitted": END}
    print(f"{kills} kills, {END} numbers captured, each once, in order of its key")  # noqa: T201 - the counts


def test_a_restart_begins_where_the_last_commit_ended(broker, prefix):
    settings = on_broker(broker, prefix)
    first = Capturing(settings, 30)
    assert first.wait() == 0
    second = Capturing(settings, 31)
    assert second.wait() == 0
    assert (first.began, second.began) == (0, 30)
