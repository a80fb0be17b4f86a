"""The runner in its loop: finds what anybody appends, stops within a batch, is patient with a log that fails."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.capture import Pauses
from ingest.health import Health
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.metrics import Metrics
from ingest.processing import Processing
from ingest.streams import lane
from ingest.streams.embedded import EmbeddedRunner
from tests.support.log import captured, values
from tests.support.runner import FailingLog, Upper
from tests.support.sources import until


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog.open(tmp_path / "log.db") as opened:
        yield opened


def running(folder: Path, runner: EmbeddedRunner, meanwhile: Callable[[], None], holds: Callable[[], bool]) -> Health:
    """Run the loop, do something, wait until it shows, and stop."""
    health = Health()

    async def main() -> None:
        processing = Processing(runner, folder / "lock", health, Metrics(), pauses=Pauses(first=0.001))
        processing.start()
        await asyncio.sleep(0.02)
        await asyncio.to_thread(meanwhile)
        await until(holds)
        await processing.stop()

    asyncio.run(main())
    return health


def test_what_is_appended_is_processed(log: EmbeddedLog, tmp_path: Path):
    runner = EmbeddedRunner(log, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)])
    running(tmp_path, runner, lambda: log.append(captured("a")), lambda: values(log, Topic.SIGNALS) == ["1 1 A"])


def test_what_another_process_appends_is_processed(log: EmbeddedLog, tmp_path: Path):
    runner = EmbeddedRunner(log, [Upper()])
    with EmbeddedLog.open(log.path) as other:
        running(tmp_path, runner, lambda: other.append(captured("a")), lambda: values(log, Topic.EVENTS) == ["1 A"])


def test_it_stops_within_a_batch(log: EmbeddedLog, tmp_path: Path, monkeypatch):
    """However much waits, at most the batch at hand is finished, and what it wrote is whole."""
    monkeypatch.setattr(lane, "BATCH_RECORDS", 1)
    log.append(captured(*(f"{number}" for number in range(5_000))))
    upper = Upper()
    running(tmp_path, EmbeddedRunner(log, [upper]), lambda: None, lambda: len(upper.batches) > 3)
    committed = log.committed("upper", Topic.CAPTURED)
    assert committed == len(values(log, Topic.EVENTS)) == len(upper.batches)
    assert committed < 5_000


def test_a_failing_log_is_tried_again(log: EmbeddedLog, tmp_path: Path):
    """A processor whose log fails costs the others nothing, and then goes on itself."""
    log.append([*captured("a"), NewRecord(Topic.EVENTS, "k", b"e")])
    fails = iter([True] * 3 + [False] * 1_000_000)
    failing = FailingLog(log, lambda name: name == "before commit" and next(fails))
    runner = EmbeddedRunner(failing, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)])
    health = running(tmp_path, runner, lambda: None, lambda: sorted(values(log, Topic.SIGNALS)) == ["1 E", "2 1 A"])
    assert values(log, Topic.EVENTS) == ["e", "1 A"]
    assert health.problems == {}
