"""Proposals from summaries: next steps that no task stands for yet, and items that are blocked.

A newer summary of the thread takes the force from an older one: what it names again has its own evidence from it.
"""

from collections.abc import Iterator
from typing import Final

from ingest.processors.headings import summary_items
from schemas.event import CanonicalEvent
from triage.board.model import ProposalKind
from triage.projections.thread import workspace_of
from triage.proposals.finding import (
    Finding,
    draft_of,
    evidence_of,
    named_tasks,
    reference_of,
    subject_of,
    title_of,
)
from triage.store.proposals import Settled

NEXT_STEP: Final = "summary-next-step"
BLOCKED_ITEM: Final = "summary-blocked"

MAX_SUMMARY: Final = 200_000
"""Characters of a summary that are looked at, as in the report."""


def in_summary(event: CanonicalEvent, at_ms: int) -> Iterator[Finding]:
    """Give what an event of `conversations.summaries` proposes."""
    items = summary_items(event.event.text[:MAX_SUMMARY])
    for item in items.next_steps:
        if (subject := subject_of(item)) and not named_tasks(item):  # a step of a task is that task's business
            yield _next_step(event, item, subject, at_ms)
    for item in items.blocked:
        if subject := subject_of(item):
            yield _blocked(event, item, subject, at_ms)


def _next_step(event: CanonicalEvent, item: str, subject: str, at_ms: int) -> Finding:
    return Finding(
        workspace=workspace_of(event),
        kind=ProposalKind.NEW_TASK,
        subject=subject,
        title=title_of(item),
        why="a summary names it as a next step, and no task",
        evidence=evidence_of(event, NEXT_STEP, item, 0.7),
        at_ms=at_ms,
        draft=draft_of(item, reference_of(event)),
        settled_by=Settled.SUMMARISED,
    )


def _blocked(event: CanonicalEvent, item: str, subject: str, at_ms: int) -> Finding:
    task = next(iter(named_tasks(item)), None)
    return Finding(
        workspace=workspace_of(event),
        kind=ProposalKind.UNBLOCK,
        subject=task or subject,
        title=title_of(item),
        why="the latest summary of a conversation says that it is blocked",
        evidence=evidence_of(event, BLOCKED_ITEM, item, 0.8),
        at_ms=at_ms,
        task_id=task,
        draft=None if task else draft_of(f"Unblock: {item}", reference_of(event)),
        settled_by=Settled.SUMMARISED,
    )
