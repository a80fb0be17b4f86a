"""A decision that dies anywhere leaves a readable board and a consistent history, and the next command finishes it.

Processes decide and kill themselves at a line of the gate's or the store's code; over all runs the lines cover the way
of a decision from end to end. A lock that the dead left behind is made two minutes older, as waiting would.
"""

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import triage
from tests.support.board import ANA, Project, task, verification
from tests.support.dying import dies_at, lines_of
from triage.board.changes import mark_of
from triage.board.documents import same
from triage.board.model import Action, ApplicationOutcome, Decision, ProposalKind, TaskStatus
from triage.board.replay import replay
from triage.board.request import Request
from triage.store.database import Store

STEPS = tuple(
    Path(triage.__path__[0]) / name
    for name in ("board/desk.py", "board/file.py", "board/replace.py", "board/lock.py", "store/database.py",
                 "store/decisions.py", "store/proposals.py")
)  # fmt: skip
"""The files whose lines do something outside the process; what only reckons leaves nothing to find."""

RUNS = 50
"""Deaths of each test: about one in twenty of those lines, other ones in each test."""


def prepare(folder: Path) -> Project:
    """Make a project in which five things can be decided, each in its own way."""
    folder.mkdir()
    project = Project(folder)
    project.write(
        task("DONE", "in-progress", zzz=1.50),
        task("STUCK", "blocked"),
        task("MOVED", "planned"),
        verifications=[verification("VER", "DONE")],
    )
    project.propose(ProposalKind.DONE_CANDIDATE, task_id="DONE")
    project.propose(ProposalKind.UNBLOCK, task_id="STUCK")
    project.propose(ProposalKind.NEW_TASK, "Paint the gate", task_id="NEW")
    return project


def decide_all(project: Project) -> None:
    """Do all of it, but for what was decided already; a store of this process's own is opened."""
    with Store.open(project.folder / "triage.db") as store:
        project.store, project.desk._store = store, store
        list(project.desk.settle())
        with store.read() as repository:
            waiting = {one.task_id: one for one in repository.proposals.listed()}
        requests = [
            Request(action=Action.VERIFY, task_id="DONE", verification="V2", verification_status="passed",
                    method="inspect", evidence_text="seen"),
            Request(action=Action.COMPLETE, task_id="DONE", proposal=waiting.get("DONE"), verification="VER",
                    evidence_text="212 passed"),
            Request(action=Action.APPROVE, proposal=waiting.get("STUCK")),
            Request(action=Action.APPROVE, proposal=waiting.get("NEW")),
            Request(action=Action.MOVE, task_id="MOVED", to=TaskStatus.IN_PROGRESS),
        ]  # fmt: skip
        for request in requests:
            if not _is_done(project, request):
                assert project.desk.decide(ANA, request, project.desk.view()).done


def _is_done(project: Project, request: Request) -> bool:
    if request.action in {Action.APPROVE, Action.COMPLETE}:
        return request.proposal is None or not request.proposal.is_open(project.now())
    done = {(decision.action, decision.task_id) for decision, _ in project.history()}
    return (request.action, request.task_id) in done


@pytest.fixture(scope="module")
def length(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The lines of the whole way."""
    project = prepare(tmp_path_factory.mktemp("whole") / "p")
    project.close()
    return lines_of(STEPS, lambda: decide_all(project))


def deaths(length: int, seed: int) -> list[int]:
    """Spread deaths over the way, each at a random line of its part; the seed makes a failure repeatable."""
    part = length / RUNS
    return [int(n * part + random.Random(seed + n).random() * part) + 1 for n in range(RUNS)]


def each_death(length: int, folder: Path, seed: int, look: Callable[[Project, int], None]) -> None:
    """Let a process die in each way, and look at what it left."""
    died = 0
    for number, step in enumerate(deaths(length, seed)):
        project = prepare(folder / str(number))
        project.close()
        died += dies_at(step, STEPS, lambda project=project: decide_all(project))
        look(project, step)
        project.close()
    assert died >= RUNS * 0.9


def find_out(project: Project) -> list[tuple[Decision, ApplicationOutcome]]:
    """Come as the next command does, after two minutes: finish what was left; gives what came of each."""
    age_the_lock(project)
    project.store = project.desk._store = Store.open(project.folder / "triage.db")
    outcomes = list(project.desk.settle())
    assert all(outcome.waiting is None for outcome in outcomes)
    return [(one.decision, one.application.outcome) for one in outcomes if one.application is not None]


def age_the_lock(project: Project) -> None:
    path = project.tasks_file.with_name("tasks.lock")
    if path.exists():
        then = time.time() - 121
        os.utime(path, (then, then))


def check_history(project: Project) -> None:
    """Every decision was applied once, and board, store and history say the same."""
    history = project.history()
    assert [decision.number for decision, _ in history] == list(range(1, len(history) + 1))
    for decision, application in history:
        assert application is not None
        assert application.outcome is ApplicationOutcome.APPLIED
        if decision.action is not Action.VERIFY:
            notes = project.tasks()[str(decision.task_id)]["notes"]
            assert notes.count(mark_of(decision.id)) == 1
    state = replay(history)
    for (_, name), document in state.tasks.items():
        assert same(project.tasks()[name], document)
    for identifier, status in state.proposals.items():
        assert project.proposal(identifier).status is status


def test_a_decision_that_dies_is_finished_by_the_next_command(length: int, tmp_path: Path) -> None:
    """Also what was never kept can be decided again: at last all of it is done, each once."""

    def look(project: Project, step: int) -> None:
        json.loads(project.tasks_file.read_bytes())  # readable in every moment
        assert all(outcome is ApplicationOutcome.APPLIED for _, outcome in find_out(project))
        check_history(project)
        project.close()
        decide_all(project)
        project.store = project.desk._store = Store.open(project.folder / "triage.db")
        check_history(project)
        assert {name: one["status"] for name, one in project.tasks().items()} == {
            "DONE": "completed", "STUCK": "in-progress", "MOVED": "in-progress", "NEW": "planned",
        }  # fmt: skip
        verifications = json.loads(project.tasks_file.with_name("verification.json").read_bytes())["verifications"]
        assert [one["id"] for one in verifications] == ["VER", "V2"]
        left = project.project_files() - {"tasks.lock"}  # of one who died after all was done
        assert left == {"tasks.json", "verification.json"}, f"died at line {step}"

    each_death(length, tmp_path, 20261130, look)


def test_what_others_wrote_after_a_death_is_kept(length: int, tmp_path: Path) -> None:
    """Another writer goes on with every task: what is on the board counts as done, the rest is a conflict."""

    def look(project: Project, step: int) -> None:
        board = project.tasks()
        for document in board.values():
            document["notes"] = f"{document.get('notes', '')}\nby another"
        project.write(*board.values())
        age_the_lock(project)
        before = project.tasks()
        for decision, outcome in find_out(project):
            if decision.action is Action.VERIFY or decision.task_before is None:
                continue
            was_there = mark_of(decision.id) in before[str(decision.task_id)]["notes"]
            assert (outcome is ApplicationOutcome.APPLIED) == was_there, f"died at line {step}"
        now = project.tasks()
        assert {name: now[name] for name in before} == before
        state = replay(project.history())
        for identifier, status in state.proposals.items():
            assert project.proposal(identifier).status is status

    each_death(length, tmp_path, 7, look)
