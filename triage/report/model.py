"""The report as data: what `session-triage --json` prints, field by field as the origin's, and our additions.

Source: formats/session-triage-origin.md 1.4. Members that the origin has are always there, null where it has null;
additions are marked as such. Nothing in it depends on the clock but `generatedAt`.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType, field

from triage.report.model_parts import Board, Counts, Idea, IdeaInbox
from triage.report.model_proposals import ProposalSections


class Who(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Who said something."""

    provider_account_key: str
    role: str
    author: str | None = None
    model: str | None = None


class Where(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """The conversation, or the file, that something stands in."""

    workspace: str | None = None
    thread_id: str | None = None
    branch_id: str | None = None
    title: str | None = None
    path: str | None = None


WaitingKind = Literal["approval", "question", "blocked", "failed", "aborted"]


class Waiting(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One thing that waits for the operator (addition).

    `since` is when the quoted words were said, ISO 8601 UTC; absent where nobody knows. `rule` names the rule that
    found it. `more` counts further unanswered asks of the same author after it.
    """

    kind: WaitingKind
    rule: str
    words: str
    where: Where
    who: Who | None = None
    since: str | None = None
    time_inferred: bool = False
    event_id: str | None = None
    task_id: str | None = None
    run_id: str | None = None
    more: int = 0


class SummaryEntry(Struct, rename="camel", kw_only=True):
    """What one summary leaves open, as the origin stores it."""

    next_steps: list[str] = []
    in_progress: list[str] = []
    blocked: list[str] = []
    source: str = "unknown"
    seen_at: str = ""


class Session(Struct, rename="camel", kw_only=True):
    """One session file, canonical file or log; members that a kind has not are left out.

    A session file has the line counts, the others have `format` and `providers`. The last three are additions.
    """

    file: str
    path: str
    updated_at: str
    format: str | UnsetType = UNSET
    message_count: int = 0
    user_messages: int = 0
    assistant_messages: int = 0
    colony_signals: Counts = {}
    tooling_gaps: Counts = {}
    providers: Counts | UnsetType = UNSET
    idea_candidates: list[Idea] = []
    branch_summaries: list[SummaryEntry] = []
    total_line_count: int | UnsetType = UNSET
    scanned_line_count: int | UnsetType = UNSET
    truncated_line_count: int | UnsetType = UNSET
    unknown_roles: Counts | UnsetType = UNSET
    workspace: str | UnsetType = UNSET
    thread_id: str | UnsetType = UNSET


class Sources(Struct, rename="camel", kw_only=True):
    """What was read. `event_files`, `log` and `session_roots` are additions."""

    pi_session_jsonl: bool
    session_dir_source: str
    canonical_events: str | None
    idea_inbox: list[str]
    branch_summary_store: str | None
    event_files: list[str] = []
    log: str | None = None
    session_roots: list[str] = []


class ScanWindow(Struct, rename="camel", kw_only=True):
    """How much of each session file was read."""

    mode: str
    tail_lines: float
    window: float
    line_budget: int
    expanded: bool
    truncated_sessions: int
    truncated_lines_total: int
    suggested_next_window: float


class ToolingClaim(Struct, rename="camel", kw_only=True):
    """A gap in the tools, and what to do about it."""

    code: str
    count: int
    recommendation: str


class Run(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """One run of a colony, from its signals (addition)."""

    run_id: str
    state: str
    outcome: Literal["success", "failed", "aborted", "running"]
    provider_account_key: str
    thread_id: str
    started_at: str
    updated_at: str
    signals: int
    event_id: str
    words: str


class Aggregate(Struct, rename="camel", kw_only=True):
    """Sums over all sessions; `runs` and `unknown_roles` are additions."""

    colony_signals: Counts = {}
    tooling_gaps: Counts = {}
    tooling_claims: list[ToolingClaim] = []
    providers: Counts = {}
    next_steps: list[str] = []
    in_progress: list[str] = []
    blocked: list[str] = []
    branch_summaries_count: int = 0
    runs: list[Run] = []
    unknown_roles: Counts = {}


class StoreState(Struct, rename="camel", kw_only=True):
    """What the summary store did."""

    enabled: bool = False
    path: str | None = None
    loaded: int = 0
    merged: int = 0
    session_extracted: int = 0


class Metrics(Struct, rename="camel", kw_only=True):
    """What the lane was chosen by; the last two are additions."""

    claim_count: int
    complete_signals: int
    unlock_now_count: int
    blocked_now_count: int
    runs_succeeded: int = 0
    runs_failed: int = 0


class Recommendation(Struct, rename="camel", kw_only=True):
    """The lane to delegate in."""

    lane: str
    confidence: str
    reasons: list[str]
    next_action: str
    metrics: Metrics


class Problem(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Something that could not be read (addition): its place, a word for the reason, and what to know.

    `severity` is `rejected` for lost input, which makes the exit status 1, and `warning` for what cost nothing.
    """

    severity: Literal["rejected", "warning"]
    where: str
    reason: str
    detail: str = ""
    sample: str = ""


class Report(Struct, rename="camel", kw_only=True):
    """The whole report; from `waiting` on, the members are additions.

    `events` were taken, each once; `duplicates` were known already; `too_old` lie before the window, and
    `skipped` elements rightly gave no event (`empty`: without words, `hidden`). `proposals` wait for an operator.
    """

    generated_at: str
    workspace: str
    lookback_days: float
    limit: float
    session_dir: str
    sources: Sources
    scan_window: ScanWindow
    sessions: list[Session]
    aggregate: Aggregate
    branch_summary_store: StoreState
    board: Board
    idea_inbox: IdeaInbox
    recommendation: Recommendation
    waiting: list[Waiting] = []
    problems: list[Problem] = []
    problem_counts: Counts = {}
    duplicates: int = 0
    events: int = 0
    too_old: int = 0
    skipped: Counts = {}
    proposals: ProposalSections = field(default_factory=ProposalSections)
