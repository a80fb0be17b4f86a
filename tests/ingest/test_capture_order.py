"""A source is asked for more only when what it gave is in the log with its checkpoint; a log that refuses stops it."""

import asyncio
import threading

import pytest

from adapters.contract import Capture, PermanentSourceError, Rejected, Skipped, TransientSourceError, Warned
from ingest.capture import Backoff, Capturing, DuplicateSourceError, Pauses
from ingest.health import Health, SourceState
from ingest.log.contract import FencedError, LogError, Topic
from ingest.metrics import Metrics
from tests.support.sources import MemoryLog, ScriptedAdapter, heard, ids_of, until

FAST = Pauses(first=0.001, longest=0.005, permanent=0.005)


class Stage:
    """One source over a log in memory."""

    def __init__(self, *scripts, log: MemoryLog | None = None, pauses: Pauses = FAST) -> None:
        self.log = log or MemoryLog()
        self.adapter = ScriptedAdapter("s", scripts, journal=self.log.journal)
        self.health = Health()
        self.metrics = Metrics()
        self.wakes = 0
        self.capturing = Capturing(
            self.log, [self.adapter], self.health, self.metrics, on_commit=self._wake, pauses=pauses
        )

    def _wake(self) -> None:
        self.wakes += 1

    @property
    def source(self):
        return self.health.sources["s"]

    async def play(self, condition) -> None:
        self.capturing.start()
        try:
            await until(condition)
        finally:
            await self.capturing.stop()

    def metric(self, name: str, **labels: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, labels)


def waits(stage: Stage):
    return lambda: "waits" in stage.log.journal


async def _play(stage: Stage, condition=None) -> Stage:
    await stage.play(condition or waits(stage))
    return stage


def play(*scripts, condition=None, **more) -> Stage:
    async def run() -> Stage:
        stage = Stage(*scripts, **more)
        return await _play(stage, (lambda: condition(stage)) if condition else None)

    return asyncio.run(run())


def test_the_next_capture_is_asked_for_after_the_append():
    """Ask, append, ask, append: never two asks in a row."""
    stage = play([Capture([heard(1)], {"f": b"1"}), Capture([heard(2)], {"f": b"2"})])
    assert stage.log.journal == ["asked 0", "appended", "asked 1", "appended", "waits"]
    assert ids_of(stage.log.records) == ["1", "2"]
    assert stage.log.points == {"f": b"2"}


def test_a_log_that_refuses_gets_the_same_capture_again_and_the_source_is_not_asked():
    """B11: nothing is skipped, no checkpoint moves, nothing is asked for."""
    log = MemoryLog(refusals=[LogError("disk full")] * 3)
    stage = play([Capture([heard(1)], {"f": b"1"}), Capture([heard(2)])], log=log)
    assert stage.log.journal == ["asked 0", *["refused"] * 3, "appended", "asked 1", "appended", "waits"]
    assert ids_of(stage.log.records) == ["1", "2"]
    assert stage.metric("ingest_errors_total", source="s", stage="sending", type="LogError") == 3


def test_while_the_log_refuses_the_source_says_so():
    """Readiness names the log's words."""
    log = MemoryLog(refusals=[LogError("disk full")] * 1000)
    stage = play([Capture([heard(1)])], log=log, condition=lambda s: s.source.state is SourceState.BACKING_OFF)
    stage.health.log_open = True
    assert stage.health.not_ready() == ["source s: backing-off: the log refuses: disk full"]
    assert stage.log.records == []


def test_a_transient_failure_restarts_from_the_checkpoints():
    """The second start sees what the first has committed."""
    stage = play([Capture([heard(1)], {"f": b"1"}), TransientSourceError("network")], [Capture([heard(2)])])
    assert stage.adapter.starts == [{}, {"f": b"1"}]
    assert ids_of(stage.log.records) == ["1", "2"]
    assert stage.source.last_error == "network"
    assert stage.source.restarts == 1


def test_an_unexpected_exception_is_counted_and_restarted_without_its_words_in_health():
    """A bug in an adapter costs a pause; its message may hold words of a conversation."""
    stage = play([ValueError("secret words")], [Capture([heard(1)])])
    assert ids_of(stage.log.records) == ["1"]
    assert stage.source.last_error == "unexpected ValueError; see the daemon's log"
    assert stage.metric("ingest_errors_total", source="s", stage="receiving", type="ValueError") == 1


def test_a_permanent_failure_is_tried_again_after_the_long_pause():
    """A person may mend it while the daemon runs."""
    stage = play([PermanentSourceError("no folder /x")], [Capture([heard(1)])])
    assert ids_of(stage.log.records) == ["1"]
    assert stage.source.last_error == "no folder /x"


def test_a_source_that_failed_for_good_says_why():
    pauses = Pauses(permanent=3600)
    stage = play(
        [PermanentSourceError("no folder /x")], pauses=pauses, condition=lambda s: s.source.state is SourceState.FAILED
    )
    stage.health.log_open = True
    assert stage.health.not_ready() == ["source s: failed: no folder /x"]
    assert stage.health.tried, "a source that only a person can mend does not hold up the start"


