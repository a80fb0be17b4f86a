"""A silent change of format is told at once: in status, in metrics and in the daemon's log; usual noise is not.

Rules: `ingest.drift`.
"""

import asyncio

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Capture, Rejected, Skipped
from ingest.capture import Capturing, Pauses
from ingest.drift import MIN_STRANGE, SILENT, WINDOW, WORDLESS, DriftWatch
from ingest.health import Health
from ingest.metrics import Metrics
from tests.support.sources import MemoryLog, ScriptedAdapter, heard, until

KNOWN = heard("e")
CALL = heard("c")
CALL.event.type = "tool_call"
UNKNOWN = Skipped("empty", "unknown line type")
BOOKKEEPING = Skipped("empty", "progress")


def signs(*elements, counts=None) -> dict[str, str]:
    watch = DriftWatch()
    watch.seed(counts or {})
    watch.note(elements)
    return watch.signs


def test_ten_unknown_ones_in_a_row_are_told_at_once():
    """A kind that was renamed: nothing of it is known any longer."""
    assert set(signs(*[KNOWN] * 50, *[UNKNOWN] * (MIN_STRANGE - 1))) == set()
    words = signs(*[KNOWN] * 50, *[UNKNOWN] * MIN_STRANGE)["unknown"]
    assert words.startswith(
        "10 of its last 60 elements are unknown to this version or unreadable, mostly 'unknown line"
    )
    assert "look for a newer version" in words


def test_elements_that_cannot_be_read_count_as_well():
    assert "mostly 'invalid-json'" in signs(*[KNOWN] * 50, *[Rejected("f", "invalid-json")] * 20)["unknown"]


def test_several_of_one_element_count_each():
    assert signs(*[KNOWN] * 20, Skipped("empty", "unknown block", MIN_STRANGE))
    assert not signs(*[KNOWN] * 20, Skipped("hidden", "system", 100))


def test_a_share_that_was_always_there_is_no_change():
    """A source a third of whose lines this version does not know has not changed by having them still."""
    usual = {"seen": 90_000, "unknown": 30_000, "emitted": 60_000}
    mixed = [KNOWN, KNOWN, UNKNOWN] * WINDOW
    assert not signs(*mixed, counts=usual)
    assert signs(*mixed), "without that past it is one"
    assert signs(*[KNOWN, UNKNOWN, UNKNOWN] * WINDOW, counts=usual), "more than half is, whatever was before"


def test_what_comes_after_a_change_does_not_become_what_is_usual():
    watch = DriftWatch()
    watch.note([KNOWN] * 1000)
    watch.note([UNKNOWN, KNOWN] * 20 * WINDOW)
    assert "unknown" in watch.signs


def test_a_sign_ends_when_it_is_over():
    watch = DriftWatch()
    assert watch.note([*[KNOWN] * 300, *[UNKNOWN] * 60]) == {"unknown"}
    assert watch.note([UNKNOWN]) == set(), "told once"
    watch.note([KNOWN] * WINDOW)
    assert watch.signs == {}


def test_a_source_that_had_events_and_gives_none_is_told():
    assert "gave no event at all" in signs(KNOWN, *[BOOKKEEPING] * SILENT)["silence"]
    assert "gave no event at all" in signs(*[BOOKKEEPING] * SILENT, counts={"seen": 9, "emitted": 9})["silence"]
    assert not signs(*[BOOKKEEPING] * SILENT), "one that never had any has nothing to lose"
    assert not signs(KNOWN, *[BOOKKEEPING] * SILENT, CALL), "an event ends it"


def test_a_source_that_had_messages_and_gives_only_others_is_told():
    assert "gave no message" in signs(KNOWN, *[CALL] * WORDLESS)["silence"]
    assert not signs(*[CALL] * WORDLESS)


def test_what_is_read_again_tells_nothing():
    """A rewritten file gives thousands of duplicates."""
    assert not signs(KNOWN, Skipped("duplicate", "message", 5000), *[Skipped("duplicate", "unknown line type")] * 500)


ELEMENTS = st.sampled_from(
    [KNOWN, CALL, UNKNOWN, BOOKKEEPING, Rejected("f", "invalid-json"), Skipped("hidden", "x", 3)]
)


@given(st.lists(st.lists(ELEMENTS, max_size=60), max_size=40))
def test_the_window_holds_what_it_says_whatever_comes(captures):
    """The model: the last `WINDOW` elements, counted anew."""
    watch, told = DriftWatch(), []
    for capture in captures:
        watch.note(capture)
        for element in capture:
            strange = isinstance(element, Rejected) or (isinstance(element, Skipped) and element.unknown)
            told += [strange] * getattr(element, "count", 1)
    assert watch._kinds.total() == sum(told[-WINDOW:])
    assert len(watch._window) == min(len(told), WINDOW)
    assert watch._seen <= max(0, len(told) - WINDOW)


@pytest.fixture
def told():
    with structlog.testing.capture_logs() as lines:
        yield lines


def test_a_change_is_in_health_metrics_and_the_log(told):
    async def run():
        log, health, metrics = MemoryLog(), Health(log_open=True), Metrics()
        adapter = ScriptedAdapter("s", [[Capture([KNOWN] * 50), Capture([UNKNOWN] * 20), Capture([UNKNOWN])]])
        metrics.watch(health, log)
        capturing = Capturing(log, [adapter], health, metrics, pauses=Pauses(first=0.001, longest=0.005))
        capturing.start()
        await until(lambda: "waits" in adapter.journal)
        await capturing.stop()
        return health, metrics, log

    health, metrics, log = asyncio.run(run())
    (warning,) = health.warnings()
    assert warning.startswith("source s: 10 of its last 60 elements are unknown"), "as soon as it shows"
    assert health.not_ready() == ["source s: first sweep not done"], "a warning is no reason to be not ready"
    assert metrics.registry.get_sample_value("ingest_format_drift", {"source": "s"}) == 1
    assert metrics.registry.get_sample_value("ingest_unknown_elements_total", {"source": "s"}) == 21
    assert log.counts["unknown"] == 21
    assert [line["event"] for line in told if line["log_level"] == "warning"] == ["format-drift"]


def test_after_a_restart_the_log_knows_what_was_usual():
    async def run():
        log = MemoryLog(counts={"seen": 1000, "emitted": 1000})
        adapter = ScriptedAdapter("s", [[Capture([BOOKKEEPING] * SILENT)]])
        health = Health()
        capturing = Capturing(log, [adapter], health, Metrics())
        capturing.start()
        await until(lambda: "waits" in adapter.journal)
        await capturing.stop()
        return health.sources["s"].drift

    assert "silence" in asyncio.run(run())
