"""Proposals that a person or an agent makes: the one thing that agents may do.

A proposal is folded into the one that is there about the same subject; after a decision it is the subject's next round.
"""

from dataclasses import dataclass, replace
from typing import Final

from triage.board.documents import iso_of
from triage.board.model import Actor, ActorKind, Evidence, Proposal, ProposalKind, TaskDocument, proposal_id
from triage.board.refusals import Refusal, RefusedError
from triage.board.transitions import DECIDABLE
from triage.report.words import MAX_QUOTE, one_line, quote
from triage.store.database import Store

ON_TASKS: Final = frozenset({ProposalKind.UNBLOCK, ProposalKind.DONE_CANDIDATE, ProposalKind.RECOVERY})
"""Kinds about a task that the board has; the others become one."""

MAX_SUBJECT: Final = 500
"""Characters: a subject is an identifier, not a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What somebody proposes: about a task (`task_id`), or a task to be (`title`); `why` in a line."""

    kind: ProposalKind
    title: str = ""
    why: str = ""
    task_id: str | None = None
    priority: str | None = None
    draft: TaskDocument | None = None
    evidence: tuple[Evidence, ...] = ()


def propose(store: Store, actor: Actor, workspace: str, suggestion: Suggestion, at_ms: int) -> tuple[Proposal, bool]:
    """Keep a proposal; gives it, and whether it is new. Raises `RefusedError` and `StoreError`."""
    if actor.kind is ActorKind.SYSTEM:
        raise RefusedError(
            Refusal.NOT_ALLOWED_HERE, "the program's own proposals come with their evidence, by its rules"
        )
    task_id, priority = one_line(suggestion.task_id or "") or None, one_line(suggestion.priority or "") or None
    suggestion = replace(suggestion, task_id=task_id, priority=priority)
    subject = _subject(suggestion)
    with store.write() as repository:
        latest = repository.proposals.latest(workspace, suggestion.kind, subject, lock=True)
        if latest is not None and latest.status in DECIDABLE:
            return latest, False
        proposal = _proposal(actor, workspace, suggestion, subject, (latest.round if latest else 0) + 1, at_ms)
        repository.proposals.add(proposal, iso_of(at_ms)[:10])
    return proposal, True


def _subject(suggestion: Suggestion) -> str:
    if suggestion.kind in ON_TASKS:
        if not suggestion.task_id:
            raise RefusedError(Refusal.NO_TASK, f"{suggestion.kind} is about a task: name it")
        return suggestion.task_id
    if not quote(suggestion.title):
        raise RefusedError(Refusal.NOTHING_TO_ADD, f"{suggestion.kind} needs words that say what to do")
    return quote(suggestion.title, MAX_SUBJECT).lower()


def _proposal(actor: Actor, workspace: str, suggestion: Suggestion, subject: str, round_: int, at_ms: int) -> Proposal:
    title = quote(suggestion.title, MAX_QUOTE) or f"{suggestion.kind}: {quote(suggestion.task_id or '')}"
    return Proposal(
        id=proposal_id(workspace, suggestion.kind, subject, round_),
        workspace=workspace,
        kind=suggestion.kind,
        subject=subject,
        round=round_,
        title=title,
        why=quote(suggestion.why) or f"proposed by {actor.name}",
        priority=suggestion.priority,
        task_id=suggestion.task_id,
        draft=suggestion.draft,
        proposed_by=actor,
        created_ms=at_ms,
        updated_ms=at_ms,
        evidence=suggestion.evidence,
        evidence_count=len(suggestion.evidence),
        thread_count=len({(e.provider_account_key, e.thread_id) for e in suggestion.evidence}),
    )
