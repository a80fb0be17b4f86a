"""A board is written as the origin writes it, and whatever is not decided on stays as it was."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.board import ANA, Project, task, verification
from triage.board.file import apply, check_completed, read_view
from triage.board.json_files import BoardFileError, parse
from triage.board.lock import board_lock
from triage.board.model import Action, ApplicationOutcome, Decision, ProposalKind, TaskStatus
from triage.board.refusals import RefusedError

TOKENS = """{
  "generator": "agents-lab",
  "tasks": [
    {
      "status": "planned",
      "zzz": [
        1.50,
        1e5,
        {
          "k": null
        }
      ],
      "id": "T",
      "description": "caf\\u00e9 \\/ \u2028"
    },
    7,
    {
      "id": "U",
      "big": 123456789012345678901234567890
    }
  ],
  "after": []
}
"""

strings = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | strings,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=8,
)


def test_only_the_members_decided_on_change(project: Project) -> None:
    """Order, unknown members, numbers and escapes of everything else stay as their writer wrote them."""
    project.tasks_file.write_text(TOKENS)
    project.decide(Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    content = project.tasks_file.read_text()
    notes = json.loads(content)["tasks"][0]["notes"]
    expected = TOKENS.replace('"planned"', '"in-progress"').replace(
        '\u2028"\n', '\u2028",\n      "notes": ' + json.dumps(notes) + "\n"
    )
    assert content == expected


@given(
    members=st.dictionaries(strings, json_values, max_size=4),
    around=st.dictionaries(strings, json_values, max_size=3),
)
def test_any_board_reads_back_as_it_was_but_for_the_change(members: dict[str, Any], around: dict[str, Any]) -> None:
    mine, other = {**members, "id": "T", "status": "planned"}, {**members, "id": "U"}
    whole = {**around, "tasks": [other, mine, None]}
    file = parse(Path("tasks.json"), "tasks", json.dumps(whole).encode())
    before = next(each for each in file.documents() if each["id"] == "T")
    file.replace(before, {**before, "status": "blocked"})
    assert json.loads(file.content()) == {**whole, "tasks": [other, {**mine, "status": "blocked"}, None]}


@given(raw=st.binary(max_size=60) | st.text('{}[]":,tasks \n0e\\u').map(str.encode))
def test_bytes_are_a_board_or_are_refused_by_name(raw: bytes) -> None:
    """Whatever lies there: it reads back as JSON, or there is one named error."""
    try:
        content = parse(Path("tasks.json"), "tasks", raw).content()
    except BoardFileError:
        return
    json.loads(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b'{"tasks": {}}',
        b"7",
        b'{"tasks": [{"id": "T", "status": "planned"}]',
        b'{"t":"\xff"}',
        b"[" * 100_000,
    ],
)
def test_a_broken_board_is_never_written_over(project: Project, content: bytes) -> None:
    project.tasks_file.write_bytes(content)
    with pytest.raises(BoardFileError, match=r"tasks\.json"):
        project.desk.view()
    new = project.propose(ProposalKind.NEW_TASK, "Paint the gate")
    project.tasks_file.unlink()
    seen = project.desk.view()
    project.tasks_file.write_bytes(content)
    outcome = project.decide(Action.APPROVE, seen=seen, proposal=project.proposal(new.id))
    assert outcome.waiting is not None
    assert project.tasks_file.read_bytes() == content
    project.tasks_file.unlink()
    (settled,) = project.desk.settle()
    assert settled.done
    assert [one["description"] for one in project.tasks().values()] == ["Paint the gate"]


def test_a_board_may_be_a_list_alone_and_begin_with_a_mark(project: Project) -> None:
    project.tasks_file.write_bytes(b'\xef\xbb\xbf[{"id":"T","status":"planned"}]')
    project.decide(Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    (written,) = json.loads(project.tasks_file.read_bytes())
    assert written["status"] == "in-progress"


def test_a_board_that_is_missing_is_made(project: Project) -> None:
    """As the origin makes it: `{"tasks": […]}`, two blanks, a newline, in `.project`."""
    (project.workspace / ".project").rmdir()
    new = project.propose(ProposalKind.NEW_TASK, "Paint the gate", task_id="TASK-1")
    assert project.decide(Action.APPROVE, proposal=new).done
    content = project.tasks_file.read_text()
    assert content.startswith('{\n  "tasks": [\n    {\n      "id": "TASK-1",')
    assert content.endswith("]\n}\n")
    assert project.project_files() == {"tasks.json"}


def test_links_and_modes_stay(project: Project) -> None:
    """A board that is a link to a file elsewhere stays one, and a private file stays private."""
    real = project.folder / "boards" / "real.json"
    real.parent.mkdir()
    real.write_text(json.dumps({"tasks": [task("T")]}))
    real.chmod(0o640)
    project.tasks_file.symlink_to(real)
    project.decide(Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    assert project.tasks_file.is_symlink()
    assert json.loads(real.read_bytes())["tasks"][0]["status"] == "in-progress"
    assert real.stat().st_mode & 0o777 == 0o640


def test_verifications_are_added_as_the_origin_writes_them(project: Project) -> None:
    project.write(task("T", "in-progress"), verifications=[verification("OLD", "U", criteria_results=[{"ok": True}])])
    project.decide(
        Action.VERIFY, task_id="T", verification="NEW", verification_status="passed", method="command",
        evidence_text="212 passed",
    )  # fmt: skip
    path = project.tasks_file.with_name("verification.json")
    old, new = json.loads(path.read_bytes())["verifications"]
    assert old == verification("OLD", "U", criteria_results=[{"ok": True}])
    assert {**new, "timestamp": None} == {
        "id": "NEW", "target": "T", "target_type": "task", "status": "passed", "method": "command",
        "evidence": "212 passed", "timestamp": None,
    }  # fmt: skip
    assert project.decide(Action.COMPLETE, task_id="T", verification="NEW", evidence_text="seen").done


def test_the_archive_counts(project: Project) -> None:
    """Its tasks' names are taken, and its verifications can be named; a broken line is named."""
    archive = project.workspace / ".project" / "archive"
    archive.mkdir()
    (archive / "completed-tasks-0001.jsonl").write_text(json.dumps(task("OLD", "completed")) + "\n\n")
    (archive / "verification-ledger-0001.jsonl").write_text(json.dumps(verification("VER", "T")) + "\n")
    project.write(task("T", "in-progress"))
    seen = project.desk.view()
    assert seen.archived == {"OLD"}
    assert seen.verification("VER") is not None
    (archive / "completed-tasks-0002.jsonl").write_text("{}\nno json\n")
    with pytest.raises(BoardFileError, match=r"completed-tasks-0002\.jsonl:2"):
        project.desk.view()


