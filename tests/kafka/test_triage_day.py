"""The day of three providers on Kafka: the same sources, the same proposals, and nothing added by a second start.

Capture, the Faust worker and the triage run as `session-ingest run` starts them; the import goes through the broker.
"""

from pathlib import Path

import pytest

from tests.support.commands import INGEST, run
from tests.support.consumer import ALL, shape
from tests.support.kafka import Broker
from tests.support.triage_day import EXPECTED, Day

pytestmark = pytest.mark.timeout(600)


def test_the_day_gives_on_kafka_what_it_gives_on_one_machine(broker: Broker, prefix: str, tmp_path: Path) -> None:
    variables = {
        "SESSION_INGEST__ENGINE": "kafka",
        "SESSION_INGEST__KAFKA__BOOTSTRAP_SERVERS": broker.bootstrap,
        "SESSION_INGEST__KAFKA__TOPIC_PREFIX": prefix,
        "SESSION_INGEST__KAFKA__PARTITIONS": "3",
        "SESSION_INGEST__KAFKA__REPLICATION": "1",
    }
    day = Day(tmp_path, variables)
    assert run(INGEST, "topics", "--create", home=tmp_path, env=variables).returncode == 0
    day.live(len(EXPECTED))
    day.must_be_as_expected()
    before = shape(day.proposals(ALL))
    day.live(len(EXPECTED))
    assert shape(day.proposals(ALL)) == before
