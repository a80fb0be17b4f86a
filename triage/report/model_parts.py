"""Parts of the report about the board and about ideas.

Source: formats/session-triage-origin.md 1.4. Members that the origin has are always written; additions are marked.
"""

from msgspec import UNSET, Struct, UnsetType, field

Counts = dict[str, int]


class Evidence(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Words that name a task (addition)."""

    event_id: str
    provider_account_key: str
    thread_id: str
    timestamp_iso: str
    role: str
    words: str


class BoardItem(Struct, rename="camel", kw_only=True):
    """One task: the origin's three members, then the board's priority and the conversations' evidence (additions).

    `evidence` is newest first and bounded; `evidence_count` says how many events name the task.
    """

    id: str
    status: str
    description: str
    priority: str | UnsetType = UNSET
    evidence: list[Evidence] = []
    evidence_count: int = 0


class DoneCandidate(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A task that a successful run names (addition): it stays as it is until an operator decides.

    `verification` is the status of the verification that the board links to it, if there is one.
    """

    task_id: str
    status: str
    event_id: str
    thread_id: str
    timestamp_iso: str
    words: str
    run_id: str | None = None
    verification: str | None = None
    note: str = "candidate only: an operator closes it, with a verification that passed"


class Board(Struct, rename="camel", kw_only=True):
    """The board split into what to unlock now and what can wait."""

    pending: list[BoardItem] = []
    unlock_now: list[BoardItem] = []
    later: list[BoardItem] = []
    done_candidates: list[DoneCandidate] = []
    unknown_statuses: Counts = {}


class IdeaSource(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Where an idea stands; `line` counts from 1."""

    kind: str
    ref: str
    role: str | None = None
    line: int = 0


class TaskDraft(Struct):
    """The task that an idea would become; members as on the board."""

    status: str
    description: str
    acceptance_criteria: list[str]
    references: list[str]


class DecisionGate(Struct, rename="camel", kw_only=True):
    """What stands between an idea and the board."""

    requires_operator_approval: bool = True
    requires_verification: bool = True
    no_auto_close: bool = True


class Idea(Struct, rename="camel", kw_only=True):
    """One idea, proposed and not promoted."""

    id: str
    title: str
    source: IdeaSource
    task_draft: TaskDraft
    decision_gate: DecisionGate = field(default_factory=DecisionGate)


class IdeaInbox(Struct, rename="camel", kw_only=True):
    """All ideas found."""

    proposal_count: int = 0
    review_required: bool = False
    promotion_policy: str = "draft-planned-task-only; operator-review-required; no-auto-close; no-aggressive-priority"
    proposals: list[Idea] = []
