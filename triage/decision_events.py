"""A decision as a canonical event, so that other consumers can follow what was decided.

One `status` event a decision, in the thread of its proposal, else of its task. Its id follows from the decision's, so
that telling it twice is telling it once.
"""

from typing import Final

import msgspec

from ingest.clock import iso
from ingest.processors.text import clean
from schemas.event import SCHEMA_VERSION, CanonicalEvent, Event, EventMeta, Refs, Role, Source
from schemas.ids import event_id
from triage.board.model import ActorKind, Decision
from triage.report.words import one_line

PROVIDER: Final = "session-triage"

DECISION_LABEL: Final = "decision"
RAW_TYPE: Final = "decision"

_ROLES: Final[dict[ActorKind, Role]] = {
    ActorKind.OPERATOR: "operator",
    ActorKind.AGENT: "agent",
    ActorKind.SYSTEM: "system",
}


def decision_event(decision: Decision) -> CanonicalEvent:
    """Give the event of a decision."""
    return CanonicalEvent(
        schema_version=SCHEMA_VERSION,
        source=Source(
            provider=PROVIDER,
            provider_account_key=PROVIDER,
            thread_id=_thread(decision),
            workspace=one_line(decision.workspace) or None,
        ),
        event=Event(
            id=event_id(PROVIDER, "decision", decision.id),
            type="status",
            timestamp_iso=iso(decision.at_ms / 1000),
            role=_ROLES[decision.actor.kind],
            text=_text(decision),
            labels=[DECISION_LABEL, f"{DECISION_LABEL}:{decision.action.value}"],
            refs=Refs(task_ids=[decision.task_id]) if decision.task_id else None,
        ),
        meta=EventMeta(author_id=one_line(decision.actor.name) or None, message_id=decision.id, raw_type=RAW_TYPE),
    )


def _thread(decision: Decision) -> str:
    if decision.proposal_id:
        return f"proposal/{decision.proposal_id}"
    return f"task/{one_line(decision.task_id or 'none')}"


def _text(decision: Decision) -> str:
    """Give a line for people, and the decision's own members as JSON below it for programs."""
    what = decision.task_id or (f"proposal {decision.proposal_id}" if decision.proposal_id else "the board")
    members = {
        "number": decision.number,
        "proposalId": decision.proposal_id,
        "proposalBefore": decision.proposal_before,
        "proposalAfter": decision.proposal_after,
        "deferredUntilMs": decision.deferred_until_ms,
        "taskId": decision.task_id,
        "taskStatusBefore": (decision.task_before or {}).get("status"),
        "taskStatusAfter": (decision.task_after or {}).get("status"),
        "verification": decision.verification,
        "evidenceIds": list(decision.evidence_ids),
        "note": decision.note,
    }
    present = {name: value for name, value in members.items() if value not in (None, [])}
    line = one_line(f"{decision.actor.name}: {decision.action.value} {what}")
    return f"{line}\n{clean(msgspec.json.encode(present).decode())}"
