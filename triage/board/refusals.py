"""Why the gate refuses something, as a word for scripts and a sentence for a person."""

from collections.abc import Iterable
from enum import StrEnum

from triage.board.packet import Blocker


class Refusal(StrEnum):
    """The reasons there are."""

    NOT_AN_OPERATOR = "not-an-operator"
    NOT_ALLOWED_HERE = "not-allowed-here"
    UNKNOWN_KEY = "unknown-key"
    NO_PROPOSAL = "no-proposal"
    OTHER_WORKSPACE = "other-workspace"
    ALREADY_DECIDED = "already-decided"
    NO_TASK = "no-task"
    AMBIGUOUS_TASK = "ambiguous-task"
    TASK_EXISTS = "task-exists"
    UNKNOWN_STATUS = "unknown-status"
    NO_TRANSITION = "no-transition"
    NOT_VERIFIED = "not-verified"
    VERIFICATION_EXISTS = "verification-exists"
    NEEDS_METHOD = "needs-method"
    NEEDS_EVIDENCE = "needs-evidence"
    NEEDS_DATE = "needs-date"
    NOTHING_TO_ADD = "nothing-to-add"


class RefusedError(Exception):
    """The gate does not let something through; `blockers` are those of the decision packet, where it is about one."""

    def __init__(self, reason: Refusal, message: str, blockers: Iterable[Blocker] = ()) -> None:
        super().__init__(message)
        self.reason = reason
        self.blockers = tuple(blockers)
