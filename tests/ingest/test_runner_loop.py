"""The runner's loop: woken by appends, stopped within a batch, patient with a log that fails."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.streams import lane
from ingest.streams.embedded import EmbeddedRunner
from tests.support.log import captured, values
from tests.support.runner import FailingLog, Upper


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog.open(tmp_path / "log.db") as opened:
        yield opened


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - what is waited for is in a file
            await asyncio.sleep(0.01)


def running(runner: EmbeddedRunner, meanwhile: Callable[[], None], holds: Callable[[], bool]) -> None:
    """Run the loop, do something, wait until it shows, and stop."""

    async def main() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(runner.run(stop))
        await asyncio.sleep(0.02)
        await asyncio.to_thread(meanwhile)
        await until(holds)
        stop.set()
        await task

    asyncio.run(main())


def test_what_is_appended_is_processed(log: EmbeddedLog):
    runner = EmbeddedRunner(log, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)])
    running(runner, lambda: log.append(captured("a")), lambda: values(log, Topic.SIGNALS) == ["1 1 A"])


def test_what_another_process_appends_is_processed(log: EmbeddedLog):
    runner = EmbeddedRunner(log, [Upper()])
    with EmbeddedLog.open(log.path) as other:
        running(runner, lambda: other.append(captured("a")), lambda: values(log, Topic.EVENTS) == ["1 A"])


def test_it_stops_within_a_batch(log: EmbeddedLog, monkeypatch):
    """However much waits, at most the batch at hand is finished, and what it wrote is whole."""
    monkeypatch.setattr(lane, "BATCH_RECORDS", 1)
    log.append(captured(*(f"{number}" for number in range(5_000))))
    upper = Upper()
    stopped_at: list[int] = []

    async def main() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(EmbeddedRunner(log, [upper]).run(stop))
        await until(lambda: len(upper.batches) > 3)
        stop.set()
        await asyncio.sleep(0)
        stopped_at.append(len(upper.batches))
        await task

    asyncio.run(main())
    committed = log.committed("upper", Topic.CAPTURED)
    assert committed == len(values(log, Topic.EVENTS)) == len(upper.batches)
    assert committed < 5_000


def test_a_failing_log_is_tried_again(log: EmbeddedLog):
    """A processor whose log fails waits longer each time, beside others that go on, and then goes on itself."""
    log.append([*captured("a"), NewRecord(Topic.EVENTS, "k", b"e")])
    fails = iter([True] * 3 + [False] * 1_000_000)

    failing = FailingLog(log, lambda name: name == "before commit" and next(fails))
    runner = EmbeddedRunner(failing, [Upper(), Upper("second", Topic.EVENTS, Topic.SIGNALS)], first_pause_s=0.001)
    running(runner, lambda: None, lambda: sorted(values(log, Topic.SIGNALS)) == ["1 E", "2 1 A"])
    assert values(log, Topic.EVENTS) == ["e", "1 A"]


def test_a_cancelled_loop_leaves_no_thread_that_writes(log: EmbeddedLog):
    upper = Upper()

    async def main() -> None:
        task = asyncio.create_task(EmbeddedRunner(log, [upper]).run(asyncio.Event()))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        log.append(captured("a"))

    asyncio.run(main())
    assert values(log, Topic.EVENTS) == []
