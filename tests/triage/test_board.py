"""The board is split as its users expect, whatever state its file is in, and is never written."""

from typing import Any

import pytest

from tests.support.triage import Home, canonical, jsonl, task, write_board
from triage.board.read import Task
from triage.board.split import is_pending, is_unlock_now


@pytest.mark.parametrize(
    ("members", "pending", "now"),
    [
        ({"status": "planned"}, True, False),
        ({"status": "in-progress"}, True, False),
        ({"status": "blocked"}, True, True),
        ({"status": "completed", "priority": "p0"}, False, True),
        ({"status": "cancelled", "description": "[P0] x"}, False, True),
        ({"status": "in_progress"}, False, False),
        ({"status": ""}, False, False),
        ({"priority": "p0"}, True, True),
        ({"priority": " P0 "}, True, True),
        ({"priority": "p1"}, True, False),
        ({"description": "[P0] mend"}, True, True),
        ({"description": "mend [p0] now"}, True, True),
        ({"description": "P0 mend"}, True, False),
        ({"id": "colony-c1-promotion"}, True, True),
        ({"id": "colony-c1-PROMOTION"}, True, True),
        ({"id": "colony-c1-promotion-2"}, True, False),
    ],
)
def test_rules(members: dict[str, Any], pending: bool, now: bool) -> None:
    """E47: blocked, promoted, [P0] in any case, and the priority member; only what is pending counts."""
    one = Task(**{"id": "TASK-1", "status": "planned", "description": "", **members})
    assert (is_pending(one), is_unlock_now(one)) == (pending, now)


def test_split_keeps_the_order_and_collapses_white_space(home: Home) -> None:
    write_board(
        home.workspace,
        [
            task("B", "planned", " cut\n the   reeds "),
            task("A", "blocked"),
            task("C", "completed", "[P0] done"),
            task("D", "planned", priority="p0"),
            task("E", "doing"),
            task("F", "doing"),
        ],
    )
    board = home.run("--json").report["board"]
    assert [item["id"] for item in board["pending"]] == ["B", "A", "D"]
    assert [item["id"] for item in board["unlockNow"]] == ["A", "D"]
    assert [item["id"] for item in board["later"]] == ["B"]
    assert board["later"][0] == {
        "id": "B", "status": "planned", "description": "cut the reeds", "evidence": [], "evidenceCount": 0,
    }  # fmt: skip
    assert board["unknownStatuses"] == {"doing": 2}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "invalid-json"),
        (b"[" * 100_000, "invalid-json"),
        (b"\x00\xff\xfe", "invalid-json"),
        (b'{"tasks": {"a": 1}}', "not-a-list"),
        (b'{"other": []}', "not-a-list"),
        (b"7", "not-a-list"),
        (b'{"tasks": [1, {"status": "planned"}, {"id": "T", "status": "planned"}]}', "not-a-task"),
        (b'{"tasks": [{"id": "T", "status": "planned"}, {"id": "T", "status": "blocked"}]}', "duplicate-id"),
    ],
)
def test_broken_board_is_a_warning(home: Home, content: bytes, reason: str) -> None:
    """Whatever is wrong with the board is told, costs as little as possible, and is no failure."""
    write_board(home.workspace, content)
    outcome = home.run("--json")
    assert outcome.status == 0
    assert reason in {problem["reason"] for problem in outcome.report["problems"]}
    assert outcome.report["problemCounts"]["rejected"] == 0
    if b'"T"' in content:
        assert [item["id"] for item in outcome.report["board"]["pending"]] == ["T"]
    assert reason in home.run().stdout


def test_missing_board_is_an_empty_one(home: Home) -> None:
    outcome = home.run("--json")
    assert outcome.status == 0
    assert outcome.report["board"]["pending"] == []
    assert outcome.report["problems"] == []


def test_locked_board_is_read(home: Home) -> None:
    """Writers replace the file whole: a lock does not matter for reading."""
    path = write_board(home.workspace, [task("T", "blocked")])
    path.with_name("tasks.lock").write_text('{"token": "x"}')
    assert [item["id"] for item in home.run("--json").report["board"]["unlockNow"]] == ["T"]


