"""Between rows and the frozen values of `triage.board.model`: the one place that knows both."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from triage.board.model import (
    Action,
    Actor,
    ActorKind,
    Decision,
    Evidence,
    Proposal,
    ProposalKind,
    ProposalStatus,
    TaskDocument,
    proposal_id,
)
from triage.store.keys import thread_digest

_encode: Final = msgspec.json.Encoder().encode


def storable(text: str) -> str:
    """Give text as every database takes it: no NUL (PostgreSQL has none in texts), no lone surrogate."""
    return (
        text
        if text.isascii() and "\0" not in text
        else text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    )


def series_of(proposal: Proposal) -> str:
    """Give what all rounds of a proposal share."""
    return proposal_id(proposal.workspace, proposal.kind, proposal.subject, 0)


def proposal_row(proposal: Proposal) -> dict[str, Any]:
    """Give a proposal's row; what the consumer alone keeps (`source`, `shown_day`) is not in it."""
    return {
        "id": proposal.id,
        "series": series_of(proposal),
        "workspace": storable(proposal.workspace),
        "kind": proposal.kind.value,
        "subject": storable(proposal.subject),
        "round": proposal.round,
        "status": proposal.status.value,
        "title": storable(proposal.title),
        "why": storable(proposal.why),
        "priority": _optional(proposal.priority),
        "task_id": _optional(proposal.task_id),
        "draft": _json(proposal.draft),
        "actor_name": storable(proposal.proposed_by.name),
        "actor_kind": proposal.proposed_by.kind.value,
        "created_ms": proposal.created_ms,
        "updated_ms": proposal.updated_ms,
        "deferred_until_ms": proposal.deferred_until_ms,
        "evidence_count": proposal.evidence_count,
        "thread_count": proposal.thread_count,
    }


def proposal_of(row: sa.RowMapping, evidence: Iterable[Evidence] = ()) -> Proposal:
    """Give the proposal of a row."""
    return Proposal(
        id=row["id"],
        workspace=row["workspace"],
        kind=ProposalKind(row["kind"]),
        subject=row["subject"],
        round=row["round"],
        status=ProposalStatus(row["status"]),
        title=row["title"],
        why=row["why"],
        priority=row["priority"],
        task_id=row["task_id"],
        draft=_document(row["draft"]),
        proposed_by=Actor(row["actor_name"], ActorKind(row["actor_kind"])),
        created_ms=row["created_ms"],
        updated_ms=row["updated_ms"],
        deferred_until_ms=row["deferred_until_ms"],
        evidence=tuple(evidence),
        evidence_count=row["evidence_count"],
        thread_count=row["thread_count"],
    )


def evidence_row(evidence: Evidence, series: str, proposal: str, settled_by: str | None) -> dict[str, Any]:
    """Give the row of one piece of evidence for a proposal."""
    return {
        "event_id": storable(evidence.event_id),
        "rule": evidence.rule,
        "series": series,
        "proposal_id": proposal,
        "provider_account_key": storable(evidence.provider_account_key),
        "thread_id": storable(evidence.thread_id),
        "thread": thread_digest(evidence.provider_account_key, evidence.thread_id),
        "time_iso": evidence.time_iso,
        "role": evidence.role,
        "words": storable(evidence.words),
        "confidence": evidence.confidence,
        "settled_by": settled_by,
    }


def evidence_of(row: sa.RowMapping) -> Evidence:
    """Give the evidence of a row."""
    return Evidence(
        event_id=row["event_id"],
        rule=row["rule"],
        provider_account_key=row["provider_account_key"],
        thread_id=row["thread_id"],
        time_iso=row["time_iso"],
        role=row["role"],
        words=row["words"],
        confidence=row["confidence"],
    )


def decision_row(decision: Decision, number: int) -> dict[str, Any]:
    """Give a decision's row under its number."""
    return {
        "number": number,
        "id": decision.id,
        "workspace": storable(decision.workspace),
        "actor_name": storable(decision.actor.name),
        "actor_kind": decision.actor.kind.value,
        "action": decision.action.value,
        "at_ms": decision.at_ms,
        "proposal_id": decision.proposal_id,
        "proposal_before": decision.proposal_before.value if decision.proposal_before else None,
        "proposal_after": decision.proposal_after.value if decision.proposal_after else None,
        "deferred_until_ms": decision.deferred_until_ms,
        "task_id": _optional(decision.task_id),
        "task_before": _json(decision.task_before),
        "task_after": _json(decision.task_after),
        "changes_board": decision.changes_board,
        "evidence_ids": _encode(list(decision.evidence_ids)).decode(),
        "verification": _optional(decision.verification),
        "verification_status": _optional(decision.verification_status),
        "method": _optional(decision.method),
        "evidence_text": _optional(decision.evidence_text),
        "note": _optional(decision.note),
    }


def decision_of(row: sa.RowMapping) -> Decision:
    """Give the decision of a row."""
    return Decision(
        number=row["number"],
        id=row["id"],
        workspace=row["workspace"],
        actor=Actor(row["actor_name"], ActorKind(row["actor_kind"])),
        action=Action(row["action"]),
        at_ms=row["at_ms"],
        proposal_id=row["proposal_id"],
        proposal_before=_status(row["proposal_before"]),
        proposal_after=_status(row["proposal_after"]),
        deferred_until_ms=row["deferred_until_ms"],
        task_id=row["task_id"],
        task_before=_document(row["task_before"]),
        task_after=_document(row["task_after"]),
        evidence_ids=tuple(msgspec.json.decode(row["evidence_ids"], type=list[str])),
        verification=row["verification"],
        verification_status=row["verification_status"],
        method=row["method"],
        evidence_text=row["evidence_text"],
        note=row["note"],
    )


def _status(name: str | None) -> ProposalStatus | None:
    return ProposalStatus(name) if name is not None else None


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _json(document: TaskDocument | None) -> str | None:
    return None if document is None else _encode(dict(document)).decode()


def _document(text: str | None) -> Mapping[str, Any] | None:
    return None if text is None else msgspec.json.decode(text, type=dict[str, Any])
