"""The heartbeat: how long data takes to get all the way through, also when nobody writes, and when it does not.

Rule: `ingest_end_to_end_timestamp_seconds` is a moment before which everything in the log has been worked off by every
consumer, what they derived from it included; it stands still while a consumer, or the log, does.
"""

import asyncio
import time
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from ingest.health import Health
from ingest.heartbeat import HOPS, Heartbeat, Mark
from ingest.log.contract import GroupStatus, LogError, LogStatus, Topic
from ingest.metrics import Metrics
from tests.support.daemon import Home, eventually, fetch, session_file
from tests.support.sources import until

FLOW = {"normalize": Topic.CAPTURED, "signals": Topic.EVENTS, "triage": Topic.SIGNALS}
"""Each reads a topic and writes the next one's."""


def groups(ends: Mapping[Topic, int], committed: Mapping[str, int]) -> list[GroupStatus]:
    """The consumers, where they are."""
    return [
        GroupStatus(name, topic, committed[name], ends[topic], ends[topic] - committed[name], {}, None)
        for name, topic in FLOW.items()
    ]


class Log:
    """A log with one status."""

    def __init__(self) -> None:
        self.groups = groups(dict.fromkeys(Topic, 0), dict.fromkeys(FLOW, 0))
        self.away = False

    def status(self) -> LogStatus:
        if self.away:
            raise LogError("it is away")
        return LogStatus([], [], self.groups, None)


def through(metrics: Metrics) -> tuple[float, float]:
    """How many marks got through, and the moment of the last one."""
    count = metrics.registry.get_sample_value("ingest_end_to_end_seconds_count")
    moment = metrics.registry.get_sample_value("ingest_end_to_end_timestamp_seconds")
    assert count is not None
    assert moment is not None
    return count, moment


@given(st.lists(st.tuples(st.sampled_from([*FLOW, "write", "look"]), st.integers(1, 3)), max_size=60))
def test_a_mark_is_through_only_after_what_was_written_before_it(steps) -> None:
    """Any interleaving of writers and consumers, each record making one of the next topic."""
    ends, committed = dict.fromkeys(Topic, 0), dict.fromkeys(FLOW, 0)
    ends[Topic.CAPTURED] = before = 5
    mark = Mark(groups(ends, committed))
    for what, count in steps:
        if mark.through:
            break
        if what == "write":
            ends[Topic.CAPTURED] += count
        elif what == "look":
            mark.look(groups(ends, committed))
        else:
            done = min(count, ends[FLOW[what]] - committed[what])
            committed[what] += done
            for topic in [topic for topic in FLOW.values() if [*FLOW].index(what) + 1 == [*FLOW.values()].index(topic)]:
                ends[topic] += done
    if mark.through:
        assert all(at >= before for at in committed.values())


def test_a_mark_gets_through_when_nobody_writes() -> None:
    idle = groups(dict.fromkeys(Topic, 7), dict.fromkeys(FLOW, 7))
    mark = Mark(idle)
    for _ in range(HOPS):
        assert not mark.through
        mark.look(idle)
    assert mark.through


def test_the_moment_stands_still_while_a_consumer_the_processors_or_the_log_do() -> None:
    async def run() -> None:
        log, health, metrics, rounds = Log(), Health(), Metrics(), []
        beating = Heartbeat(log, health, metrics, lambda: rounds.append(1), period_seconds=0.01, look_seconds=0.01)
        task = asyncio.create_task(beating.run())
        await until(lambda: through(metrics)[0] >= 2)
        behind = {"normalize": 3, "signals": 2, "triage": 2}
        log.groups = groups(dict.fromkeys(Topic, 3), behind)
        await stands(metrics)
        log.groups = groups(dict.fromkeys(Topic, 3), dict.fromkeys(FLOW, 3))
        await moves(metrics)
        health.round_ended = time.monotonic()
        await stands(metrics)
        health.round_ended = time.monotonic() + 3600
        await moves(metrics)
        log.away = True
        await stands(metrics)
        log.away = False
        await moves(metrics)
        task.cancel()
        await asyncio.wait([task])
        assert rounds

    async def stands(metrics: Metrics) -> None:
        await asyncio.sleep(0.2)  # a beat may have been at its end
        before = through(metrics)
        await asyncio.sleep(0.2)
        assert through(metrics) == before

    async def moves(metrics: Metrics) -> None:
        count, moment = through(metrics)
        await until(lambda: through(metrics)[0] > count)
        assert through(metrics)[1] > moment

    asyncio.run(run())


def moment(home: Home) -> float:
    lines = fetch(f"{home.url}/metrics")[1].splitlines()
    return float(next(line for line in lines if line.startswith("ingest_end_to_end_timestamp_seconds ")).split()[1])


def test_a_daemon_tells_and_an_operator_sees_that_nothing_gets_through(tmp_path) -> None:
    """Without processors what is captured waits; once they run, the moment passes that of the capture."""
    home = Home(tmp_path)
    try:
        home.start()
        begun = time.time()
        eventually(lambda: moment(home) > begun, 60)
        assert home.stop() == 0
        session_file(home, 1).append(3)
        home.start("--only", "capture")
        written = time.time()
        time.sleep(3)  # a mark of before the capture may still get through
        assert moment(home) <= written
        assert home.stop() == 0
        home.start()
        eventually(lambda: moment(home) > written, 60)
        assert home.stop() == 0
    finally:
        home.close()
