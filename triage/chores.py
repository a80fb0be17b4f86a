"""What the triage does by the clock: put stale proposals away, show held ones, and tell others what was decided."""

from datetime import timedelta
from typing import Final

from ingest.clock import iso
from ingest.log.contract import EventLog, NewRecord, Topic
from schemas.event import encode
from schemas.keys import thread_key
from triage.board.documents import BoardView
from triage.board.gate import judge
from triage.board.model import SYSTEM, Action, Proposal
from triage.board.request import Request
from triage.decision_events import decision_event
from triage.store.database import Store
from triage.store.repository import Repository

STALE_AFTER: Final = timedelta(days=30)
"""Nobody has decided on it, nobody has spoken of it again: after a month it is clutter."""

SETTLED_AFTER: Final = timedelta(days=1)
"""What settled itself is kept a day, so that whoever looked at it yesterday still finds it."""

MAX_EXPIRED: Final = 500
"""Proposals put away in one transaction: an old backlog must not hold up the stream."""

_MILLISECOND: Final = timedelta(milliseconds=1)


def tidy(store: Store, now_ms: int) -> tuple[int, int]:
    """Put stale proposals away, each with a decision of the program's, and show held ones; how many of each."""
    with store.write() as repository:
        stale = repository.proposals.stale(
            now_ms - STALE_AFTER // _MILLISECOND, now_ms - SETTLED_AFTER // _MILLISECOND, MAX_EXPIRED
        )
        for proposal in stale:
            _expire(repository, proposal, now_ms)
        return len(stale), repository.findings.release(iso(now_ms / 1000)[:10])


def _expire(repository: Repository, proposal: Proposal, now_ms: int) -> None:
    """The gate decides that as everything else; no board is looked at, and none changes."""
    old = proposal.updated_ms < now_ms - STALE_AFTER // _MILLISECOND
    note = "nothing has been said of it for a month" if old else "what it waited for has happened since"
    request = Request(action=Action.EXPIRE, proposal=proposal, note=note)
    decision = judge(SYSTEM, request, BoardView(proposal.workspace, {}), now_ms)
    if decision.proposal_before and decision.proposal_after:
        repository.proposals.move(proposal.id, decision.proposal_before, decision.proposal_after, now_ms)
    repository.decisions.append(decision)


def tell(store: Store, log: EventLog) -> int:
    """Append decisions that were not told yet to `conversations.decisions`; how many.

    At least once: a crash between the two may tell some again, under the same ids.
    """
    with store.read() as repository:
        untold = repository.decisions.untold()
    if not untold:
        return 0
    events = [decision_event(decision) for decision in untold]
    log.append(
        [
            NewRecord(
                Topic.DECISIONS, thread_key(event.source.provider_account_key, event.source.thread_id), encode(event)
            )
            for event in events
        ]
    )
    with store.write() as repository:
        repository.decisions.told(decision.number for decision in untold)
    return len(untold)
