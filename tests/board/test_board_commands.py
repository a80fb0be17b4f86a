"""`session-triage board`: what a person reads, what a script reads, and the exit status of each outcome."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.board import task, verification
from tests.support.triage import Home, write_board
from triage.board.actors import local_operator
from triage.board.export import history_from
from triage.board.model import Action, ActorKind
from triage.commands.board_cli import app as board_app


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def board_of(home: Home) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in json.loads((home.workspace / ".project" / "tasks.json").read_bytes())["tasks"]}


def proposed(home: Home, *arguments: str) -> str:
    outcome = home.run("board", "propose", *arguments, "--json")
    assert outcome.status == 0, outcome.stderr
    return str(outcome.report["id"])


def test_from_a_proposal_to_a_completed_task(home: Home) -> None:
    """The whole way by commands alone, each with exit status 0."""
    identifier = proposed(home, "new-task", "Paint", "the", "gate", "--task", "TASK-1", "--priority", "p0")
    assert "Paint the gate" in home.run("board", "list").stdout
    steps = [
        ("approve", identifier[:8], "--yes"),
        ("move", "TASK-1", "in-progress", "--yes", "--note", "ana paints"),
        ("verify", "TASK-1", "VER-1", "passed", "--method", "inspect", "--evidence", "it is white", "--yes"),
        ("complete", "TASK-1", "--verification", "VER-1", "--evidence", "seen at noon", "--yes"),
        ("reopen", "TASK-1", "--yes"),
        ("move", "TASK-1", "cancelled", "--yes"),
    ]
    for step in steps:
        outcome = home.run("board", *step)
        assert (outcome.status, outcome.stderr) == (0, ""), step
    assert board_of(home)["TASK-1"]["status"] == "cancelled"
    assert home.run("board", "list").stdout == "Nothing is proposed.\n"
    told = home.run("board", "history").stdout
    assert [line.split()[0] for line in told.splitlines() if " by " in line] == ["1", "2", "3", "4", "5", "6"]
    assert "in-progress → completed · verification VER-1 passed · seen at noon" in " ".join(told.split())


def test_history_is_exported_as_lines_that_read_back(home: Home) -> None:
    """Who, when, what, on which evidence, before and after; operators are named by their account."""
    write_board(home.workspace, [task("T", "blocked", zzz=1)])
    proposed(home, "unblock", "--task", "T")
    assert home.run("board", "approve", "T", "--yes", "--note", "the part came").status == 0
    line = home.run("board", "history", "--jsonl").stdout
    ((decision, application),) = history_from(line.encode().splitlines())
    assert (decision.action, decision.actor, decision.note) == (Action.APPROVE, local_operator(), "the part came")
    assert decision.actor.kind is ActorKind.OPERATOR
    assert decision.task_before == task("T", "blocked", zzz=1)
    assert decision.task_after == board_of(home)["T"]
    assert application is not None
    assert application.outcome == "applied"
    (told,) = json.loads(home.run("board", "history", "--json", "--task", "T").stdout)
    assert told == json.loads(line)
    assert home.run("board", "history", "--jsonl", "--task", "U").stdout == ""


def test_a_task_is_shown_with_its_packet(home: Home) -> None:
    write_board(home.workspace, [task("T", "in-progress", verification="VER")])
    shown = home.run("board", "show", "T", "--json").report
    assert shown["packet"]["blockers"] == ["linked-verification-not-found"]
    assert (shown["packet"]["recommended"], shown["packet"]["noAutoClose"]) == ("defer", True)
    assert shown["packet"]["options"] == ["close", "keep-open", "defer"]
    write_board(home.workspace, [task("T", "in-progress", verification="VER")],
                verification={"verifications": [verification("VER", "T")]})  # fmt: skip
    shown = home.run("board", "show", "T", "--json").report
    assert (shown["packet"]["recommended"], shown["packet"]["passed"]) == ("close", ["VER"])
    assert "recommended: close" in home.run("board", "show", "T").stdout


def test_proposals_are_listed_by_rank_and_filter(home: Home) -> None:
    """Blocked work and p0 first, then the oldest."""
    write_board(home.workspace, [task("T", "blocked")])
    first = proposed(home, "new-task", "One")
    second = proposed(home, "idea-promotion", "Two", "--priority", "P0")
    third = proposed(home, "unblock", "--task", "T")
    ids = [one["id"] for one in home.run("board", "list", "--json").report["proposals"]]
    assert ids == [second, third, first]
    assert home.run("board", "reject", first, "--yes").status == 0
    for arguments, expected in (
        (["--status", "rejected"], [first]),
        (["--kind", "unblock"], [third]),
        (["--task", "T"], [third]),
        (["--limit", "1"], [second]),
        (["--status", "open", "--status", "rejected"], [second, third, first]),
    ):
        listed = home.run("board", "list", "--json", *arguments).report["proposals"]
        assert [one["id"] for one in listed] == expected, arguments


def test_what_is_deferred_waits_out_of_sight(home: Home) -> None:
    identifier = proposed(home, "new-task", "One")
    assert home.run("board", "defer", identifier, "--days", "0.5", "--yes").status == 0
    assert home.run("board", "list", "--json").report["proposals"] == []
    (deferred,) = home.run("board", "list", "--json", "--status", "deferred").report["proposals"]
    assert deferred["deferredUntilMs"] - deferred["updatedMs"] == pytest.approx(12 * 60 * 60 * 1000, abs=60_000)
    assert home.run("board", "approve", identifier, "--yes").status == 0


def test_the_same_thing_proposed_again_is_the_same_proposal(home: Home) -> None:
    """Until it is decided; then it is the next round."""
    first = proposed(home, "new-task", "Paint the gate")
    again = home.run("board", "propose", "new-task", "paint  THE gate", "--json").report
    assert (again["outcome"], again["id"]) == ("known", first)
    home.run("board", "reject", first, "--yes")
    assert proposed(home, "new-task", "Paint the gate") != first


def test_several_workspaces_are_kept_apart(home: Home) -> None:
    other = home.folder / "mill"
    other.mkdir()
    here = proposed(home, "new-task", "Here", "--task", "T")
    there = proposed(home, "new-task", "There", "--task", "T", "--workspace", str(other))
    assert [one["id"] for one in home.run("board", "list", "--json").report["proposals"]] == [here]
    everywhere = home.run("board", "list", "--json", "--all").report["proposals"]
    assert [one["id"] for one in everywhere] == [here, there]
    refused = home.run("board", "approve", there, "--yes")
    assert (refused.status, "other-workspace" in refused.stderr) == (1, True)
    assert home.run("--workspace", other, "board", "approve", there, "--yes").status == 0
    assert (other / ".project" / "tasks.json").exists()
    assert not (home.workspace / ".project").exists()


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that no test changes: a task in progress with a verification, and a blocked one with a proposal."""
    home = Home(tmp_path_factory.mktemp("unchanged") / "home")
    write_board(home.workspace, [task("T", "in-progress"), task("U", "blocked")],
                verification={"verifications": [verification("VER", "T")]})  # fmt: skip
    proposed(home, "unblock", "--task", "U")
    return home


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["complete", "T", "--yes"], 1, "not-verified"),
        (["complete", "T", "--verification", "VER", "--yes"], 1, "needs-evidence"),
        (["complete", "GONE", "--yes"], 1, "no-task"),
        (["move", "T", "completed", "--yes"], 1, "not-verified"),
        (["move", "T", "done", "--yes"], 2, "done"),
        (["move", "T", "planned"], 2, "say --yes"),
        (["approve", "ffff", "--yes"], 1, "no-proposal"),
        (["approve", "", "--yes"], 1, "no-proposal"),
        (["reopen", "T", "--yes"], 1, "no-transition"),
        (["defer", "U", "--yes"], 2, "--until"),
        (["defer", "U", "--until", "2020-01-01", "--yes"], 1, "needs-date"),
        (["defer", "U", "--until", "soon", "--yes"], 2, "2026-01-31"),
        (["defer", "U", "--days", "nan", "--yes"], 2, "no time"),
        (["defer", "U", "--days", "1e300", "--yes"], 2, "no time"),
        (["propose", "unblock"], 1, "no-task"),
        (["propose", "new-task"], 1, "nothing-to-add"),
        (["propose", "wish", "x"], 2, "wish"),
        (["verify", "T", "NEW", "perfect", "--yes"], 1, "unknown-status"),
        (["list", "--workspace", "/nowhere"], 2, "no such folder"),
        (["keys", "revoke", "ffff"], 2, "names 0 keys"),
        (["show", "nothing"], 1, "no-proposal"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_what_cannot_be_done_says_why_and_changes_nothing(
    unchanged: Home, arguments: list[str], status: int, says: str
) -> None:
    """1 is refused, 2 is wrong usage."""
    home, path = unchanged, unchanged.workspace / ".project" / "tasks.json"
    before = path.read_bytes()
    words = ["board", *arguments]
    outcome = home.run(*words) if arguments[0] not in {"keys", "frobnicate"} else home.start(*words)
    assert outcome.status == status, outcome.stderr
    assert says in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert path.read_bytes() == before


def test_after_all_refusals_nothing_was_decided(unchanged: Home) -> None:
    assert unchanged.run("board", "history", "--jsonl").stdout == ""


def test_a_refusal_is_json_for_scripts(home: Home) -> None:
    write_board(home.workspace, [task("T", "in-progress")])
    outcome = home.run("board", "complete", "T", "--yes", "--json")
    assert outcome.status == 1
    assert (outcome.report["outcome"], outcome.report["reason"]) == ("refused", "not-verified")
    assert outcome.report["blockers"] == ["missing-verification-evidence"]


@pytest.mark.parametrize("wrong", ["\udcff", "a\x1b[2J\x00b", "\u202egpj"])
def test_bytes_that_are_no_text_are_replaced_and_do_no_harm(home: Home, wrong: str) -> None:
    """A command line may hold anything: it is kept as clean text, or named in a refusal."""
    path = write_board(home.workspace, [task("T", "in-progress")])
    made = home.run("board", "propose", "new-task", f"Paint {wrong}", "--why", wrong, "--priority", wrong, "--json")
    assert made.status == 0
    steps = [
        ["move", "T", "blocked", "--note", f"n{wrong}", "--yes", "--json"],
        ["verify", "T", f"V{wrong}", "passed", "--method", f"m{wrong}", "--evidence", f"e{wrong}", "--yes", "--json"],
        ["list", "--task", wrong], ["history"], ["list"], ["history", "--json"], ["list", "--json"], ["show", "T"],
    ]  # fmt: skip
    for step in steps:
        outcome = home.run("board", *step)
        assert (outcome.status, outcome.stderr) == (0, "")
        assert "\x1b" not in outcome.stdout + path.read_text()
    for step in (["show", wrong], ["move", wrong, "blocked", "--yes"], ["approve", wrong, "--yes"]):
        outcome = home.run("board", *step)
        assert outcome.status == 1
        assert outcome.stderr.startswith("session-triage: refused")


def test_what_another_writer_undid_is_told(home: Home) -> None:
    """The origin's tools read without the lock: what they write back may be older than a decision."""
    path = write_board(home.workspace, [task("T"), task("U")])
    before = path.read_bytes()
    assert home.run("board", "move", "T", "in-progress", "--yes").status == 0
    assert home.run("board", "show", "T", "--json").report["undone"] is None
    path.write_bytes(before)
    assert home.run("board", "show", "T", "--json").report["undone"] == 1
    assert "another writer has undone decision 1 (move)" in home.run("board", "show", "T").stderr


def test_a_broken_board_is_told_and_left(home: Home) -> None:
    path = write_board(home.workspace, b'{"tasks": [')
    outcome = home.run("board", "show", "T")
    assert (outcome.status, "mend it first" in outcome.stderr) == (1, True)
    assert path.read_bytes() == b'{"tasks": ['


def test_a_board_that_is_busy_is_exit_status_1_and_the_next_command_finishes(home: Home) -> None:
    write_board(home.workspace, [task("T")])
    lock = home.workspace / ".project" / "tasks.lock"
    lock.write_text('{"token": "node-1"}')
    outcome = home.run("board", "move", "T", "in-progress", "--yes", "--json")
    assert (outcome.status, outcome.report["outcome"]) == (1, "waiting")
    lock.unlink()
    listed = home.run("board", "list")
    assert (listed.status, "finishing decision 1: move T (now in-progress)" in listed.stderr) == (0, True)
    assert board_of(home)["T"]["status"] == "in-progress"


def test_reading_makes_no_store(home: Home) -> None:
    """Where nothing was ever proposed nothing is written, and everything is answered."""
    write_board(home.workspace, [task("T")])
    before = home.tree()
    for arguments in (["list"], ["list", "--json"], ["history"], ["show", "T"], ["keys", "list"]):
        words = ["board", *arguments]
        outcome = home.start(*words) if arguments[0] == "keys" else home.run(*words)
        assert outcome.status == 0, outcome.stderr
    assert home.tree() == before


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_is_shown_what_would_happen_and_asked(home: Home, answer: str, status: int) -> None:
    """On a terminal; no answer is no. What is decided is what was shown."""
    write_board(home.workspace, [task("T", "blocked")])
    proposed(home, "unblock", "--task", "T", "--why", "the part came")
    main, terminal = pty.openpty()
    command = [sys.executable, "-c", "from triage.cli import main; main()", "board", "approve", "T"]
    environment = {**home.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=terminal, stderr=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home.workspace,
                          env=environment) as process:  # fmt: skip
        os.write(main, answer.encode())
        output, errors = process.communicate(timeout=60)
    os.close(main)
    os.close(terminal)
    assert process.returncode == status, errors
    assert b"the part came" in errors
    assert b"status: in-progress" in errors
    assert b"approve it? [y/N]" in errors
    assert board_of(home)["T"]["status"] == ("in-progress" if status == 0 else "blocked")
    assert output.startswith(b"decision 1: approve T") == (status == 0)


def test_every_command_says_what_it_does() -> None:
    for command in board_app.registered_commands:
        assert command.callback is not None
        assert command.callback.__doc__
