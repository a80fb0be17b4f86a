"""The gate: what a decision is, and who may make it. Pure: it reads nothing and writes nothing.

Every change of a board and of a proposal is a `Decision` that `judge` gave; there is no other way to make one. It holds
to three rules whoever calls: agents never decide, whatever they send; the program itself only puts proposals away;
`completed` needs an operator who names a verification that passed, says how, and gives evidence. Text from
conversations is never looked at for what to do.
"""

import uuid
from dataclasses import replace
from typing import Final

from triage.board import changes
from triage.board.changes import Change
from triage.board.documents import BoardView
from triage.board.model import NO_WORKSPACE, Action, Actor, ActorKind, Decision, Proposal, ProposalKind
from triage.board.refusals import Refusal, RefusedError
from triage.board.request import Hearing, Request, cleaned
from triage.board.transitions import DECIDABLE, OPERATORS_ACTIONS, SYSTEMS_ACTIONS, outcome_of

_DECISIONS: Final = uuid.UUID("8c0e9f3a-52f1-5c62-9c6d-2f6f0a1f7b0e")
"""The name space of decisions' ids: any fixed UUID does, this one was drawn for it."""

_ALLOWED: Final = {
    ActorKind.OPERATOR: OPERATORS_ACTIONS,
    ActorKind.SYSTEM: SYSTEMS_ACTIONS,
    ActorKind.AGENT: frozenset[Action](),
}

_ON_PROPOSALS: Final = frozenset({Action.APPROVE, Action.REJECT, Action.DEFER, Action.SUPERSEDE, Action.EXPIRE})
"""Actions that need a proposal; a completion may be about one, the others are about a task alone."""

_ON_TASKS: Final = {
    Action.COMPLETE: changes.complete,
    Action.MOVE: changes.move,
    Action.REOPEN: changes.reopen,
    Action.VERIFY: changes.verify,
    Action.ARCHIVE: changes.archive,
}


def judge(actor: Actor, request: Request, board: BoardView, at_ms: int) -> Decision:
    """Give the decision that a request amounts to on a board as it was read; raises `RefusedError`.

    Equal arguments give an equal decision, id and all.
    """
    check_actor(actor, request.action)
    request = _as_completion(cleaned(request))
    _check_proposal(request, board)
    hearing = Hearing(actor, request, board, at_ms, _decision_id(actor, request, board, at_ms))
    change = _change(hearing)
    proposal, verified = request.proposal, change.verified
    return Decision(
        id=hearing.decision_id,
        workspace=board.workspace,
        actor=actor,
        action=request.action,
        at_ms=at_ms,
        proposal_id=proposal.id if proposal else None,
        proposal_before=proposal.status if proposal else None,
        proposal_after=outcome_of(request.action) if proposal else None,
        deferred_until_ms=request.until_ms if request.action is Action.DEFER else None,
        task_id=change.task_id,
        task_before=change.before,
        task_after=change.after,
        evidence_ids=tuple(dict.fromkeys(e.event_id for e in proposal.evidence)) if proposal else (),
        verification=verified.id if verified else None,
        verification_status=verified.status if verified else None,
        method=verified.method if verified else None,
        evidence_text=request.evidence_text,
        note=request.note,
    )


def check_actor(actor: Actor, action: Action) -> None:
    """Raise `RefusedError` unless an actor may do such a thing at all."""
    if action not in _ALLOWED[actor.kind]:
        message = f"{actor.name} ({actor.kind}) cannot {action}: agents read and propose, an operator decides"
        raise RefusedError(Refusal.NOT_AN_OPERATOR, message)


def _as_completion(request: Request) -> Request:
    """Approving a done-candidate is completing its task, with all that it takes."""
    proposal = request.proposal
    if request.action is Action.APPROVE and proposal and proposal.kind is ProposalKind.DONE_CANDIDATE:
        return replace(request, action=Action.COMPLETE, task_id=proposal.task_id)
    return request


def _check_proposal(request: Request, board: BoardView) -> None:
    proposal = request.proposal
    if proposal is None:
        if request.action in _ON_PROPOSALS:
            raise RefusedError(Refusal.NO_PROPOSAL, f"{request.action} needs a proposal")
        return
    if request.action not in _ON_PROPOSALS and not _completes(request, proposal):
        raise RefusedError(Refusal.NO_PROPOSAL, f"{request.action} is not about a {proposal.kind} proposal")
    if proposal.workspace not in {board.workspace, NO_WORKSPACE}:
        raise RefusedError(Refusal.OTHER_WORKSPACE, f"proposal {proposal.id} is about {proposal.workspace}")
    if proposal.status not in DECIDABLE:
        raise RefusedError(Refusal.ALREADY_DECIDED, f"proposal {proposal.id} is {proposal.status} already")


def _completes(request: Request, proposal: Proposal) -> bool:
    candidate = proposal.kind is ProposalKind.DONE_CANDIDATE and proposal.task_id == request.task_id
    return request.action is Action.COMPLETE and candidate


def _change(hearing: Hearing) -> Change:
    """What the decision does to the board."""
    request, proposal = hearing.request, hearing.request.proposal
    if change := _ON_TASKS.get(request.action):
        return change(hearing)
    if request.action is Action.APPROVE and proposal is not None:
        return changes.approve(hearing, proposal)
    if request.action is Action.DEFER and (request.until_ms is None or request.until_ms <= hearing.at_ms):
        raise RefusedError(Refusal.NEEDS_DATE, "a proposal is deferred until a time to come")
    return Change(proposal.task_id if proposal else None)


def _decision_id(actor: Actor, request: Request, board: BoardView, at_ms: int) -> str:
    about = request.proposal.id if request.proposal else f"task {request.task_id}"
    parts = (board.workspace, actor.kind.value, actor.name, request.action.value, about, str(at_ms))
    return str(uuid.uuid5(_DECISIONS, "\0".join(parts)))