def test_blocked_tasks_wait(home: Home) -> None:
    write_board(home.workspace, [task("T", "blocked", "Paint the gate"), task("U", "planned", "[P0] x")])
    (item,) = home.run("--json").report["waiting"]
    assert (item["kind"], item["rule"], item["taskId"], item["words"]) == (
        "blocked", "board-blocked", "T", "Paint the gate",
    )  # fmt: skip


def test_evidence_comes_with_the_tasks(home: Home) -> None:
    """Each task has the newest words that name it: event, thread, provider key, time; all are counted."""
    write_board(home.workspace, [task("TASK-BUD-1", "blocked"), task("colony-c1-promotion"), task("TASK-BUD-2")])
    events = [canonical(f"step {n}\nTASK-BUD-1 moves {n}\nend", hours=10 - n) for n in range(5)]
    events.append(canonical("see colony-c1-promotion, not colony-c1-promotion-2", hours=1))
    events.append(canonical("MYTASK-BUD-2 and TASK-BUD-20 are others", hours=1))
    board = home.run("--json", "--events", home.file("e.jsonl", jsonl(events))).report["board"]
    first, second = board["unlockNow"]
    assert [e["words"] for e in first["evidence"]] == [f"TASK-BUD-1 moves {n}" for n in (4, 3, 2)]
    assert first["evidenceCount"] == 5
    newest = events[4]
    assert first["evidence"][0] == {
        "eventId": newest["event"]["id"],
        "providerAccountKey": "pi",
        "threadId": "t1",
        "timestampIso": newest["event"]["timestampIso"],
        "role": "user",
        "words": "TASK-BUD-1 moves 4",
    }
    assert second["evidenceCount"] == 1
    assert board["later"][0]["evidence"] == []


@pytest.mark.parametrize(
    ("text", "candidate"),
    [
        ("[COLONY_SIGNAL:COMPLETE] [c1]\nTASK-BUD-1 is cut", True),
        ("[COLONY_SIGNAL:COMPLETED] [c1] TASK-BUD-1", True),
        ("[COLONY_SIGNAL:COMPLETE] [c1]\n**Status:** ❌ failed\nTASK-BUD-1", False),
        ("[COLONY_SIGNAL:FAILED] [c1]\nTASK-BUD-1", False),
        ("[COLONY_SIGNAL:WORKING] [c1] TASK-BUD-1", False),
        ("[COLONY_SIGNAL:TASK_DONE] [c1] ✓ TASK-BUD-1", False),
        ("I say [COLONY_SIGNAL:COMPLETE] for TASK-BUD-1", False),
    ],
)
def test_task_of_a_successful_run_is_a_candidate_and_stays(home: Home, text: str, candidate: bool) -> None:
    """E48: the board is not written, the task keeps its place, the report says that it may be done."""
    path = write_board(
        home.workspace,
        [task("TASK-BUD-1", "in-progress", verification="VER-1")],
        verification={"verifications": [{"id": "VER-1", "target": "other", "status": "passed"}]},
    )
    before = path.read_bytes()
    board = home.run("--json", "--events", home.file("e.jsonl", jsonl([canonical(text, "assistant")]))).report["board"]
    assert [c["taskId"] for c in board["doneCandidates"]] == (["TASK-BUD-1"] if candidate else [])
    assert [item["status"] for item in board["later"]] == ["in-progress"]
    assert path.read_bytes() == before
    if candidate:
        assert board["doneCandidates"][0]["verification"] == "passed"
        assert board["doneCandidates"][0]["runId"] == "c1"


def test_run_names_the_task_that_the_origin_makes_of_it(home: Home) -> None:
    write_board(home.workspace, [task("colony-c7", "in-progress")])
    event = canonical("[COLONY_SIGNAL:COMPLETE] [c7|colony-mnzmi243-lk2d0] all cut", "assistant")
    board = home.run("--json", "--events", home.file("e.jsonl", jsonl([event]))).report["board"]
    assert [c["taskId"] for c in board["doneCandidates"]] == ["colony-c7"]
