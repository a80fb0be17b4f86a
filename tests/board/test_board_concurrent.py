"""Callers that decide at the same moment: one decides, the others are told so; on each database."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.board import Project, task
from tests.support.stores import place, postgres
from triage.board.desk import Desk, Outcome
from triage.board.model import Action, Actor, ActorKind, ProposalKind, TaskStatus
from triage.board.refusals import Refusal, RefusedError
from triage.board.replay import replay
from triage.board.request import Request
from triage.store.database import Store

__all__ = ["place", "postgres"]

CALLERS = 6


@pytest.fixture
def shared(tmp_path: Path, place: str | Path) -> Iterator[Project]:
    """A project whose store is on each database."""
    made = Project(tmp_path / "p", place)
    yield made
    made.close()


def together(project: Project, place: str | Path, request_of: Callable[[], Request]) -> Counter[str]:
    """Let operators, each with a store of their own, decide the same thing at once; counts what came of it."""
    seen = project.desk.view()
    ready = threading.Barrier(CALLERS)
    came: Counter[str] = Counter()

    def call(number: int) -> None:
        with Store.open(place) as store:
            desk = Desk(store, project.workspace)
            ready.wait()
            try:
                outcome = desk.decide(Actor(f"ana-{number}", ActorKind.OPERATOR), request_of(), seen)
                while outcome.waiting:  # many want the lock at once
                    outcome = next((one for one in desk.settle() if one.decision == outcome.decision), outcome)
                came[_word(outcome)] += 1
            except RefusedError as error:
                came[error.reason] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


def _word(outcome: Outcome) -> str:
    return outcome.application.outcome if outcome.application else "none"


def test_a_proposal_is_decided_once(shared: Project, place: str | Path) -> None:
    """One approves; the board has the task once; everybody else hears that it was decided."""
    new = shared.propose(ProposalKind.NEW_TASK, "Paint the gate", task_id="TASK-1")
    came = together(shared, place, lambda: Request(action=Action.APPROVE, proposal=new))
    assert came == {"applied": 1, Refusal.ALREADY_DECIDED: CALLERS - 1}
    assert list(shared.tasks()) == ["TASK-1"]
    assert len(shared.history()) == 1


def test_a_task_is_moved_once(shared: Project, place: str | Path) -> None:
    """All moved what they saw; for all but one it was no longer so, and that is recorded."""
    shared.write(task("T"), task("U"))
    came = together(shared, place, lambda: Request(action=Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS))
    assert came == {"applied": 1, "conflict": CALLERS - 1}
    assert shared.tasks()["T"]["notes"].count("(decision ") == 1
    assert replay(shared.history()).tasks == {(shared.desk.name, "T"): shared.tasks()["T"]}


def test_the_same_request_in_the_same_moment_is_one_decision(shared: Project) -> None:
    shared.write(task("T"))
    seen, now = shared.desk.view(), shared.now()
    desk = Desk(shared.store, shared.workspace, lambda: now)
    request = Request(action=Action.MOVE, task_id="T", to=TaskStatus.IN_PROGRESS)
    actor = Actor("ana", ActorKind.OPERATOR)
    assert desk.decide(actor, request, seen).done
    with pytest.raises(RefusedError, match="in this moment"):
        desk.decide(actor, request, seen)
    assert len(shared.history()) == 1
