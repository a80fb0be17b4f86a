"""Puts the report together from what was gathered, the board and the notes. Pure but for nothing it is not given."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from triage.board.read import Task, TaskBoard
from triage.board.split import is_pending, is_unlock_now, unknown_statuses
from triage.report.gather import Gatherer
from triage.report.ideas import inbox
from triage.report.lanes import claims, recommend
from triage.report.log_source import place_text
from triage.report.model import (
    Aggregate,
    Problem,
    Report,
    ScanWindow,
    Session,
    Sources,
    StoreState,
    SummaryEntry,
    Waiting,
    Where,
    Who,
)
from triage.report.model_parts import Board, BoardItem, Counts, Idea
from triage.report.model_proposals import ProposalSections
from triage.report.options import Options
from triage.report.runs import as_part, done_candidates, waiting_runs
from triage.report.summary_store import merge, unique
from triage.report.waiting import ranked, waiting_in_threads
from triage.report.words import one_line, path_text, quote

BOARD_KEY = "board"
"""The provider key of what the board itself says."""


@dataclass(slots=True)
class Found:
    """What the sources were, beside the events."""

    session_dir: str
    session_dir_source: str
    pi_sessions_there: bool
    session_roots: list[str] = field(default_factory=list)
    ideas: list[Idea] = field(default_factory=list)
    stored: list[SummaryEntry] = field(default_factory=list)
    proposals: ProposalSections = field(default_factory=ProposalSections)


def build(gatherer: Gatherer, board: TaskBoard, found: Found, options: Options, generated_at: str) -> Report:
    """Build the report; equal input gives an equal report but for `generated_at`."""
    sessions = [tally.session() for tally in gatherer.tallies]
    summaries = merge(found.stored, [entry for session in sessions for entry in session.branch_summaries])
    runs = gatherer.runs.runs()
    pending = {task.id: (task.status, board.verification_of(task)) for task in board.tasks if is_pending(task)}
    split = _board(board, gatherer)
    split.done_candidates = done_candidates(runs, pending)
    aggregate = _aggregate(sessions, summaries)
    aggregate.runs = [as_part(run) for run in runs]
    waiting = [
        *waiting_in_threads(gatherer.threads.ends()),
        *waiting_runs(runs),
        *gatherer.summaries.waiting(),
        *_waiting_on_board(board, options),
    ]
    return Report(
        generated_at=generated_at,
        workspace=path_text(options.workspace),
        lookback_days=options.days,
        limit=options.limit,
        session_dir=found.session_dir,
        sources=_sources(found, options),
        scan_window=_scan_window(sessions, options),
        sessions=sessions,
        aggregate=aggregate,
        branch_summary_store=_store(found, options, summaries, sessions),
        board=split,
        idea_inbox=inbox([*found.ideas, *(idea for session in sessions for idea in session.idea_candidates)]),
        recommendation=recommend(aggregate.tooling_claims, aggregate.colony_signals, aggregate.runs, split.unlock_now),
        waiting=ranked(waiting),
        problems=[*gatherer.problems, *_board_problems(board)],
        problem_counts=_problem_counts(gatherer, board),
        duplicates=gatherer.duplicates,
        events=gatherer.events,
        skipped={name: gatherer.skipped[name] for name in ("empty", "hidden")},
        too_old=gatherer.too_old,
        proposals=found.proposals,
    )


def _board(board: TaskBoard, gatherer: Gatherer) -> Board:
    pending = [(task, _item(task, gatherer)) for task in board.tasks if is_pending(task)]
    return Board(
        pending=[item for _, item in pending],
        unlock_now=[item for task, item in pending if is_unlock_now(task)],
        later=[item for task, item in pending if not is_unlock_now(task)],
        unknown_statuses=unknown_statuses(board.tasks),
    )


def _item(task: Task, gatherer: Gatherer) -> BoardItem:
    item = BoardItem(
        id=task.id,
        status=task.status,
        description=one_line(task.description),
        evidence=gatherer.evidence.of(task.id),
        evidence_count=gatherer.evidence.count(task.id),
    )
    if task.priority is not None:
        item.priority = task.priority
    return item


def _waiting_on_board(board: TaskBoard, options: Options) -> Iterable[Waiting]:
    for task in board.tasks:
        if task.status == "blocked":
            yield Waiting(
                kind="blocked",
                rule="board-blocked",
                words=quote(task.description or task.id),
                where=Where(workspace=path_text(options.workspace), path=path_text(board.path)),
                who=Who(provider_account_key=BOARD_KEY, role="system"),
                task_id=task.id,
            )


def _aggregate(sessions: list[Session], summaries: list[SummaryEntry]) -> Aggregate:
    signals: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    providers: Counter[str] = Counter()
    roles: Counter[str] = Counter()
    for session in sessions:
        signals.update(session.colony_signals)
        gaps.update(session.tooling_gaps)
        providers.update(session.providers or {"pi": session.message_count})
        roles.update(session.unknown_roles or {})
    return Aggregate(
        colony_signals=_sorted(signals),
        tooling_gaps=_sorted(gaps),
        tooling_claims=claims(gaps),
        providers=_sorted(providers),
        next_steps=unique([item for entry in summaries for item in entry.next_steps]),
        in_progress=unique([item for entry in summaries for item in entry.in_progress]),
        blocked=unique([item for entry in summaries for item in entry.blocked]),
        branch_summaries_count=len(summaries),
        unknown_roles=_sorted(roles),
    )


def _sorted(counts: Counter[str]) -> Counts:
    return dict(sorted(counts.items()))


def _sources(found: Found, options: Options) -> Sources:
    return Sources(
        pi_session_jsonl=found.pi_sessions_there,
        session_dir_source=found.session_dir_source,
        canonical_events=path_text(options.events[-1]) if options.events else None,
        idea_inbox=[path_text(path) for path in options.ideas],
        branch_summary_store=path_text(options.summary_store) if options.summary_store else None,
        event_files=[path_text(path) for path in options.events],
        log=place_text(options.log) if options.log else None,
        session_roots=found.session_roots,
    )


def _scan_window(sessions: list[Session], options: Options) -> ScanWindow:
    cut = [s.truncated_line_count for s in sessions if isinstance(s.truncated_line_count, int)]
    cut = [count for count in cut if count]
    window = options.effective_window
    return ScanWindow(
        mode="tail-batch",
        tail_lines=options.tail_lines,
        window=window,
        line_budget=options.line_budget,
        expanded=options.expand or window > 1,
        truncated_sessions=len(cut),
        truncated_lines_total=sum(cut),
        suggested_next_window=window + 1,
    )


def _store(found: Found, options: Options, summaries: list[SummaryEntry], sessions: list[Session]) -> StoreState:
    return StoreState(
        enabled=options.summary_store is not None,
        path=path_text(options.summary_store) if options.summary_store else None,
        loaded=len(found.stored),
        merged=len(summaries),
        session_extracted=sum(len(session.branch_summaries) for session in sessions),
    )


def _board_problems(board: TaskBoard) -> list[Problem]:
    return [
        Problem(severity="warning", where=one_line(w.where), reason=w.reason, detail=quote(w.detail, 200))
        for w in board.warnings
    ]


def _problem_counts(gatherer: Gatherer, board: TaskBoard) -> Counts:
    counts = Counter(gatherer.problem_counts)
    counts["warning"] += len(board.warnings)
    return {name: counts[name] for name in ("rejected", "warning")}
