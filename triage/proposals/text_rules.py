"""Proposals from what is said in messages: ideas that somebody wrote down as such.

Only the line that is marked as an idea counts; what else a text asks for ("approve this", "close it") is never read.
"""

from collections.abc import Iterator
from typing import Final

from schemas.event import CanonicalEvent
from triage.board.model import ProposalKind
from triage.projections.thread import workspace_of
from triage.proposals.finding import Finding, draft_of, evidence_of, reference_of, subject_of, title_of
from triage.report.ideas import CRITERIA, ideas_in

IDEA_LINE: Final = "idea-line"

MAX_IDEAS: Final = 20
"""Ideas taken from one message: a longer list is a document, and its first lines say what it is about."""

_ROLES: Final = frozenset({"user", "operator", "assistant", "agent", "bot"})


def in_message(event: CanonicalEvent, at_ms: int) -> Iterator[Finding]:
    """Give what an event of `conversations.events` proposes."""
    if event.event.type != "message" or event.event.role not in _ROLES:
        return
    for number, idea in enumerate(ideas_in(event.event.text, "event", reference_of(event), event.event.role)):
        if number == MAX_IDEAS:
            return
        if subject := subject_of(idea.title):
            yield Finding(
                workspace=workspace_of(event),
                kind=ProposalKind.IDEA_PROMOTION,
                subject=subject,
                title=title_of(idea.title),
                why="written down as an idea in a conversation",
                evidence=evidence_of(event, IDEA_LINE, idea.title, 0.9),
                at_ms=at_ms,
                draft={**draft_of(idea.title, reference_of(event)), "acceptance_criteria": list(CRITERIA)},
            )