def test_twins_are_ambiguous_and_stay_as_they_are(project: Project) -> None:
    project.write(task("T"), task("T", "blocked"), task("U"))
    assert project.desk.view().ambiguous == {"T"}
    before = project.tasks_file.read_bytes()
    with pytest.raises(RefusedError, match="several tasks are called T"):
        project.decide(Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    assert project.tasks_file.read_bytes() == before


@pytest.mark.parametrize(
    "members",
    [{"action": Action.APPROVE}, {"verification_status": "failed"}, {"verification": "OTHER"}, {"verification": None}],
)
def test_no_decision_completes_without_a_verification_however_it_was_made(
    project: Project, members: dict[str, Any]
) -> None:
    """The file refuses what the gate would never give: a second wall behind the first."""
    project.write(task("T", "in-progress"))
    whole: dict[str, Any] = {
        "id": "d", "workspace": project.desk.name, "actor": ANA, "action": Action.COMPLETE, "at_ms": 1, "task_id": "T",
        "task_before": task("T", "in-progress"), "task_after": task("T", "completed", verification="VER"),
        "verification": "VER", "verification_status": "passed",
    }  # fmt: skip
    check_completed(Decision(**whole))
    forged = Decision(**{**whole, **members})
    with board_lock(project.workspace / ".project") as held, pytest.raises(RefusedError):
        apply(project.workspace, forged, held)
    assert project.tasks()["T"]["status"] == "in-progress"


def test_a_task_that_another_writer_changed_is_a_conflict(project: Project) -> None:
    """It is told which members, recorded, nothing is overwritten, and the proposal waits for another decision."""
    project.write(task("T", "blocked"), task("U"))
    unblock = project.propose(ProposalKind.UNBLOCK, task_id="T")
    seen = project.desk.view()
    project.write(task("T", "blocked", notes="by hand", priority="p0"), task("U"))
    before = project.tasks_file.read_bytes()
    outcome = project.decide(Action.APPROVE, seen=seen, proposal=unblock)
    assert outcome.application is not None
    assert outcome.application.outcome is ApplicationOutcome.CONFLICT
    assert outcome.application.detail == "another writer has changed notes, priority of task T"
    assert project.tasks_file.read_bytes() == before
    assert project.proposal(unblock.id).status == "open"
    assert [application for _, application in project.history()] == [outcome.application]
    assert project.decide(Action.APPROVE, proposal=project.proposal(unblock.id)).done
    assert project.tasks()["T"]["notes"].startswith("by hand\n")


def test_what_another_writer_changed_elsewhere_is_no_conflict(project: Project) -> None:
    project.write(task("T", "blocked"), task("U"))
    seen = project.desk.view()
    project.write(task("V"), task("U", "in-progress"), task("T", "blocked"))
    assert project.decide(Action.MOVE, seen=seen, task_id="T", to=TaskStatus.IN_PROGRESS).done
    assert {name: one["status"] for name, one in project.tasks().items()} == {
        "V": "planned", "U": "in-progress", "T": "in-progress",
    }  # fmt: skip


@pytest.mark.parametrize("gone", ["removed", "archived", "twin", "added"])
def test_tasks_that_come_and_go_meanwhile_are_conflicts(project: Project, gone: str) -> None:
    project.write(task("T", "in-progress"))
    new = project.propose(ProposalKind.NEW_TASK, "Paint the gate", task_id="NEW")
    seen = project.desk.view()
    archive = project.workspace / ".project" / "archive"
    archive.mkdir()
    if gone == "archived":
        (archive / "completed-tasks-0001.jsonl").write_bytes(msgspec.json.encode(task("T", "completed")))
    boards = {"twin": [task("T", "in-progress"), task("T")], "added": [task("NEW"), task("T", "in-progress")]}
    project.write(*boards.get(gone, []))
    before = project.tasks_file.read_bytes()
    members: dict[str, Any] = {"task_id": "T", "to": TaskStatus.BLOCKED}
    outcome = (
        project.decide(Action.APPROVE, seen=seen, proposal=new)
        if gone == "added"
        else project.decide(Action.MOVE, seen=seen, **members)
    )
    assert outcome.application is not None
    assert outcome.application.outcome is ApplicationOutcome.CONFLICT
    assert project.tasks_file.read_bytes() == before


def test_a_folder_that_is_gone_is_not_made_again(project: Project, tmp_path: Path) -> None:
    """A decision about a workspace that was removed waits; no folder appears in its place."""
    new = project.propose(ProposalKind.NEW_TASK, "Paint the gate")
    seen = read_view(project.workspace, project.desk.name)
    project.workspace.rename(tmp_path / "elsewhere")
    assert project.decide(Action.APPROVE, seen=seen, proposal=new).waiting is not None
    assert not project.workspace.exists()
