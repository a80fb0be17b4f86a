"""A project with a board and a store, and people who decide on it, for the tests of the gate."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.board.desk import Desk, Outcome
from triage.board.documents import BoardView
from triage.board.model import (
    Action,
    Actor,
    ActorKind,
    Application,
    Decision,
    Evidence,
    Proposal,
    ProposalKind,
    TaskDocument,
)
from triage.board.proposing import Suggestion, propose
from triage.board.request import Request
from triage.store.database import Store

ANA = Actor("ana", ActorKind.OPERATOR)
BOT = Actor("bot", ActorKind.AGENT)
START_MS = 1_796_000_000_000
"""A day in November 2026."""

ADDS = {ProposalKind.NEW_TASK, ProposalKind.IDEA_PROMOTION, ProposalKind.TOOLING_CLAIM}


def task(identifier: str, status: str = "planned", **members: Any) -> dict[str, Any]:
    """Make a task of the board."""
    return {"id": identifier, "status": status, "description": f"Cut the reeds of {identifier}", **members}


def verification(identifier: str, target: str, status: str = "passed", **members: Any) -> dict[str, Any]:
    """Make a verification."""
    whole = {"target_type": "task", "status": status, "method": "command", "evidence": "make test: all passed"}
    return {"id": identifier, "target": target, **whole, **members}


def view(*tasks: Mapping[str, Any], verifications: Sequence[Mapping[str, Any]] = (), **members: Any) -> BoardView:
    """Make a board as it was read, without any file."""
    by_id = {str(one["id"]): one for one in tasks}
    return BoardView("/home/ana/ferry", by_id, tuple(verifications), **members)


def words(text: str, event_id: str = "event-1") -> Evidence:
    """Make evidence that quotes a conversation."""
    return Evidence(
        event_id=event_id,
        rule="quoted",
        provider_account_key="pi",
        thread_id="t1",
        time_iso="2026-11-30T09:00:00.000Z",
        role="user",
        words=text,
    )


class Project:
    """A workspace, a store beside it, and a desk with a clock that moves by a second each time it is read."""

    def __init__(self, folder: Path, place: str | Path | None = None) -> None:
        self.folder = folder
        self.workspace = folder / "ferry"
        (self.workspace / ".project").mkdir(parents=True)
        self.store = Store.open(place or folder / "triage.db")
        self._seconds = itertools.count()
        self.desk = Desk(self.store, self.workspace, self.now)

    def now(self) -> int:
        """Give the time, a second later than the last."""
        return START_MS + next(self._seconds) * 1000

    @property
    def tasks_file(self) -> Path:
        """The board's file."""
        return self.workspace / ".project" / "tasks.json"

    def project_files(self) -> set[str]:
        """Give the names of what lies beside the board's file, and its own."""
        return {path.name for path in self.tasks_file.parent.iterdir()}

    def write(self, *tasks: TaskDocument, verifications: Sequence[Mapping[str, Any]] = ()) -> None:
        """Write the board's files, as somebody else would."""
        self.tasks_file.write_text(json.dumps({"tasks": tasks}, indent=2) + "\n")
        if verifications:
            path = self.tasks_file.with_name("verification.json")
            path.write_text(json.dumps({"verifications": verifications}, indent=2) + "\n")

    def tasks(self) -> dict[str, dict[str, Any]]:
        """Read the board's tasks by id."""
        return {one["id"]: one for one in json.loads(self.tasks_file.read_bytes())["tasks"]}

    def propose(self, kind: ProposalKind, title: str = "", actor: Actor = BOT, **members: Any) -> Proposal:
        """Propose something."""
        suggestion = Suggestion(kind=kind, title=title, **members)
        return propose(self.store, actor, self.desk.name, suggestion, self.now())[0]

    def proposal(self, identifier: str) -> Proposal:
        """Read a proposal as it stands."""
        with self.store.read() as repository:
            found = repository.proposals.get(identifier)
        assert found is not None
        return found

    def decide(self, action: Action, actor: Actor = ANA, seen: BoardView | None = None, **members: Any) -> Outcome:
        """Decide, on the board as it is unless it was seen before."""
        return self.desk.decide(actor, Request(action=action, **members), seen or self.desk.view())

    def history(self) -> list[tuple[Decision, Application | None]]:
        """Read the whole history."""
        with self.store.read() as repository:
            return [(one, repository.decisions.application(one.id)) for one in repository.decisions.history()]

    def close(self) -> None:
        """Close the store."""
        self.store.close()
