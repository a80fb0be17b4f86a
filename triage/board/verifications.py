"""Verifications at the gate: which one lets a task be completed, and which one may be recorded."""

from dataclasses import dataclass
from typing import Final

from triage.board.documents import BoardView, VerificationDocument, iso_of, linked_verification, member
from triage.board.model import Decision, TaskDocument
from triage.board.packet import ADVICE, PASSED, Blocker, Packet, packet_for, status_of
from triage.board.refusals import Refusal, RefusedError
from triage.board.request import Request

STATUSES: Final = ("passed", "failed", "partial", "skipped")
"""What a verification may have come to, as on the origin's board."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A verification as a decision names it: its id, how it stood, and how it was made."""

    id: str
    status: str
    method: str


def packet_of(task: TaskDocument, board: BoardView) -> Packet:
    """Make the decision packet of a task on a board."""
    return packet_for(member(task, "id"), linked_verification(task), board.verifications)


def check_completion(request: Request, task: TaskDocument, board: BoardView) -> Verified:
    """Give the verification that lets a task be completed; raises `RefusedError` when there is none, or no evidence.

    It has passed, and it is the task's: the task names it, or it names the task.
    """
    packet = packet_of(task, board)
    if request.verification is None:
        choice = f"name one that passed: {', '.join(packet.passed)}" if packet.passed else _advice(packet.blockers)
        raise RefusedError(Refusal.NOT_VERIFIED, f"completed needs a verification; {choice}", packet.blockers)
    named = board.verification(request.verification)
    if named is None:
        blocker = Blocker.LINKED_NOT_FOUND
        raise RefusedError(Refusal.NOT_VERIFIED, f"there is no verification {request.verification}", [blocker])
    if request.verification != linked_verification(task) and member(named, "target") != packet.task_id:
        message = f"verification {request.verification} is about {member(named, 'target') or 'nothing'}"
        raise RefusedError(Refusal.NOT_VERIFIED, f"{message}, not about {packet.task_id}", packet.blockers)
    if status_of(named) != PASSED:
        message = f"verification {request.verification} is {status_of(named) or 'without a status'}, not {PASSED}"
        raise RefusedError(Refusal.NOT_VERIFIED, message, packet.blockers or [Blocker.NONE_PASSED])
    _check_evidence(request)
    method = _text(request.method) or member(named, "method")
    if not method:
        raise RefusedError(Refusal.NEEDS_METHOD, f"{request.verification} does not say how it was made: give --method")
    return Verified(request.verification, PASSED, method)


def check_new(request: Request, board: BoardView) -> Verified:
    """Give the verification that an operator records; raises `RefusedError` when something of it is missing."""
    identifier, method = _text(request.verification), _text(request.method)
    if not identifier:
        raise RefusedError(Refusal.NOT_VERIFIED, "a verification needs an id")
    if board.verification(identifier) is not None:
        raise RefusedError(Refusal.VERIFICATION_EXISTS, f"there is a verification {identifier} already")
    if request.verification_status not in STATUSES:
        raise RefusedError(Refusal.UNKNOWN_STATUS, f"a verification is one of: {', '.join(STATUSES)}")
    if not method:
        raise RefusedError(Refusal.NEEDS_METHOD, "say how it was verified: command, inspect, test, …")
    _check_evidence(request)
    return Verified(identifier, request.verification_status, method)


def document_of(decision: Decision) -> VerificationDocument:
    """Write the verification that a decision records, as `verification.json` has it."""
    return {
        "id": decision.verification,
        "target": decision.task_id,
        "target_type": "task",
        "status": decision.verification_status,
        "method": decision.method,
        "evidence": decision.evidence_text,
        "timestamp": iso_of(decision.at_ms),
    }


def _check_evidence(request: Request) -> None:
    if not _text(request.evidence_text):
        raise RefusedError(Refusal.NEEDS_EVIDENCE, "say what shows it: evidence in words, a command, a place")


def _advice(blockers: tuple[Blocker, ...]) -> str:
    return "; ".join(ADVICE[blocker] for blocker in blockers)


def _text(value: str | None) -> str:
    return (value or "").strip()
