"""What somebody asks the gate for, and with what the gate looks at it."""

from dataclasses import dataclass, replace
from typing import Final

from ingest.processors.text import clean
from triage.board.documents import BoardView
from triage.board.model import Action, Actor, Proposal, TaskStatus
from triage.report.words import quote

MAX_TEXT: Final = 2000
"""Characters of a note or of evidence: what is longer belongs into a file that the evidence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What somebody asks for; which members count depends on the action.

    `task_id` names the task of an action on a task; of an approval, the id of the task that it adds, when it shall not
    be the proposed one. `to` is where a task shall go, `until_ms` when a deferred proposal comes back, `verification`
    the one that a completion names or that is recorded, with its status, method and evidence.
    """

    action: Action
    proposal: Proposal | None = None
    task_id: str | None = None
    to: TaskStatus | None = None
    until_ms: int | None = None
    verification: str | None = None
    verification_status: str | None = None
    method: str | None = None
    evidence_text: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Hearing:
    """A request before the gate: who asks, on which board, when (Unix milliseconds), and the id of what comes of it."""

    actor: Actor
    request: Request
    board: BoardView
    at_ms: int
    decision_id: str


def cleaned(request: Request) -> Request:
    """Give a request whose texts are fit to be kept and shown: one line, bounded, no control characters.

    A command line may hold bytes that are no text at all.
    """
    return replace(
        request,
        task_id=_identifier(request.task_id),
        verification=_identifier(request.verification),
        method=_words(request.method),
        evidence_text=_words(request.evidence_text),
        note=_words(request.note),
    )


def _identifier(text: str | None) -> str | None:
    return None if text is None else clean(text).strip()


def _words(text: str | None) -> str | None:
    return quote(text or "", MAX_TEXT) or None
