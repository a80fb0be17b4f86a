"""What a rule finds in a conversation: a proposal to make, or words more for one that is there."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Final

from ingest.processors.references import find_refs
from schemas.event import CanonicalEvent
from triage.board.model import Evidence, ProposalKind, proposal_id
from triage.report.words import MAX_QUOTE, one_line, quote
from triage.store.proposals import Settled

MAX_TITLE: Final = 180
"""Characters of a title: two lines of a terminal, and the origin's limit for ideas."""

MAX_SUBJECT: Final = 120
"""Characters of words that make two items the same: idle summaries cut an item at 160, so what is compared is less."""

_WORD: Final = re.compile(r"[^\W_]+")
_EMPTY_WORDS: Final = frozenset(("a", "an", "the", "o", "os", "as", "um", "uma", "el", "la", "der", "die", "das"))
"""Articles: items that differ in nothing else are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's find in one event. `draft` is the task that it would become, where it would.

    `settled_by` says what takes its force later, `at_ms` when the log took the event in (Unix milliseconds).
    """

    workspace: str
    kind: ProposalKind
    subject: str
    title: str
    why: str
    evidence: Evidence
    at_ms: int
    task_id: str | None = None
    draft: dict[str, Any] | None = None
    settled_by: Settled | None = None

    @property
    def series(self) -> str:
        """What all rounds of the proposal share."""
        return proposal_id(self.workspace, self.kind, self.subject, 0)

    @property
    def source(self) -> str:
        """Whose daily limit it counts against."""
        return self.evidence.provider_account_key


def evidence_of(event: CanonicalEvent, rule: str, words: str, confidence: float) -> Evidence:
    """Quote words of an event as evidence."""
    return Evidence(
        event_id=event.event.id,
        rule=rule,
        provider_account_key=event.source.provider_account_key,
        thread_id=event.source.thread_id,
        time_iso=event.event.timestamp_iso,
        role=event.event.role,
        words=quote(words, MAX_QUOTE),
        confidence=confidence,
    )


def title_of(words: str) -> str:
    """Give words as a title."""
    return quote(words, MAX_TITLE)


def subject_of(words: str) -> str:
    """Give what makes two wordings of one thing the same: case, marks, accents' form and articles do not count."""
    plain = unicodedata.normalize("NFKC", one_line(words)).casefold()
    kept = [word for word in _WORD.findall(plain) if word not in _EMPTY_WORDS]
    return " ".join(kept)[:MAX_SUBJECT].rstrip()


def named_tasks(words: str) -> list[str]:
    """Give the board's tasks that words name, in order of first sight."""
    refs = find_refs(words)
    return refs.task_ids if refs else []


def draft_of(words: str, *references: str) -> dict[str, Any]:
    """Give the task that words would become: planned, with where they stand."""
    return {"description": title_of(words), "status": "planned", "references": list(references)}


def reference_of(event: CanonicalEvent) -> str:
    """Say where an event stands, as a task refers to it."""
    return f"event:{event.event.id}"
