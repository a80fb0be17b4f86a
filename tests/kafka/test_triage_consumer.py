"""The triage's consumer reads Kafka as it reads the embedded log: the same proposals, each record once."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ingest.log.contract import LogError, Topic
from ingest.log.kafka.log import KafkaLog
from ingest.settings_kafka import KafkaSettings
from schemas.event import decode
from tests.support.consumer import ALL, Bench, records_of, shape
from tests.support.kafka import Broker
from tests.support.kafka_log import on_broker, settle
from tests.support.stores import decision
from tests.support.triage import event
from triage.chores import tell
from triage.reader import GROUP

TOPICS = (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES)

DAY = [
    *(event(f"- idea: {number // 3} bells", "user", thread=f"t{number}", hours=3) for number in range(12)),
    *(event(f"Blocked: TASK-BUD-{n} needs a key", thread=f"t{n}", hours=2) for n in range(5)),
    event("[COLONY_SIGNAL:COMPLETE] [c1]\n**Status:** ❌ failed", type="signal", thread="t1"),
    event("## Next Steps\n- Paint the ferry", "system", type="summary", thread="t2"),
]


@pytest.fixture
def settings(broker: Broker, prefix: str) -> KafkaSettings:
    return on_broker(broker, prefix)


@pytest.fixture
def log(settings: KafkaSettings) -> Iterator[KafkaLog]:
    with KafkaLog.open(settings) as log:
        yield log


@pytest.fixture
def bench(log: KafkaLog, settings: KafkaSettings, tmp_path: Path) -> Iterator[Bench]:
    (tmp_path / "kafka").mkdir()
    bench = Bench(tmp_path / "kafka", log=log, settle=partial(settle, settings))
    yield bench
    bench.store.close()


def test_both_engines_give_the_same_proposals(bench: Bench, log: KafkaLog, tmp_path: Path) -> None:
    assert log.partitions(Topic.EVENTS) > 1
    embedded = Bench(tmp_path).hear(*DAY)
    bench.hear(*DAY)
    assert len(bench.proposals()) > 5
    assert shape(bench.proposals(ALL)) == shape(embedded.proposals(ALL))
    embedded.close()


def test_a_reader_that_starts_again_goes_on_and_the_group_says_how_far_it_is(bench: Bench, log: KafkaLog) -> None:
    bench.hear(*DAY)
    before = shape(bench.proposals(ALL))
    bench.open()
    assert bench.work() == 0
    bench.hear(*DAY)
    assert shape(bench.proposals(ALL)) == before
    places = [(topic, part) for topic in TOPICS for part in range(log.partitions(topic))]
    assert {log.committed(GROUP, topic, part) for topic, part in places} == set(bench.reader.positions.values())


def test_brokers_that_go_away_cost_nothing(
    broker: Broker, settings: KafkaSettings, bench: Bench, tmp_path: Path
) -> None:
    bench.log.append(records_of(DAY))
    broker.kill()
    with pytest.raises(LogError):
        bench.work()
    broker.start()
    settle(settings)
    bench.open()
    bench.work()
    reference = Bench(tmp_path).hear(*DAY)
    assert shape(bench.proposals(ALL)) == shape(reference.proposals(ALL))
    reference.close()


def test_decisions_are_told_on_their_topic(settings: KafkaSettings, bench: Bench, log: KafkaLog) -> None:
    with bench.store.write() as repository:
        repository.decisions.append(decision(task_id="TASK-1"))
    assert (tell(bench.store, log), tell(bench.store, log)) == (1, 0)
    settle(settings)
    told = [
        decode(record.value)
        for part in range(log.partitions(Topic.DECISIONS))
        for record in log.read(Topic.DECISIONS, 0, 10, 2**20, part)
    ]
    assert [(one.event.type, one.event.refs.task_ids) for one in told if one.event.refs] == [("status", ["TASK-1"])]
