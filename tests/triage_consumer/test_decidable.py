"""What the consumer proposes can be decided on: an approval changes the board, whatever the conversation was about."""

import json
from pathlib import Path

import pytest

from schemas.event import CanonicalEvent
from tests.support.consumer import ALL, Bench, idle
from tests.support.stores import ANA
from tests.support.triage import event, task, write_board
from triage.board.desk import Desk
from triage.board.model import Action, ProposalStatus
from triage.board.request import Request


def approve_the_only(bench: Bench, workspace: Path) -> dict[str, str]:
    """Approve what waits; gives the board's tasks, by their words."""
    (found,) = bench.proposals()
    desk = Desk(bench.store, workspace)
    assert desk.decide(ANA, Request(action=Action.APPROVE, proposal=found), desk.view()).done
    assert [p.status for p in bench.proposals(ALL)] == [ProposalStatus.APPROVED]
    tasks = json.loads((workspace / ".project" / "tasks.json").read_bytes())["tasks"]
    return {one["description"]: one["status"] for one in tasks}


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        (event("- idea: a bell", "user", workspace=None), "a bell"),
        (event("## Next Steps\n- Paint the ferry", "system", type="summary", workspace=None), "Paint the ferry"),
        (event("[COLONY_SIGNAL:FAILED] crashed", type="signal", workspace=None), "Recover the run: "),
        (event("Blocked: no key", workspace=None), "Unblock: Blocked: no key"),
    ],
)
def test_what_is_no_task_yet_becomes_one_on_the_board_that_the_operator_names(
    bench: Bench, tmp_path: Path, said: CanonicalEvent, becomes: str
):
    write_board(tmp_path, [])
    bench.hear(said)
    ((words, status),) = approve_the_only(bench, tmp_path).items()
    assert words.startswith(becomes)
    assert status == "planned"


def test_an_unanswered_ask_becomes_a_task_to_answer_it(bench: Bench, tmp_path: Path):
    write_board(tmp_path, [])
    ask = event("Shall I cut the old mast into planks?", workspace=str(tmp_path))
    bench.hear(ask).take([idle(ask)])
    assert list(approve_the_only(bench, tmp_path)) == ["Answer: Shall I cut the old mast into planks?"]


def test_a_task_that_is_blocked_is_unblocked(bench: Bench, tmp_path: Path):
    write_board(tmp_path, [task("TASK-BUD-9", status="blocked", description="The gate")])
    bench.hear(event("Blocked: TASK-BUD-9 needs a key", workspace=str(tmp_path)))
    assert approve_the_only(bench, tmp_path) == {"The gate": "in-progress"}
