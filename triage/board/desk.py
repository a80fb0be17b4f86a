"""The desk: the one place where decisions are made, kept, and brought to the board.

The order of a decision is what makes a crash harmless:

1. the gate judges the request on the board as the operator saw it;
2. the decision and the proposal's new status are one durable transaction of the store;
3. under the board's lock, the task is compared with what was decided on, and the file is replaced;
4. still under the lock, the store keeps that it was done, or why not (a conflict; the proposal is open again).

What dies after 2 is finished by whoever comes next (`settle`); a mark in the task's notes tells it whether 3 happened.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.clock import now_ms
from triage.board.documents import BoardView
from triage.board.file import PROJECT, apply, check_completed, read_view
from triage.board.gate import judge
from triage.board.json_files import BoardFileError
from triage.board.lock import BoardBusyError, LockLostError, board_lock
from triage.board.model import Actor, Application, ApplicationOutcome, Decision, ProposalStatus
from triage.board.refusals import Refusal, RefusedError
from triage.board.request import Request
from triage.report.words import path_text
from triage.store.database import Store
from triage.store.repository import Repository

LATER: Final = (BoardBusyError, LockLostError, BoardFileError)
"""What keeps a decision from the board for now: it is kept, and tried again by the next command."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a decision: `application` says what happened on the board; without one, `waiting` says why not yet.

    A decision that changes no board has neither.
    """

    decision: Decision
    application: Application | None = None
    waiting: str | None = None

    @property
    def done(self) -> bool:
        """Whether everything is as it was decided."""
        applied = self.application is not None and self.application.outcome is ApplicationOutcome.APPLIED
        return applied or not self.decision.changes_board


class Desk:
    """The decisions about one workspace; `clock` gives Unix milliseconds."""

    def __init__(self, store: Store, workspace: Path, clock: Callable[[], int] = now_ms) -> None:
        self.workspace = workspace
        self.name = path_text(workspace)
        self._store = store
        self._clock = clock

    def view(self) -> BoardView:
        """Read the board as it is now; raises `BoardFileError`."""
        return read_view(self.workspace, self.name)

    def decide(self, actor: Actor, request: Request, seen: BoardView) -> Outcome:
        """Decide on a board as it was seen; every caller's only way to do so.

        Raises `RefusedError` when the gate refuses, or somebody else has decided meanwhile; `StoreError`. Then nothing
        has happened.
        """
        decision = judge(actor, request, seen, self._clock())
        check_completed(decision)
        return self._finish(self._keep(decision))

    def settle(self) -> Iterator[Outcome]:
        """Finish decisions that a crash, or a board that was busy, has kept from the board; gives what came of each."""
        with self._store.read() as repository:
            unapplied = repository.decisions.unapplied(self.name)
        for decision in unapplied:
            yield (outcome := self._finish(decision))
            if outcome.waiting:
                return  # the later ones may build on it

    def _keep(self, decision: Decision) -> Decision:
        with self._store.write() as repository:
            _move(repository, decision)
            if repository.decisions.get(decision.id):
                raise RefusedError(Refusal.ALREADY_DECIDED, "the very same was decided in this moment")
            return repository.decisions.append(decision)

    def _finish(self, decision: Decision) -> Outcome:
        if not decision.changes_board:
            return Outcome(decision)
        try:
            return Outcome(decision, self._apply(decision))
        except LATER as error:
            return Outcome(decision, waiting=str(error))

    def _apply(self, decision: Decision) -> Application:
        if not self.workspace.is_dir():
            raise BoardFileError(f"{self.name}: there is no such folder")
        with board_lock(self.workspace / PROJECT) as held:
            with self._store.read() as repository:
                known = repository.decisions.application(decision.id)
            if known is not None:  # another process was quicker to finish it
                return known
            outcome, detail = apply(self.workspace, decision, held)
            application = Application(decision_id=decision.id, outcome=outcome, at_ms=self._clock(), detail=detail)
            with self._store.write() as repository:
                return _record(repository, decision, application)


def _move(repository: Repository, decision: Decision) -> None:
    """Give a decision's proposal its new status; raises `RefusedError` when it is not what it was decided on."""
    before, after = decision.proposal_before, decision.proposal_after
    if decision.proposal_id is None or before is None or after is None:
        return
    until = decision.deferred_until_ms
    if not repository.proposals.move(decision.proposal_id, before, after, decision.at_ms, until):
        raise RefusedError(Refusal.ALREADY_DECIDED, f"proposal {decision.proposal_id} was decided meanwhile")


def _record(repository: Repository, decision: Decision, application: Application) -> Application:
    """Keep what came of a decision, once; after a conflict its proposal waits for another decision."""
    if known := repository.decisions.application(decision.id):
        return known
    repository.decisions.record(application)
    conflict = application.outcome is ApplicationOutcome.CONFLICT
    if conflict and decision.proposal_id is not None and decision.proposal_after is not None:
        now = application.at_ms
        repository.proposals.move(decision.proposal_id, decision.proposal_after, ProposalStatus.OPEN, now)
    return application
