"""One copy of a source writes: a newer one fences the older, and nothing else stops a copy that is the newest."""

import pytest

from ingest.log.contract import FencedError, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.log.kafka.topics import source_id
from tests.support.kafka_capture import SOURCE, Capturing
from tests.support.kafka_log import on_broker, steal_epoch
from tests.support.log import captured, everything, values


def test_a_zombie_that_is_resumed_writes_nothing_and_stops(broker, prefix):
    """A machine sleeps in the middle of capture, another takes over, the first wakes up."""
    settings = on_broker(broker, prefix)
    zombie = Capturing(settings, 100_000)
    for _ in range(5):
        zombie.until("told")
    zombie.pause()
    replacement = Capturing(settings, 600)
    assert replacement.wait() == 0
    zombie.resume()
    assert zombie.wait() == 3
    with KafkaLog.open(settings) as log:
        assert sorted(int(record.value) for record in everything(log, Topic.CAPTURED)) == list(range(600))
        assert log.open_source(SOURCE).checkpoints() == {"file": b"600"}
    assert replacement.began >= 15


def test_two_copies_that_start_at_once_leave_one(broker, prefix):
    settings = on_broker(broker, prefix)
    copies = [Capturing(settings, 300) for _ in range(2)]
    statuses = sorted(copy.wait() for copy in copies)
    # Whichever opened last has finished; the other was fenced, unless it was through before.
    assert statuses in ([0, 3], [0, 0])
    with KafkaLog.open(settings, read_only=True) as log:
        assert sorted(int(record.value) for record in everything(log, Topic.CAPTURED)) == list(range(300))


def test_a_copy_that_is_still_the_owner_goes_on_after_it_was_fenced(broker, prefix):
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as log:
        source = log.open_source("pi")
        source.append(captured("a"), {"file": b"1"})
        for number in range(3):
            steal_epoch(settings, source_id(settings, "pi"))
            source.append(captured(f"{number}"), {"file": f"{number}".encode()})
        assert values(log, Topic.CAPTURED) == ["a", "0", "1", "2"]
        assert source.checkpoints() == {"file": b"2"}


def test_the_newest_copy_outlives_an_older_one_that_comes_back(broker, prefix):
    """The older copy looks, sees that it is not the owner, and does not disturb the newer one for good."""
    settings = on_broker(broker, prefix)
    with KafkaLog.open(settings) as first, KafkaLog.open(settings) as second:
        old = first.open_source("pi")
        new = second.open_source("pi")
        for number in range(3):
            with pytest.raises(FencedError, match="newer copy"):
                old.append(captured("old"), {})
            new.append(captured(f"{number}"), {})
        assert values(first, Topic.CAPTURED) == ["0", "1", "2"]
