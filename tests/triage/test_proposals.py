"""Open proposals in the report: what to unlock now and what can wait, ranked; quick where there is no store."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stores import evidence, proposal
from tests.support.triage import Home, task, write_board
from triage.board.model import Proposal, ProposalKind, ProposalStatus
from triage.store.database import Store


def keep(home: Home, *proposals: Proposal) -> Path:
    """Put proposals into the store of a home."""
    path = home.folder / ".local/state/session-triage/triage.db"
    with Store.open(path) as store, store.write() as repository:
        for one in proposals:
            repository.proposals.add(one, "2026-11-30")
    return path


def about(home: Home, subject: str, **members: object) -> Proposal:
    return proposal(subject, **{"workspace": str(home.workspace), "title": subject, **members})


def titles(items: list[dict]) -> list[str]:
    return [item["title"] for item in items]


def test_without_a_store_nothing_of_a_database_is_imported(home: Home):
    code = "import sys; from triage.cli import main\ntry: main()\nfinally: print('sqlalchemy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "--json"],
        env={**home.environment, "PYTHONPATH": ":".join(sys.path)},
        cwd=home.workspace,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("False\n")
    report = json.loads(done.stdout.removesuffix("False\n"))
    assert report["proposals"] == {"store": None, "unlockNow": [], "later": [], "heldBack": 0}


def test_blocked_and_urgent_come_first_then_the_oldest_then_what_most_threads_speak_of(home: Home):
    write_board(home.workspace, [task("T-0", priority="p0"), task("T-1", status="blocked"), task("T-2")])
    keep(
        home,
        about(home, "new", created_ms=5),
        about(home, "older", created_ms=4),
        about(home, "as old, in two threads", created_ms=4, thread_count=2),
        about(home, "of an urgent task", created_ms=9, kind=ProposalKind.DONE_CANDIDATE, task_id="T-0"),
        about(home, "blocked", created_ms=8, kind=ProposalKind.UNBLOCK, task_id="T-1"),
        about(home, "p0 itself", created_ms=7, priority="p0"),
    )
    shown = home.run("--json").report["proposals"]
    assert titles(shown["unlockNow"]) == ["p0 itself", "blocked", "of an urgent task"]
    assert titles(shown["later"]) == ["as old, in two threads", "older", "new"]


def test_each_has_its_evidence_and_a_reason(home: Home):
    keep(home, about(home, "a bell", evidence=(evidence(),), evidence_count=1, thread_count=1, why="written down"))
    (item,) = home.run("--json").report["proposals"]["later"]
    assert (item["why"], item["evidenceCount"]) == ("written down", 1)
    assert item["evidence"][0] == {
        "eventId": "e1",
        "providerAccountKey": "pi",
        "threadId": "t1",
        "timestampIso": "2026-11-30T09:00:00.000Z",
        "role": "user",
        "words": "Idea: a bell at the slipway",
        "rule": "idea-line",
        "confidence": 1.0,
    }
    text = home.run().stdout
    assert "? idea-promotion " in text
    assert "written down" in text
    assert "“Idea: a bell at the slipway”" in text


@pytest.mark.parametrize("status", [ProposalStatus.APPROVED, ProposalStatus.REJECTED, ProposalStatus.EXPIRED])
def test_what_is_decided_is_not_shown(home: Home, status: ProposalStatus):
    keep(home, about(home, "a bell", status=status))
    assert home.run("--json").report["proposals"]["later"] == []


def test_what_is_deferred_is_shown_when_its_time_has_come(home: Home):
    deferred = {"status": ProposalStatus.DEFERRED}
    keep(
        home,
        about(home, "past", deferred_until_ms=1, **deferred),
        about(home, "to come", deferred_until_ms=2**52, **deferred),
    )
    assert titles(home.run("--json").report["proposals"]["later"]) == ["past"]


def test_only_what_is_of_this_workspace_or_of_none_is_shown(home: Home):
    keep(
        home,
        about(home, "here"),
        about(home, "of none", workspace="", created_ms=2),
        about(home, "elsewhere", workspace="/w"),
    )
    assert titles(home.run("--json").report["proposals"]["later"]) == ["here", "of none"]


def test_what_the_board_has_settled_since_is_left_out(home: Home):
    write_board(home.workspace, [task("T-1", status="completed"), task("T-2", status="in-progress")])
    done = ProposalKind.DONE_CANDIDATE
    keep(
        home,
        about(home, "finished", kind=done, task_id="T-1"),
        about(home, "pending", kind=done, task_id="T-2"),
        about(home, "unknown", kind=done, task_id="T-3"),
        about(home, "unblock the finished", kind=ProposalKind.UNBLOCK, task_id="T-1"),
    )
    shown = home.run("--json").report["proposals"]
    assert titles(shown["later"]) == ["pending"]
    assert shown["unlockNow"] == []


def test_a_store_that_cannot_be_read_costs_the_report_a_warning(home: Home):
    path = keep(home, about(home, "a bell"))
    path.write_bytes(b"notes " * 1000)
    done = home.run("--json")
    assert done.status == 0
    (problem,) = [p for p in done.report["problems"] if p["reason"] == "store-unreadable"]
    assert "file is not a database" in problem["detail"]


def test_the_report_changes_nothing_in_the_store(home: Home):
    path = keep(home, about(home, "a bell"))
    before = path.read_bytes()
    assert home.run("--json").status == 0
    assert path.read_bytes() == before


def test_the_store_that_the_settings_name_is_read(home: Home, tmp_path: Path):
    other = tmp_path / "other.db"
    with Store.open(other) as store, store.write() as repository:
        repository.proposals.add(about(home, "there"), "2026-11-30")
    home.environment["SESSION_INGEST__TRIAGE__DATABASE_URL"] = f"sqlite:///{other}"
    assert titles(home.run("--json").report["proposals"]["later"]) == ["there"]


def test_words_in_a_proposal_cannot_write_on_the_terminal(home: Home):
    keep(home, about(home, "a\x1b[31mbell\u202e", why="because\x07"))
    text = home.run().stdout
    assert "abell" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