def test_a_fenced_source_stops_and_is_not_started_again():
    """A newer copy of the same source has taken over."""
    log = MemoryLog(refusals=[FencedError("epoch 3")])
    stage = play([Capture([heard(1)])], log=log, condition=lambda s: s.source.state is SourceState.STOPPED)
    assert stage.log.records == []
    assert len(stage.adapter.starts) == 1
    assert "another copy" in stage.source.last_error


def test_an_adapter_that_ends_is_started_again():
    class Ends(ScriptedAdapter):
        async def captures(self, checkpoints):
            self.starts.append(dict(checkpoints))
            yield Capture([heard(len(self.starts))])

    async def run() -> MemoryLog:
        log = MemoryLog()
        adapter = Ends("s", [[]])
        capturing = Capturing(log, [adapter], Health(), Metrics(), pauses=FAST)
        capturing.start()
        await until(lambda: len(adapter.starts) > 2)
        await capturing.stop()
        return log

    assert ids_of(asyncio.run(run()).records)[:2] == ["1", "2"]


def test_stopping_waits_for_the_append_under_way():
    """Two-phase drain (B38): the thread that writes is not left behind."""
    entered, leave = threading.Event(), threading.Event()

    async def run() -> MemoryLog:
        log = MemoryLog(before_append=lambda: (entered.set(), leave.wait(10)))
        stage = Stage([Capture([heard(1)], {"f": b"1"})], log=log)
        stage.capturing.start()
        await until(entered.is_set)
        stopping = asyncio.create_task(stage.capturing.stop())
        await asyncio.sleep(0.02)
        assert not stopping.done()
        leave.set()
        await stopping
        assert stage.adapter.closed == 1
        return log

    log = asyncio.run(run())
    assert log.points == {"f": b"1"}
    assert "asked 1" not in log.journal


def test_cancelling_between_receive_and_append_loses_nothing():
    """What a stopped source had given and the log had refused is given again at the next start."""
    log = MemoryLog(refusals=[LogError("busy")] * 10_000)
    play([Capture([heard(1)], {"f": b"1"})], log=log, condition=lambda s: len(s.log.journal) > 3)
    log.refusals.clear()
    log.journal.clear()
    stage = play([Capture([heard(1)], {"f": b"1"})], log=log)
    assert stage.adapter.starts == [{}]
    assert ids_of(log.records) == ["1"]


def test_one_source_in_trouble_does_not_stop_the_other():
    async def run() -> MemoryLog:
        log = MemoryLog()
        bad = ScriptedAdapter("bad", [[ValueError("x")]])
        good = ScriptedAdapter("good", [[Capture([heard(n)]) for n in range(5)]], journal=log.journal)
        capturing = Capturing(log, [bad, good], Health(), Metrics(), pauses=FAST)
        capturing.start()
        await until(lambda: "waits" in log.journal and len(bad.starts) > 3)
        await capturing.stop()
        return log

    assert ids_of(asyncio.run(run()).records) == ["0", "1", "2", "3", "4"]


def test_two_sources_of_one_name_are_refused():
    """B26: they would share checkpoints."""
    twins = [ScriptedAdapter("pi", [[]]), ScriptedAdapter("pi", [[]])]
    with pytest.raises(DuplicateSourceError, match="'pi'"):
        Capturing(MemoryLog(), twins, Health(), Metrics())


def test_counts_reach_the_log_and_the_metrics():
    """The sum holds: seen = emitted + empty + hidden + duplicate + rejected, here and there."""
    elements = [heard(1), Skipped("empty", "label", 2), Skipped("hidden", "system"), Rejected("f: byte 3", "bad-json")]
    stage = play([Capture([*elements, Warned("f", "odd")], {})])
    assert stage.log.counts == {
        "seen": 5, "emitted": 1, "empty": 2, "hidden": 1, "rejected": 1, "rejected:bad-json": 1,
    }  # fmt: skip
    assert dict(stage.source.counts) == stage.log.counts
    assert stage.metric("ingest_events_read_total", source="s") == 5
    assert stage.metric("ingest_events_published_total", source="s", topic=Topic.CAPTURED) == 1
    assert stage.metric("ingest_events_dropped_total", source="s", reason="empty") == 2
    assert stage.metric("ingest_events_dead_lettered_total", source="s", reason="bad-json") == 1
    assert stage.wakes == 1


def test_an_empty_capture_means_caught_up_and_is_not_written():
    stage = play([Capture(())])
    assert stage.source.swept
    assert stage.log.journal == ["asked 0", "waits"]


def test_a_capture_with_only_checkpoints_is_written():
    stage = play([Capture((), {"f": b"2"})])
    assert stage.log.points == {"f": b"2"}
    assert stage.wakes == 0


def test_pauses_grow_to_the_longest_and_start_anew():
    backoff = Backoff(first=1.0, longest=8.0)
    pauses = [backoff.next() for _ in range(6)]
    for pause, full in zip(pauses, [1, 2, 4, 8, 8, 8], strict=True):
        assert full / 2 <= pause <= full
    backoff.reset()
    assert backoff.next() <= 1.0
