"""Both ways of an import give the same events and the same counts, whatever the elements are."""

import dataclasses
import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters import catalogue
from adapters.contract import Heard, ReadOptions, Rejected, Skipped, Warned
from ingest import import_lanes, import_straight, packing
from ingest.import_lanes import PackedLane
from ingest.import_state import MemoryState
from ingest.import_straight import StraightLane
from ingest.importer import Importer
from ingest.log.contract import Topic
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import CapturedEvent, Thread
from schemas.event import Attachment, Citation, Refs, decode
from schemas.ids import event_id
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
    for module in (import_lanes, import_straight):
        monkeypatch.setattr(module, "now_iso", lambda: NOW)


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
    text=st.sampled_from(
        ["", "words", "\x1b[1m", "x" * 300_000, "\x01" * 200_000, "\x01" * 120_000, "y" * 60_000, "TASK-A-1 see"]
    ),
    times=st.lists(st.sampled_from([1_700_000_000, 1.5, math.nan, math.inf, "2026-01-01", "soon"]), max_size=2),
    html=st.booleans(),
    labels=st.lists(st.sampled_from(["", "x"]), max_size=2),
    message_id=NAMES,
    parent_message_id=NAMES,
    branch_id=NAMES,
    model=NAMES,
    tool_call_id=NAMES,
    attachments=st.lists(
        st.builds(
            Attachment,
            kind=st.sampled_from(["", "image", "image"]),
            name=NAMES,
            size_bytes=st.sampled_from([None, 0, 5, -1, 2**63, 2**70]),
        ),
        max_size=1,
    ),
    citations=st.lists(st.builds(Citation, url=NAMES, title=NAMES), max_size=1),
    refs=st.sampled_from([None, Refs(), Refs(task_ids=["T"]), Refs(run_ids=[""])]),
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


LONG = st.builds(
    CapturedEvent,
    id=st.uuids(version=4).map(str),
    type=st.just("message"),
    role=st.just("user"),
    text=st.sampled_from(["words", "words", "\x1b[1m", "é" * 100, "\x01" * 100, "y" * 7_000]),
    times=st.sampled_from([[1_700_000_000], [1_700_000_100.5], ["2026-01-01"], [], ["soon"]]),
    labels=st.sampled_from([[], [], ["x"]]),
    citations=st.sampled_from([[], [], [Citation(title="t" * 3_000)], [Citation(title="t" * 9_000)]]),
)


@pytest.fixture
def small_records(monkeypatch) -> None:
    """Records of a few events, so that short threads are long ones."""
    for module in (import_straight, packing):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 8_000)


@pytest.mark.usefixtures("small_records")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.builds(Heard, thread=st.just(THREADS[0]), event=LONG, nearby=NEARBY), min_size=4, max_size=60))
def test_a_long_thread_is_divided_and_no_time_depends_on_where(elements) -> None:
    packed, told = run(PackedLane, elements)
    straight, also_told = run(StraightLane, elements)
    assert [decode(line) for line in straight] == [decode(line) for line in packed]
    assert told.seen == also_told.seen == len(elements)


def test_a_long_thread_of_usual_events_is_never_packed(monkeypatch) -> None:
    """Else most of a person's long conversations would be read at half the speed."""
    monkeypatch.setattr(StraightLane, "_pack", lambda _: pytest.fail("packed"))
    thread = THREADS[0]
    events = [
        CapturedEvent(id=event_id(n), type="message", role="user", text="y" * 60_000, times=[1_700_000_000 + n])
        for n in range(40)
    ]
    lines, report = run(StraightLane, [Heard(thread, event) for event in events])
    assert [decode(line).event.id for line in lines] == [event.id for event in events]
    assert (report.emitted, report.conversations) == (40, 1)


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
