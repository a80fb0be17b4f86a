"""Proposals from how a thread ended: an agent's ask that nobody answered, an error after which nothing went on.

An abort is no such end: whoever aborts has decided. Both wait until the thread is idle, as its idle summary says: an
ask that is answered within the hour was none to plan.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from schemas.keys import thread_key
from triage.board.model import Evidence, ProposalKind
from triage.projections.thread import Said, ThreadState
from triage.proposals.finding import Finding, draft_of, title_of
from triage.store.proposals import Settled

UNANSWERED_ASK: Final = "unanswered-ask"
ENDED_IN_ERROR: Final = "ended-in-error"


class _End(NamedTuple):
    """One way to end: the rule that sees it, what it proposes to do, and what takes the force from it."""

    rule: str
    kind: ProposalKind
    verb: str
    settled_by: Settled


_ASK: Final = _End(UNANSWERED_ASK, ProposalKind.UNBLOCK, "Answer", Settled.WENT_ON)
_ERROR: Final = _End(ENDED_IN_ERROR, ProposalKind.RECOVERY, "Take up again", Settled.ENDED)

_WORDS: Final = {"approval": "an agent asks for leave", "question": "an agent asks a question"}


def at_end(state: ThreadState, at_ms: int) -> Iterator[Finding]:
    """Give what the end of a thread proposes; nothing while the thread is alive."""
    if not state.is_idle:
        return
    if ask := state.open_ask:
        why = f"{_WORDS.get(str(ask.kind), 'an agent asks')}, and nobody has answered"
        yield _finding(state, ask, _ASK, why, at_ms)
    if stop := state.broken_off:
        why = "the conversation ended in an error, and nothing followed"
        yield _finding(state, stop, _ERROR, why, at_ms)


def _finding(state: ThreadState, said: Said, end: _End, why: str, at_ms: int) -> Finding:
    evidence = Evidence(
        event_id=said.at.event_id,
        rule=end.rule,
        provider_account_key=state.provider_account_key,
        thread_id=state.thread_id,
        time_iso=said.at.iso,
        role=said.role,
        words=said.words,
        confidence=0.8,
    )
    return Finding(
        workspace=state.workspace,
        kind=end.kind,
        subject=f"thread {thread_key(state.provider_account_key, state.thread_id)}",
        title=title_of(said.words) or f"{end.verb}: {title_of(state.title or state.thread_id)}",
        why=why,
        evidence=evidence,
        at_ms=at_ms,
        draft=draft_of(f"{end.verb}: {said.words or state.title or state.thread_id}", f"event:{said.at.event_id}"),
        settled_by=end.settled_by,
    )
