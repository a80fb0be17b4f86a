"""The day of three providers on Kafka: the same sources, the same proposals, and nothing added by a second start.

Capture, the Faust worker and the triage run as `session-ingest run` starts them; the import goes through the broker.
"""

from pathlib import Path

import pytest

from tests.support.commands import INGEST, run
from tests.support.consumer import ALL, shape
from tests.support.kafka import Broker
from tests.support.kafka_log import settings_for, variables_of
from tests.support.triage_day import Day

pytestmark = pytest.mark.timeout(600)


def test_the_day_gives_on_kafka_what_it_gives_on_one_machine(broker: Broker, prefix: str, tmp_path: Path) -> None:
    variables = variables_of(settings_for(broker.bootstrap, prefix))
    day = Day(tmp_path, variables)
    assert run(INGEST, "topics", "--create", home=tmp_path, env=variables).returncode == 0
    day.live()
    day.must_be_as_expected()
    before = shape(day.proposals(ALL))
    day.live()
    assert shape(day.proposals(ALL)) == before
