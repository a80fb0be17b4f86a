"""Two programs write one board at once, each under the origin's lock: nothing is lost, and it is JSON in every moment.

The other program is written in JavaScript, to the origin's rules and not to ours.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.support.board import Project, task
from triage.board.changes import mark_of
from triage.board.model import Action, ApplicationOutcome, ProposalKind, TaskStatus
from triage.board.refusals import RefusedError

WRITER = Path(__file__).parent.parent / "support" / "origin_writer.mjs"
CHANGES = 300
"""Of each side: some seconds of writing without pause."""


@pytest.fixture
def node() -> str:
    """Node.js; skips the test where it is not installed, and fails it in CI."""
    found = shutil.which("node")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Node.js is not installed")
        pytest.skip("Node.js is not installed")
    return found


class Reader(threading.Thread):
    """Reads the board over and over; `broken` is what it could not read."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.reads = 0
        self.broken: list[bytes] = []
        self.stop = threading.Event()

    def run(self) -> None:
        while not self.stop.is_set():
            content = self.path.read_bytes()
            self.reads += 1
            try:
                json.loads(content)
            except ValueError:
                self.broken.append(content)


def test_nothing_is_lost_between_two_writers(project: Project, node: str) -> None:
    project.write(task("NODE", count=0), task("OURS"))
    reader = Reader(project.tasks_file)
    reader.start()
    command = [node, str(WRITER), str(project.workspace), str(CHANGES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        decided = [_decide(project, number) for number in range(CHANGES)]
        output, _ = other.communicate(timeout=120)
    list(project.desk.settle())
    reader.stop.set()
    reader.join()
    board = project.tasks()
    assert other.returncode == 0
    assert reader.broken == []
    assert reader.reads > CHANGES
    assert board["NODE"]["count"] == CHANGES
    assert [name for name in board if name.startswith("NODE-")] == [f"NODE-{n}" for n in range(1, CHANGES + 1)]
    assert [name for name in board if name.startswith("NEW-")] == [name for name in decided if name]
    history = project.history()
    assert all(application is not None for _, application in history)
    applied = [one for one, came in history if came is not None and came.outcome is ApplicationOutcome.APPLIED]
    assert len(applied) == CHANGES
    last = [one for one in applied if one.task_id == "OURS"][-1]
    assert mark_of(last.id) in board["OURS"]["notes"]
    assert board["OURS"]["status"] == (last.task_after or {})["status"]
    print(f"{CHANGES} changes each, {reader.reads} reads, the other waited in vain {json.loads(output)['busy']} times")  # noqa: T201


def _decide(project: Project, number: int) -> str | None:
    """Decide something: a task is added, or goes back and forth; gives the id of the one that was added."""
    while True:
        list(project.desk.settle())
        try:
            if number % 2:
                new = project.propose(ProposalKind.NEW_TASK, f"Cut {number}", task_id=f"NEW-{number}")
                outcome = project.decide(Action.APPROVE, proposal=new)
            else:
                planned = project.tasks()["OURS"]["status"] == "planned"
                to = TaskStatus.IN_PROGRESS if planned else TaskStatus.PLANNED
                outcome = project.decide(Action.MOVE, task_id="OURS", to=to)
        except RefusedError:  # pragma: no cover - a decision that waited is finished by now
            continue
        if outcome.done or outcome.waiting:
            return outcome.decision.task_id if number % 2 else None


def test_a_lock_of_a_killed_writer_is_taken_over_when_it_is_stale(project: Project, node: str) -> None:
    """Until then decisions wait, and are not lost."""
    project.write(task("NODE", count=0), task("OURS"))
    command = [node, str(WRITER), str(project.workspace), "1", "hang"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"holding\n"
        other.send_signal(signal.SIGKILL)
        other.wait(10)
    outcome = project.decide(Action.MOVE, task_id="OURS", to=TaskStatus.IN_PROGRESS)
    assert outcome.waiting is not None
    lock = project.tasks_file.with_name("tasks.lock")
    then = time.time() - 121
    os.utime(lock, (then, then))
    (settled,) = project.desk.settle()
    assert settled.done
    assert project.tasks()["OURS"]["status"] == "in-progress"
    assert not lock.exists()


def test_the_other_writer_takes_our_stale_lock_over(project: Project, node: str) -> None:
    """The lock that a dead command of ours left is one that the origin's tools understand."""
    project.write(task("NODE", count=0))
    lock = project.tasks_file.with_name("tasks.lock")
    lock.write_text('{"token":"1-dead","acquiredAt":"2026-11-30T09:00:00.000Z"}')
    then = time.time() - 121
    os.utime(lock, (then, then))
    subprocess.run([node, str(WRITER), str(project.workspace), "1"], check=True, timeout=30, stdout=subprocess.DEVNULL)
    assert project.tasks()["NODE"]["count"] == 1
