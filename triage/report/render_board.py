"""The sections of the text report about the board and about runs."""

from collections.abc import Iterator, Sequence
from typing import Final

from triage.board.read import TASKS
from triage.report import render_proposals
from triage.report.layout import Line, Span, Style, fit, indented, joined, width, wrap
from triage.report.model import Report, Run
from triage.report.model_parts import BoardItem, Evidence
from triage.report.render_parts import ago, heading, more, short_id
from triage.report.words import one_line

MAX_URGENT: Final = 12
MAX_LISTED: Final = 8
"""Items that are shown of what is not urgent; the rest is in the JSON."""

_URGENT_EVIDENCE: Final = 2
_LATER_EVIDENCE: Final = 1

_OUTCOMES: Final[dict[str, Style]] = {"success": "good", "failed": "alarm", "aborted": "alarm", "running": "plain"}


def unlock_now(report: Report, now_ms: int, columns: int) -> Iterator[Line]:
    """Give what to unlock now, or why there is nothing."""
    items, proposals = report.board.unlock_now, report.proposals.unlock_now
    yield from heading("Unlock now", len(items) + len(proposals))
    if not items:
        yield from indented(wrap(_why_empty(report), columns - 2, 3), 2, "dim")
    yield from _items(items[:MAX_URGENT], now_ms, columns, _URGENT_EVIDENCE)
    yield from more(len(items) - MAX_URGENT)
    yield from render_proposals.listed(proposals, MAX_URGENT, now_ms, columns)


def later(report: Report, now_ms: int, columns: int) -> Iterator[Line]:
    """Give what can wait."""
    items, proposals = report.board.later, report.proposals.later
    if items or proposals or report.proposals.held_back:
        yield from heading("Later", len(items) + len(proposals))
        yield from _items(items[:MAX_LISTED], now_ms, columns, _LATER_EVIDENCE)
        yield from more(len(items) - MAX_LISTED)
        yield from render_proposals.listed(proposals, MAX_LISTED, now_ms, columns)
        yield from render_proposals.held_back(report.proposals.held_back)
    if report.board.unknown_statuses:
        counts = [f"{one_line(name)} ({count:,})" for name, count in report.board.unknown_statuses.items()]
        yield from indented(wrap(f"Unknown status, left out: {', '.join(counts)}", columns - 2, 3), 2, "ask")


def done(report: Report, now_ms: int, columns: int) -> Iterator[Line]:
    """Give the tasks that a successful run names."""
    candidates = report.board.done_candidates
    if not candidates:
        return
    yield from heading("Perhaps done: you decide", len(candidates))
    for candidate in candidates[:MAX_LISTED]:
        verified = f"verification {one_line(candidate.verification)}" if candidate.verification else "no verification"
        about = [one_line(candidate.status), verified, ago(candidate.timestamp_iso, now_ms)]
        yield from _titled(one_line(candidate.task_id), "key", about, columns)
        yield from indented(wrap(f"“{one_line(candidate.words)}”", columns - 4, 2), 4, "quote")
    yield from more(len(candidates) - MAX_LISTED)


def runs(report: Report, now_ms: int, columns: int) -> Iterator[Line]:
    """Give the runs, and the signals that were counted."""
    found, signals = report.aggregate.runs, report.aggregate.colony_signals
    if not found and not signals:
        return
    yield from heading("Runs and signals", len(found) or None)
    for run in found[:MAX_LISTED]:
        yield from _run(run, now_ms, columns)
    yield from more(len(found) - MAX_LISTED)
    if signals:
        counts = [f"{name} {count}" for name, count in signals.items()]
        yield from indented(wrap(f"Counted in words: {', '.join(counts)}", columns - 2, 6), 2, "dim")


def _why_empty(report: Report) -> str:
    board = report.board
    if board.pending:
        return "No task is blocked, promoted or of priority p0."
    if any(problem.where.endswith(str(TASKS)) for problem in report.problems):
        return "The board could not be read, see below."
    return f"Nothing pending on the board ({TASKS} of the workspace)."


def _items(items: Sequence[BoardItem], now_ms: int, columns: int, evidence: int) -> Iterator[Line]:
    for item in items:
        about = [item.status, one_line(item.priority) if isinstance(item.priority, str) else ""]
        if item.evidence_count > evidence:
            about.append(f"named {item.evidence_count:,} times")
        yield from _titled(one_line(item.id), "key", about, columns)
        if item.description:
            yield from indented(wrap(item.description, columns - 4, 2), 4, "plain")
        for one in item.evidence[:evidence]:
            yield from _evidence(one, now_ms, columns)


def _evidence(evidence: Evidence, now_ms: int, columns: int) -> Iterator[Line]:
    """Give one quotation, with where it stands after it."""
    yield from indented(wrap(f"“{one_line(evidence.words)}”", columns - 6, 2), 6, "quote")
    where = [
        ago(evidence.timestamp_iso, now_ms),
        f"{one_line(evidence.provider_account_key)} {evidence.role}",
        f"thread {short_id(evidence.thread_id)}",
        f"event {short_id(evidence.event_id)}",
    ]
    yield from indented(joined(where, columns - 6), 6, "dim")


def _run(run: Run, now_ms: int, columns: int) -> Iterator[Line]:
    about = [run.state, f"{run.signals} signals" if run.signals > 1 else "", ago(run.updated_at, now_ms)]
    yield from _titled(one_line(run.run_id), _OUTCOMES[run.outcome], [run.outcome, *about], columns)


def _titled(title: str, style: Style, about: list[str], columns: int) -> Iterator[Line]:
    """Give a title with a few words behind it, or below it where they do not fit."""
    title = fit(title, columns - 2)
    lines = joined(about, columns - 4)
    if lines and width(title) + width(lines[0]) + 4 <= columns:
        yield (Span("  "), Span(title, style), Span(f"  {lines[0]}", "dim"))
        lines = lines[1:]
    else:
        yield (Span("  "), Span(title, style))
    yield from indented(lines, 4, "dim")
