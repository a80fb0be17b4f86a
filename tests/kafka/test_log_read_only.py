"""A log that is opened for reading only writes nothing, whatever is asked of it."""

import pytest

from ingest.log.contract import LogError, Topic
from ingest.log.kafka.log import KafkaLog
from tests.support.kafka_log import on_broker
from tests.support.log import captured, values


def test_everything_that_writes_is_refused(broker, prefix):
    with KafkaLog.open(on_broker(broker, prefix), read_only=True) as log:
        for write in (
            lambda: log.append(captured("x")),
            lambda: log.open_source("pi"),
            lambda: log.commit_offset("g", Topic.EVENTS, 1),
            lambda: log.register_group("g", Topic.EVENTS),
            lambda: log.forget_group("g", Topic.EVENTS),
            lambda: log.trim({}, 0),
        ):
            with pytest.raises(LogError, match="reading only"):
                write()
        assert values(log, Topic.CAPTURED) == []


def test_a_closed_log_says_so(broker, prefix):
    log = KafkaLog.open(on_broker(broker, prefix))
    log.append(captured("a"))
    log.close()
    log.close()
    with pytest.raises(LogError, match="closed"):
        log.append(captured("b"))
