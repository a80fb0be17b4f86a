"""A day of three providers through the real pipeline: pi and Claude Code live, a ChatGPT export beside them.

What the daemon's triage makes of it is what a person would propose, each with its evidence; the words "approve" and
"delete" in a conversation do nothing. All of it read again, in another order and with duplicates, adds nothing.
"""

import json
from pathlib import Path

import pytest

from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.streams.lane import BATCH_RECORDS
from tests.support.commands import TRIAGE, run
from tests.support.consumer import ALL, Bench, shape
from tests.support.triage import write_board
from tests.support.triage_day import Day
from triage.store.database import Store


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """Run the day once: the daemon follows the sessions, the export is imported beside it."""
    day = Day(tmp_path_factory.mktemp("day"))
    day.live()
    return day


def test_the_day_gives_the_expected_proposals_with_their_evidence(day: Day) -> None:
    day.must_be_as_expected()


def test_nothing_was_decided_by_what_conversations_say(day: Day) -> None:
    with Store.open(day.store, read_only=True) as store, store.read() as repository:
        assert list(repository.decisions.history()) == []
    assert {p.status.value for p in day.proposals(ALL)} == {"open"}


def test_all_of_it_again_in_another_order_with_duplicates_adds_nothing(day: Day, tmp_path: Path) -> None:
    topics = (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES)
    with EmbeddedLog.open(day.log, read_only=True) as log:
        records = [
            NewRecord(topic, record.key, record.value)
            for topic in topics
            for record in log.read(topic, 0, BATCH_RECORDS, 2**30)
        ]
    before = shape(day.proposals(ALL))
    with Store.open(day.store) as store:
        bench = Bench(tmp_path, store)
        bench.take([*reversed(records), *records[::2]])
        bench.log.close()
    assert shape(day.proposals(ALL)) == before


def test_the_daemon_that_starts_again_adds_nothing(day: Day) -> None:
    before = shape(day.proposals(ALL))
    day.live()
    assert shape(day.proposals(ALL)) == before


def test_the_report_shows_what_waits_for_a_decision(day: Day, tmp_path: Path) -> None:
    """Blocked and urgent first; the candidate for being done counts as its task is pending, and stays as it is."""
    tasks = [{"id": "TASK-BUD-7", "status": "in-progress", "description": "The hull"}]
    board = write_board(tmp_path, tasks)
    before = board.read_bytes()
    report = json.loads(run(TRIAGE, "--json", "--workspace", tmp_path, home=day.home).stdout)
    assert [item["title"] for item in report["proposals"]["later"]] == ["a bell at the slipway"]  # of no project
    assert report["proposals"]["store"] == str(day.store)
    assert board.read_bytes() == before
