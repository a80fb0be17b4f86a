"""Completed tasks move to the archive as the origin keeps it, whole; in every moment they are on the board or in it."""

import json
from typing import Any

import pytest

from tests.support.board import Project, task, verification
from triage.board import archive as archive_module
from triage.board.lock import board_lock
from triage.board.model import Action, ApplicationOutcome, TaskStatus
from triage.board.refusals import RefusedError


def lines(project: Project, name: str) -> list[Any]:
    path = project.tasks_file.parent / "archive" / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def full(project: Project) -> Project:
    """A project with a completed task, another one that links a verification of it, and verifications."""
    project.write(
        task("T", "completed", verification="VER", zzz={"kept": [1.5, None]}),
        task("U", "in-progress", verification="SHARED"),
        verifications=[verification("VER", "T", extra=1), verification("SHARED", "T"), verification("OWN", "U")],
    )
    return project


def test_a_completed_task_moves_with_its_verifications(full: Project) -> None:
    """A verification that another task names stays; archived ones still count, and so does the task's name."""
    assert full.decide(Action.ARCHIVE, task_id="T").done
    assert list(full.tasks()) == ["U"]
    assert lines(full, "completed-tasks-0001.jsonl") == [
        task("T", "completed", verification="VER", zzz={"kept": [1.5, None]})
    ]
    assert lines(full, "verification-ledger-0001.jsonl") == [verification("VER", "T", extra=1)]
    hot = json.loads(full.tasks_file.with_name("verification.json").read_bytes())["verifications"]
    assert [one["id"] for one in hot] == ["SHARED", "OWN"]
    seen = full.desk.view()
    assert seen.archived == {"T"}
    assert seen.verification("VER") is not None
    with pytest.raises(RefusedError, match="in the archive"):
        full.decide(Action.MOVE, task_id="T", to=TaskStatus.PLANNED)


@pytest.mark.parametrize("status", [s for s in TaskStatus if s is not TaskStatus.COMPLETED])
def test_only_completed_tasks_move(project: Project, status: TaskStatus) -> None:
    project.write(task("T", status))
    with pytest.raises(RefusedError, match="only completed"):
        project.decide(Action.ARCHIVE, task_id="T")


def test_a_task_that_changed_meanwhile_stays(full: Project) -> None:
    seen = full.desk.view()
    full.write(task("T", "in-progress"))
    outcome = full.decide(Action.ARCHIVE, seen=seen, task_id="T")
    assert outcome.application is not None
    assert outcome.application.outcome is ApplicationOutcome.CONFLICT
    assert list(full.tasks()) == ["T"]
    assert lines(full, "completed-tasks-0001.jsonl") == []


@pytest.mark.parametrize("dies", range(4))
def test_a_crash_between_two_files_leaves_no_task_in_neither_and_none_twice(
    full: Project, monkeypatch: pytest.MonkeyPatch, dies: int
) -> None:
    """Each of the four files is written in its turn; after any of them it is finished by the next command."""
    written = 0
    rewrite = archive_module.rewrite

    def dying(*arguments: Any) -> bool:
        nonlocal written
        if written == dies:
            raise KeyboardInterrupt
        written += 1
        return rewrite(*arguments)

    monkeypatch.setattr(archive_module, "rewrite", dying)
    with pytest.raises(KeyboardInterrupt):
        full.decide(Action.ARCHIVE, task_id="T")
    there = [one["id"] for one in lines(full, "completed-tasks-0001.jsonl")] + list(full.tasks())
    assert "T" in there
    monkeypatch.setattr(archive_module, "rewrite", rewrite)
    (settled,) = full.desk.settle()
    assert settled.done
    assert list(full.tasks()) == ["U"]
    assert [one["id"] for one in lines(full, "completed-tasks-0001.jsonl")] == ["T"]
    assert full.desk.view().verification("VER") is not None


def test_a_full_shard_is_left_and_another_begun(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_SHARD_BYTES", 10)
    project.write(task("T", "completed"), task("U", "completed"))
    for name in ("T", "U"):
        project.decide(Action.ARCHIVE, task_id=name)
    assert [len(lines(project, f"completed-tasks-000{n}.jsonl")) for n in (1, 2)] == [1, 1]


def test_a_shard_without_a_last_line_end_is_gone_on_with(full: Project) -> None:
    folder = full.tasks_file.parent / "archive"
    folder.mkdir()
    (folder / "completed-tasks-0001.jsonl").write_text(json.dumps(task("OLD", "completed")))
    full.decide(Action.ARCHIVE, task_id="T")
    assert [one["id"] for one in lines(full, "completed-tasks-0001.jsonl")] == ["OLD", "T"]
    with board_lock(full.tasks_file.parent) as held:
        held.check()
