"""The lock is the origin's: one holder, waits of 1.5 seconds, stale after two minutes; and nobody else's is removed."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from tests.support.board import Project, task
from triage.board import lock as lock_module
from triage.board.lock import RETRY_SECONDS, STALE_SECONDS, WAIT_SECONDS, BoardBusyError, LockLostError, board_lock
from triage.board.model import Action, TaskStatus
from triage.board.replace import rewrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".project"


def hold(folder: Path, age_seconds: float = 0, content: str = '{"token": "node-1", "acquiredAt": "x"}') -> Path:
    """Leave a lock as another writer would."""
    folder.mkdir(exist_ok=True)
    path = folder / "tasks.lock"
    path.write_text(content)
    then = time.time() - age_seconds
    os.utime(path, (then, then))
    return path


def names(folder: Path) -> list[str]:
    """Give what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_the_numbers_are_the_origins() -> None:
    assert (WAIT_SECONDS, RETRY_SECONDS, STALE_SECONDS) == (1.5, 0.025, 120.0)


def test_a_held_lock_says_who_holds_it_and_goes_with_its_holder(folder: Path) -> None:
    with board_lock(folder) as held:
        content = json.loads((folder / "tasks.lock").read_bytes())
        assert content["token"] == held.token
        assert content["acquiredAt"].endswith("Z")
        held.check()
    assert names(folder) == []


def test_a_lock_goes_also_when_its_holder_fails(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), board_lock(folder):
        raise ZeroDivisionError
    assert names(folder) == []


def test_one_waits_and_then_says_who_is_in_the_way(folder: Path) -> None:
    path = hold(folder)
    began = time.monotonic()
    with pytest.raises(BoardBusyError, match="locked by node-1 since x"), board_lock(folder):
        pass
    assert WAIT_SECONDS <= time.monotonic() - began < WAIT_SECONDS + 2
    assert path.exists()


def test_a_lock_that_is_let_go_in_time_is_taken(folder: Path) -> None:
    path = hold(folder)
    threading.Timer(0.2, path.unlink).start()
    with board_lock(folder) as held:
        held.check()


@pytest.mark.parametrize("content", ['{"token": "dead"}', "", "no json", "[]"])
def test_a_stale_lock_is_taken_over(folder: Path, content: str) -> None:
    """Its content does not matter: a process may have died before it wrote any."""
    hold(folder, STALE_SECONDS + 1, content)
    with board_lock(folder, wait_seconds=0) as held:
        held.check()
    assert names(folder) == []


def test_a_lock_that_is_not_quite_stale_is_not(folder: Path) -> None:
    hold(folder, STALE_SECONDS - 5)
    with pytest.raises(BoardBusyError), board_lock(folder, wait_seconds=0):
        pass


def test_a_fresh_lock_is_given_back_when_another_taker_was_quicker(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at a stale lock and taking it away, another has replaced it by its own: that one stays."""
    path = hold(folder, STALE_SECONDS + 1)
    stat_of = lock_module._stat

    def stat_and_lose(asked: Path) -> os.stat_result | None:
        seen = stat_of(asked)
        if asked == path and seen is not None and time.time() - seen.st_mtime > STALE_SECONDS:
            path.unlink()
            hold(folder, content='{"token": "quicker"}')
        return seen

    monkeypatch.setattr(lock_module, "_stat", stat_and_lose)
    with pytest.raises(BoardBusyError, match="quicker"), board_lock(folder, wait_seconds=0):
        pass
    assert json.loads(path.read_bytes()) == {"token": "quicker"}
    assert names(folder) == ["tasks.lock"]


def test_a_holder_that_was_taken_over_writes_nothing_and_removes_nothing(folder: Path) -> None:
    target = folder / "tasks.json"
    with board_lock(folder) as held:
        target.write_bytes(b"before")
        hold(folder, content='{"token": "taker"}')
        with pytest.raises(LockLostError, match="nothing was written"):
            rewrite(target, held, lambda _: b"after")
    assert target.read_bytes() == b"before"
    assert names(folder) == ["tasks.json", "tasks.lock"]


def test_a_slow_holder_cannot_finish_what_it_prepared(folder: Path) -> None:
    """The next writer removes drafts of others: a rename of one then fails."""
    folder.mkdir()
    target = folder / "tasks.json"
    target.write_bytes(b"before")
    draft = folder / ".tasks.json.1-dead.tmp"
    draft.write_bytes(b"stale")
    with board_lock(folder) as held:
        assert rewrite(target, held, lambda _: b"after")
    assert target.read_bytes() == b"after"
    assert not draft.exists()


def test_a_writer_without_the_lock_is_seen(folder: Path) -> None:
    """The file is read again when it changed between being read and being replaced: nothing is lost."""
    folder.mkdir()
    target = folder / "tasks.json"
    target.write_bytes(b"one")
    seen: list[bytes | None] = []

    def change(raw: bytes | None) -> bytes:
        seen.append(raw)
        if len(seen) == 1:
            target.write_bytes(b"one, and by hand")
        return (raw or b"") + b", decided"

    with board_lock(folder) as held:
        assert rewrite(target, held, change)
    assert target.read_bytes() == b"one, and by hand, decided"


def test_a_decision_waits_for_a_busy_board_and_the_next_command_finishes_it(project: Project) -> None:
    project.write(task("T"))
    path = hold(project.workspace / ".project")
    outcome = project.decide(Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    assert outcome.waiting is not None
    assert "locked by node-1" in outcome.waiting
    assert project.tasks()["T"]["status"] == "planned"
    path.unlink()
    (settled,) = project.desk.settle()
    assert settled.done
    assert project.tasks()["T"]["status"] == "in-progress"
    assert list(project.desk.settle()) == []
