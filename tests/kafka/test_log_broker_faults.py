"""Brokers that die, come back or hang during appends: what was told to be written is there, once, in order.

The answer to a commit may be lost with the broker. Then it is looked up, and never guessed.
"""

import threading
import time

import pytest
from aiokafka import AIOKafkaProducer

from ingest.log.contract import LogError, Topic
from ingest.log.kafka import producer
from ingest.log.kafka.log import KafkaLog
from tests.support.daemon import eventually
from tests.support.kafka import LEFT_BEHIND, left_behind
from tests.support.kafka_capture import Capturing
from tests.support.kafka_log import on_broker
from tests.support.log import captured, everything, values

pytestmark = LEFT_BEHIND

END = 900
KILLS = 3


@pytest.fixture(autouse=True)
def leftovers():
    with left_behind():
        yield


def test_a_broker_killed_and_restarted_under_load(broker, prefix):
    settings = on_broker(broker, prefix)
    capturing = Capturing(settings, END)
    capturing.until("told")
    listening = threading.Thread(target=capturing.wait)
    listening.start()
    for kill in range(1, KILLS + 1):
        eventually(lambda kill=kill: capturing.told >= kill * END // (KILLS + 2), 60)
        assert capturing.told < END
        broker.kill()
        time.sleep(0.3)
        broker.start()
    listening.join(120)
    assert not listening.is_alive()
    assert capturing.told == END
    with KafkaLog.open(settings, read_only=True) as log:
        by_key: dict[str, list[int]] = {}
        for record in everything(log, Topic.CAPTURED):
            by_key.setdefault(record.key, []).append(int(record.value))
    assert all(numbers == sorted(numbers) for numbers in by_key.values())
    assert sorted(number for numbers in by_key.values() for number in numbers) == list(range(END))
    print(f"{KILLS} kills of the broker, {END} numbers captured, each once, in order of its key")  # noqa: T201 - the counts


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_commit_whose_answer_is_lost_is_looked_up(broker, prefix, monkeypatch, lost):
    """Both ways: the commit reached the broker and its answer did not come, and the commit never got there."""
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as log:
        source = log.open_source("pi")
        source.append(captured("a"), {"file": b"1"})
        _lose_next_commit(monkeypatch, reaches_broker=lost == "after")
        source.append(captured("b"), {"file": b"2"})
        source.append(captured("c"), {"file": b"3"})
        assert values(log, Topic.CAPTURED) == ["a", "b", "c"]
        assert source.checkpoints() == {"file": b"3"}


def test_an_import_looks_up_a_commit_as_well(broker, prefix, monkeypatch):
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as log:
        _lose_next_commit(monkeypatch, reaches_broker=True)
        log.append(captured("a"))
        _lose_next_commit(monkeypatch, reaches_broker=False)
        with pytest.raises(LogError, match="nothing was written"):
            log.append(captured("b"))
        log.append(captured("b"))
        assert values(log, Topic.CAPTURED) == ["a", "b"]


def _lose_next_commit(monkeypatch: pytest.MonkeyPatch, *, reaches_broker: bool) -> None:
    commit = AIOKafkaProducer.commit_transaction

    async def lost(self: object) -> None:
        monkeypatch.setattr(AIOKafkaProducer, "commit_transaction", commit)
        if reaches_broker:
            await commit(self)
        raise TimeoutError

    monkeypatch.setattr(AIOKafkaProducer, "commit_transaction", lost)


def test_an_append_while_brokers_hang_fails_in_time_and_is_not_repeated(broker, prefix, monkeypatch):
    """An append that was refused may have landed; offered again, as capture does, it is there once."""
    monkeypatch.setattr(producer, "SEND_SECONDS", 2.0)
    monkeypatch.setattr(producer, "COMMIT_SECONDS", 2.0)
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as log:
        source = log.open_source("pi")
        source.append(captured("a"), {"file": b"1"})
        broker.pause()
        begun = time.monotonic()
        with pytest.raises(LogError, match="no broker answers"):
            source.append(captured("b"), {"file": b"2"})
        assert time.monotonic() - begun < 100
        broker.resume()
        source.append(captured("b"), {"file": b"2"})
        assert values(log, Topic.CAPTURED) == ["a", "b"]
        assert source.checkpoints() == {"file": b"2"}


def test_nothing_hangs_while_no_broker_is_there(broker, prefix):
    settings = on_broker(broker, prefix)
    log = KafkaLog.open(settings)
    source = log.open_source("pi")
    log.append(captured("a"))
    broker.kill()
    begun = time.monotonic()
    for call in (
        lambda: source.append(captured("b"), {}),
        lambda: log.append(captured("b")),
        lambda: log.read(Topic.CAPTURED, 0, 1, 1),
        lambda: log.end_offset(Topic.CAPTURED),
        lambda: log.commit_offset("g", Topic.CAPTURED, 1),
        log.status,
        lambda: log.open_source("other"),
    ):
        with pytest.raises(LogError, match="no broker answers"):
            call()
    assert log.problems() != []
    log.close()
    assert time.monotonic() - begun < 200
    broker.start()
