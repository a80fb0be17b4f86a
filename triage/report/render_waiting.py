"""The first section of the text report: what waits for the operator."""

from collections.abc import Iterator
from typing import Final

from triage.report.ages import span
from triage.report.layout import Line, Span, Style, fit, indented, joined, width, wrap
from triage.report.model import Report, Waiting, WaitingKind
from triage.report.render_parts import ago, clock, heading, more, place_name, short_id
from triage.report.words import one_line

MAX_SHOWN: Final = 12
"""Items that are shown: what a person can take in at once; the order puts first what matters."""

ON_BOARD: Final = "board-blocked"
"""The rule of items that the next section shows anyway: here they are one line."""

_QUOTE_LINES: Final = 3
_INDENT: Final = 4

_STYLES: Final[dict[WaitingKind, Style]] = {
    "approval": "ask",
    "question": "ask",
    "blocked": "key",
    "failed": "alarm",
    "aborted": "alarm",
}


def section(report: Report, now_ms: int, columns: int) -> Iterator[Line]:
    """Give the section."""
    yield from heading("Waits for you", len(report.waiting))
    if not report.waiting:
        yield from _nothing(report, columns)
    said = [item for item in report.waiting if item.rule != ON_BOARD]
    for item in said[:MAX_SHOWN]:
        yield from _item(item, now_ms, columns)
    yield from more(len(said) - MAX_SHOWN)
    yield from _on_board(len(report.waiting) - len(said))


def _on_board(count: int) -> Iterator[Line]:
    """Point to the board's own section, which lists them with their evidence."""
    if count:
        tasks = "1 task" if count == 1 else f"{count:,} tasks"
        yield (Span("  blocked", _STYLES["blocked"]), Span(f"  {tasks} on the board, see Unlock now"))


def _nothing(report: Report, columns: int) -> Iterator[Line]:
    if report.events:
        words = f"Nothing: no open question, failure or block in the last {span(report.lookback_days)}."
        yield from indented(wrap(words, columns - 2, 2), 2, "good")
    else:
        words = f"No conversation in the last {span(report.lookback_days)} was found for this workspace."
        yield from indented(wrap(words, columns - 2, 2), 2, "plain")
    for hint in _hints(report):
        yield from indented(wrap(hint, columns - 2, 2), 2, "dim")


def _hints(report: Report) -> Iterator[str]:
    if report.too_old or not report.events:
        older = f" ({_events(report.too_old)} older)" if report.too_old else ""
        yield f"Look further back{older}:  session-triage --days 7"
    if not report.events:
        if not report.sources.event_files:
            yield "Read canonical events:  session-triage --events FILE"
        if not report.sources.log:
            yield "Read the daemon's log:  session-triage --log"


def _events(count: int) -> str:
    return "1 event is" if count == 1 else f"{count:,} events are"


def _item(item: Waiting, now_ms: int, columns: int) -> Iterator[Line]:
    lead = f"  {item.kind}"
    rest = _who_and_where(item, now_ms)
    room = columns - width(lead) - 2
    first, *others = joined(rest, room) or [""]
    yield (Span(lead, _STYLES[item.kind]), Span(f"  {first}"))
    yield from indented([fit(other, columns - _INDENT) for other in others], _INDENT, "plain")
    quoted = f"“{one_line(item.words)}”" if item.event_id else one_line(item.words)
    yield from indented(wrap(quoted, columns - _INDENT, _QUOTE_LINES), _INDENT, "quote")
    yield from indented(joined(_ids(item), columns - _INDENT), _INDENT, "dim")


def _who_and_where(item: Waiting, now_ms: int) -> list[str]:
    who = item.who
    name = one_line(who.author or ("" if who.role == "system" else who.role)) if who else ""
    since = ago(item.since, now_ms) + (" (inferred)" if item.time_inferred else "")
    return [
        since,
        one_line(who.provider_account_key) if who else "",
        name,
        place_name(item.where.workspace, item.where.title),
        one_line(item.task_id or ""),
        f"{item.more} more from the same" if item.more else "",
    ]


def _ids(item: Waiting) -> list[str]:
    return [
        clock(item.since),
        f"run {one_line(item.run_id)}" if item.run_id else "",
        f"thread {short_id(item.where.thread_id)}" if item.where.thread_id else "",
        f"event {short_id(item.event_id)}" if item.event_id else "",
        one_line(item.where.path or ""),
    ]
