"""The report as a person reads it: lines of at most 80 columns, what waits first.

Pure; `triage.report.paint` puts them on a terminal.
"""

from collections.abc import Iterator
from typing import Final

from ingest.processors.times import to_ms
from triage.report import render_board, render_waiting
from triage.report.ages import length, span
from triage.report.layout import Line, Span, Style, clamp, fit, indented, joined, wrap
from triage.report.model import Problem, Report
from triage.report.render_parts import heading, more
from triage.report.words import one_line

MAX_LISTED: Final = 8
"""Lines of a list that only informs; the rest is in the JSON."""


def lines(report: Report, columns: int) -> Iterator[Line]:
    """Give the lines of the report, none of them wider than `columns`."""
    for line in _sections(report, columns):
        yield clamp(line, columns)


def _sections(report: Report, columns: int) -> Iterator[Line]:
    now_ms = to_ms(report.generated_at)
    yield from _head(report, columns)
    yield from render_waiting.section(report, now_ms, columns)
    yield from render_board.unlock_now(report, now_ms, columns)
    yield from render_board.later(report, now_ms, columns)
    yield from render_board.done(report, now_ms, columns)
    yield from render_board.runs(report, now_ms, columns)
    yield from _claims(report, columns)
    yield from _open_items(report, columns)
    yield from _ideas(report, columns)
    yield from _problems(report, columns)
    if report.events:
        yield from _lane(report, columns)
    yield from _sources(report, columns)


def _head(report: Report, columns: int) -> Iterator[Line]:
    at = f"{report.generated_at[:10]} {report.generated_at[11:16]} UTC"
    yield (Span(fit(f"Session triage · last {span(report.lookback_days)} · {at}", columns), "title"),)
    yield (Span(fit(one_line(report.workspace), columns), "dim"),)


def _claims(report: Report, columns: int) -> Iterator[Line]:
    claims = report.aggregate.tooling_claims
    if not claims:
        return
    yield from heading("Gaps in the tools", sum(claim.count for claim in claims))
    for claim in claims:
        yield (Span("  "), Span(claim.code, "key"), Span(f"  seen {_times(claim.count)}", "dim"))
        yield from indented(wrap(claim.recommendation, columns - 4, 2), 4, "plain")


def _open_items(report: Report, columns: int) -> Iterator[Line]:
    kinds = (("In progress", report.aggregate.in_progress), ("Next steps", report.aggregate.next_steps))
    for title, items in kinds:
        if items:
            yield from heading(f"{title}, from summaries", len(items))
            for item in items[:MAX_LISTED]:
                yield from _bullet(one_line(item), columns)
            yield from more(len(items) - MAX_LISTED)


def _bullet(text: str, columns: int) -> Iterator[Line]:
    first, *rest = wrap(text, columns - 4, 2)
    yield (Span("  · ", "dim"), Span(first))
    yield from indented(rest, 4, "plain")


def _ideas(report: Report, columns: int) -> Iterator[Line]:
    proposals = report.idea_inbox.proposals
    if not proposals:
        return
    yield from heading("Ideas to look through", len(proposals))
    for idea in proposals[:MAX_LISTED]:
        yield (Span("  "), Span(fit(idea.id, 20), "key"), Span("  " + fit(one_line(idea.title), columns - 24)))
    yield from more(len(proposals) - MAX_LISTED)
    yield (Span("    Proposals only: an operator promotes them.", "dim"),)


def _problems(report: Report, columns: int) -> Iterator[Line]:
    if not report.problems:
        return
    yield from heading("Could not be read, or odd", sum(report.problem_counts.values()))
    ordered = sorted(report.problems, key=lambda problem: problem.severity != "rejected")
    for problem in ordered[:MAX_LISTED]:
        yield from _problem(problem, columns)
    yield from more(sum(report.problem_counts.values()) - MAX_LISTED)


def _problem(problem: Problem, columns: int) -> Iterator[Line]:
    style: Style = "alarm" if problem.severity == "rejected" else "ask"
    yield (Span("  "), Span(fit(one_line(problem.reason), columns - 4), style))
    yield from indented(wrap(one_line(problem.where), columns - 4, 2), 4, "plain")
    if problem.detail:
        yield from indented(wrap(one_line(problem.detail), columns - 4, 2), 4, "dim")


def _lane(report: Report, columns: int) -> Iterator[Line]:
    lane = report.recommendation
    yield from heading("Delegation lane")
    yield (Span("  "), Span(lane.lane, "key"), Span(f"  {lane.confidence} confidence", "dim"))
    yield from indented(wrap(lane.next_action, columns - 4, 2), 4, "plain")
    yield from indented(joined(lane.reasons, columns - 4), 4, "dim")


def _sources(report: Report, columns: int) -> Iterator[Line]:
    yield ()
    for number, line in enumerate(joined(_source_parts(report), columns - 9)):
        yield (Span("Sources  " if number == 0 else " " * 9, "dim"), Span(line, "dim"))


def _source_parts(report: Report) -> list[str]:
    sessions = [s for s in report.sessions if isinstance(s.total_line_count, int)]
    cut = report.scan_window.truncated_sessions
    parts = [] if report.sources.log else [_plural(len(sessions), "pi session")]
    if report.sources.event_files:
        parts.append(_plural(len(report.sources.event_files), "event file"))
    if report.sources.log:
        parts.append(f"log {one_line(report.sources.log)}")
    parts.append(_plural(report.events, "event"))
    if report.duplicates:
        parts.append(_plural(report.duplicates, "duplicate"))
    if report.too_old:
        parts.append(f"{report.too_old} older than {length(report.lookback_days)}")
    if cut:
        parts.append(f"{_plural(cut, 'session')} cut to the last {report.scan_window.line_budget} lines")
        parts.append(f"--window {report.scan_window.suggested_next_window:g} reads more")
    parts += [
        f"unknown role {one_line(role)!r} {_times(count)}" for role, count in report.aggregate.unknown_roles.items()
    ]
    return parts


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
