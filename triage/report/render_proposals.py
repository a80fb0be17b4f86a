"""Proposals in the text report, within the sections of what to unlock now and what can wait."""

from collections.abc import Iterator, Sequence
from typing import Final

from triage.report.layout import Line, Span, fit, indented, joined, wrap
from triage.report.model_proposals import ProposalItem
from triage.report.render_parts import ago, more
from triage.report.words import one_line

SHORT_ID: Final = 8
"""Characters of an id: as many as `session-triage board` needs to know which is meant."""


def listed(items: Sequence[ProposalItem], limit: int, now_ms: int, columns: int) -> Iterator[Line]:
    """Give the first `limit` proposals, and how many more there are."""
    for item in items[:limit]:
        yield from _item(item, now_ms, columns)
    yield from more(len(items) - limit)


def held_back(count: int) -> Iterator[Line]:
    """Say how many wait behind a daily limit."""
    if count:
        yield (Span(f"  {count:,} more held back by the daily limit of their source", "dim"),)


def _item(item: ProposalItem, now_ms: int, columns: int) -> Iterator[Line]:
    about = [
        item.priority if isinstance(item.priority, str) else "",
        f"{item.thread_count:,} threads" if item.thread_count > 1 else "",
        ago(item.since, now_ms),
    ]
    head = f"  ? {item.kind} {item.id[:SHORT_ID]}"
    first = next(iter(joined([one_line(part) for part in about], columns - len(head) - 2)), "")
    yield (
        Span("  ? ", "ask"),
        Span(item.kind, "ask"),
        Span(f" {item.id[:SHORT_ID]}", "key"),
        Span(f"  {first}", "dim"),
    )
    yield from indented(wrap(item.title, columns - 4, 2), 4, "plain")
    yield from indented([fit(item.why, columns - 4)], 4, "dim")
    for one in item.evidence[:1]:
        if one.words and one.words not in item.title:
            yield from indented(wrap(f"“{one.words}”", columns - 6, 2), 6, "quote")
