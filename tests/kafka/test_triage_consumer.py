"""The triage's consumer reads Kafka as it reads the embedded log: the same proposals, each record once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.log.contract import LogError, Topic
from ingest.log.kafka.log import KafkaLog
from schemas.event import decode
from tests.support.consumer import ALL, Bench, records_of, shape
from tests.support.kafka_log import on_broker
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
def log(broker, prefix) -> Iterator[KafkaLog]:
    with KafkaLog.open(on_broker(broker, prefix)) as log:
        yield log


def test_both_engines_give_the_same_proposals(log: KafkaLog, tmp_path: Path) -> None:
    assert log.partitions(Topic.EVENTS) > 1
    for name in ("embedded", "kafka"):
        (tmp_path / name).mkdir()
    embedded, kafka = Bench(tmp_path / "embedded"), Bench(tmp_path / "kafka", log=log)
    embedded.hear(*DAY)
    kafka.hear(*DAY)
    assert len(kafka.proposals()) > 5
    assert shape(kafka.proposals(ALL)) == shape(embedded.proposals(ALL))
    embedded.close()
    kafka.store.close()


def test_a_reader_that_starts_again_goes_on_and_the_group_says_how_far_it_is(log: KafkaLog, tmp_path: Path) -> None:
    bench = Bench(tmp_path, log=log)
    bench.hear(*DAY)
    before = shape(bench.proposals(ALL))
    bench.open()
    assert bench.work() == 0
    bench.hear(*DAY)
    assert shape(bench.proposals(ALL)) == before
    places = [(topic, part) for topic in TOPICS for part in range(log.partitions(topic))]
    assert {log.committed(GROUP, topic, part) for topic, part in places} == set(bench.reader.positions.values())
    bench.store.close()


def test_brokers_that_go_away_cost_nothing(broker, log: KafkaLog, tmp_path: Path) -> None:
    bench = Bench(tmp_path, log=log)
    log.append(records_of(DAY))
    broker.kill()
    with pytest.raises(LogError):
        bench.work()
    broker.start()
    bench.open()
    bench.work()
    (tmp_path / "reference").mkdir()
    reference = Bench(tmp_path / "reference").hear(*DAY)
    assert shape(bench.proposals(ALL)) == shape(reference.proposals(ALL))
    reference.close()
    bench.store.close()


def test_decisions_are_told_on_their_topic(log: KafkaLog, tmp_path: Path) -> None:
    bench = Bench(tmp_path, log=log)
    with bench.store.write() as repository:
        repository.decisions.append(decision(task_id="TASK-1"))
    assert (tell(bench.store, log), tell(bench.store, log)) == (1, 0)
    told = [
        decode(record.value)
        for part in range(log.partitions(Topic.DECISIONS))
        for record in log.read(Topic.DECISIONS, 0, 10, 2**20, part)
    ]
    assert [(one.event.type, one.event.refs.task_ids) for one in told if one.event.refs] == [("status", ["TASK-1"])]
    bench.store.close()
