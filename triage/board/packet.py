"""The decision packet: what an operator needs to know before a task is closed, and what stands against it.

Source: formats/session-triage-origin.md 1.7. Nothing closes by itself: a packet recommends, an operator decides.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from triage.board.documents import VerificationDocument, member

PASSED: Final = "passed"

MAX_EVIDENCE: Final = 3
"""Verifications that a packet shows, as in the origin: the linked one, then the newest that target the task."""


class Option(StrEnum):
    """What an operator may do about a task that could be done."""

    CLOSE = "close"
    KEEP_OPEN = "keep-open"
    DEFER = "defer"


class Blocker(StrEnum):
    """Why a task cannot be closed now."""

    MISSING_EVIDENCE = "missing-verification-evidence"
    LINKED_NOT_FOUND = "linked-verification-not-found"
    NONE_PASSED = "no-passed-verification"


ADVICE: Final = {
    Blocker.MISSING_EVIDENCE: "no verification speaks of this task: record one with `session-triage board verify`",
    Blocker.LINKED_NOT_FOUND: "the task names a verification that verification.json does not have",
    Blocker.NONE_PASSED: "no verification of this task has passed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """What speaks for closing a task, and what against it; `evidence` is bounded, `passed` are all that would do."""

    task_id: str
    options: tuple[Option, ...] = tuple(Option)
    recommended: Option
    blockers: tuple[Blocker, ...]
    evidence: tuple[VerificationDocument, ...]
    passed: tuple[str, ...]
    no_auto_close: bool = True


def packet_for(task_id: str, linked: str | None, verifications: Iterable[VerificationDocument]) -> Packet:
    """Make the packet of a task; `linked` is the id of the verification that the task itself names."""
    known = list(verifications)
    targeting = [v for v in known if member(v, "target") == task_id]
    targeting.sort(key=lambda v: member(v, "timestamp"), reverse=True)
    named = [v for v in known if linked is not None and member(v, "id") == linked]
    evidence = list({member(v, "id"): v for v in (*named[:1], *targeting)}.values())
    passed = tuple(member(v, "id") for v in evidence if status_of(v) == PASSED)
    blockers = tuple(_blockers(linked, found=bool(named), evidence=bool(evidence), passed=bool(passed)))
    return Packet(
        task_id=task_id,
        recommended=Option.DEFER if blockers else Option.CLOSE,
        blockers=blockers,
        evidence=tuple(evidence[:MAX_EVIDENCE]),
        passed=passed,
    )


def status_of(verification: VerificationDocument) -> str:
    """Give the status of a verification as it is compared: real files write it in any case."""
    return member(verification, "status").lower()


def _blockers(linked: str | None, *, found: bool, evidence: bool, passed: bool) -> Iterable[Blocker]:
    if linked is None and not evidence:
        yield Blocker.MISSING_EVIDENCE
    if linked is not None and not found:
        yield Blocker.LINKED_NOT_FOUND
    if evidence and not passed:
        yield Blocker.NONE_PASSED
