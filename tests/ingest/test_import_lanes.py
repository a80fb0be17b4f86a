"""Both ways of an import give the same events and the same counts, whatever the elements are."""

import dataclasses
import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import catalogue
from adapters.contract import Heard, ReadOptions, Rejected, Skipped, Warned
from ingest import import_lanes
from ingest.import_lanes import PackedLane, StraightLane
from ingest.import_state import MemoryState
from ingest.importer import Importer
from ingest.log.contract import Topic
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import CapturedEvent, Thread
from schemas.event import Attachment, decode
from schemas.report import FileReport

CASES = Path(__file__).parents[1] / "cases"
NOW = "2026-01-02T03:04:05.678Z"


class ListSink:
    """Keeps canonical lines."""

    def __init__(self, keeps_captured: bool) -> None:
        self.state = MemoryState()
        self.keeps_captured = keeps_captured
        self.lines: list[bytes] = []

    def take(self, record, outputs) -> None:
        self.write([output.value for output in outputs if output.topic is Topic.EVENTS])

    def write(self, lines) -> None:
        self.lines += lines


@pytest.fixture(autouse=True)
def still_clock(monkeypatch) -> None:
    monkeypatch.setattr(import_lanes, "now_iso", lambda: NOW)


def run(lane_type, elements) -> tuple[list[bytes], FileReport]:
    sink, report = ListSink(keeps_captured=False), FileReport(path="x")
    lane = lane_type(sink, NormalizeProcessor(), report)
    for element in elements:
        lane.feed(element)
    lane.flush()
    report.conversations = len(lane.threads)
    return sink.lines, report


NAMES = st.sampled_from([None, "", "a", "é"])
EVENTS = st.builds(
    CapturedEvent,
    id=st.sampled_from(["a", "b", "c", "", "with space", "d" * 300]),
    type=st.sampled_from(["message", "status", "tool_call"]),
    role=st.sampled_from(["user", "assistant", "", "nobody"]),
    text=st.sampled_from(["", "words", "\x1b[1m", "x" * 300_000, "\x01" * 200_000, "TASK-A-1 see"]),
    times=st.lists(st.sampled_from([1_700_000_000, 1.5, math.nan, math.inf, "2026-01-01", "soon"]), max_size=2),
    html=st.booleans(),
    labels=st.lists(st.sampled_from(["", "x"]), max_size=2),
    message_id=NAMES,
    parent_message_id=NAMES,
    branch_id=NAMES,
    model=NAMES,
    tool_call_id=NAMES,
    attachments=st.lists(st.builds(Attachment, kind=st.sampled_from(["", "image"]), name=NAMES), max_size=1),
)
THREADS = [
    Thread(provider="chatgpt", thread_id="t1", title="T"),
    Thread(provider="x", thread_id="t2", account="a"),
    Thread(provider="x", thread_id="t3", title=""),
]
NEARBY = st.sampled_from([(), (1_600_000_000,), (math.nan, "2020-01-01")])
ELEMENTS = st.builds(Heard, thread=st.sampled_from(THREADS), event=EVENTS, nearby=NEARBY) | st.sampled_from(
    [Rejected("w", "bad", "d"), Skipped("empty", "x", 2), Warned("w", "m")]
)


@settings(deadline=None)
@given(st.lists(ELEMENTS, max_size=12))
def test_the_straight_way_gives_what_the_packed_way_gives(elements) -> None:
    packed, told = run(PackedLane, elements)
    straight, also_told = run(StraightLane, elements)
    assert straight == packed
    assert msgspec.structs.replace(told, rejected=[]) == msgspec.structs.replace(also_told, rejected=[])
    assert len(told.rejected) == len(also_told.rejected)
    assert told.seen == told.emitted + told.empty + told.hidden + told.duplicate + told.rejected_count


@pytest.mark.parametrize("folder", ["exports", "sessions"])
def test_all_cases_come_out_equal(folder: str) -> None:
    readers = catalogue.load()
    sinks = [ListSink(keeps_captured) for keeps_captured in (True, False)]
    reports = [list(Importer(sink, readers, ReadOptions()).run([CASES / folder])) for sink in sinks]
    assert sinks[0].lines == sinks[1].lines
    assert len(sinks[0].lines) > 50
    assert reports[0] == reports[1]
    assert all(decode(line) for line in sinks[0].lines)


def test_a_foreign_reader_goes_the_packed_way() -> None:
    """What its code gives is held against the types."""
    assert dataclasses.is_dataclass(catalogue.Catalogue)

    class Foreign:
        name = provider = "foreign"

    report = FileReport(path="x")
    importer = Importer(ListSink(keeps_captured=False), catalogue.Catalogue([]), ReadOptions())
    assert type(importer._lane(Foreign(), report)) is PackedLane
    assert type(importer._lane(catalogue.load().readers[0], report)) is StraightLane
