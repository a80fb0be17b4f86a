"""Proposals, tasks and decisions as lines for a person, in the manner of the report."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from triage.board.changes import mark_of
from triage.board.documents import iso_of, member
from triage.board.model import Application, ApplicationOutcome, Decision, Evidence, Proposal, TaskDocument
from triage.board.packet import ADVICE, Packet
from triage.board.ranking import is_urgent
from triage.report.layout import Line, Span, clamp, fit, indented, joined, wrap
from triage.report.render_parts import ago, clock, heading, short_id
from triage.report.words import one_line, quote

ID_DIGITS: Final = 8
"""Characters of a proposal's id that are shown: enough to name it to a command."""

_MAX_LINES: Final = 4


def proposal_list(
    proposals: Sequence[Proposal], held: int, elsewhere: int, now_ms: int, columns: int
) -> Iterator[Line]:
    """Give the list of proposals, urgent ones first, as they come; `elsewhere` are those of other workspaces."""
    urgent = [one for one in proposals if is_urgent(one)]
    others = [one for one in proposals if not is_urgent(one)]
    for title, group in (("Unlock now", urgent), ("Later", others)):
        if group:
            yield from heading(title, len(group))
            for proposal in group:
                yield from _brief(proposal, now_ms, columns)
    if not proposals:
        yield (Span("Nothing is proposed."),)
    if elsewhere and not proposals:
        words = f"{elsewhere:,} wait for other workspaces: session-triage board list --all"
        yield from indented(wrap(words, columns, 2), 0, "dim")
    if held:
        yield ()
        yield from indented(wrap(f"{held:,} more wait behind the daily limit of their source.", columns, 2), 0, "dim")


def proposal_lines(proposal: Proposal, evidence: Iterable[Evidence], now_ms: int, columns: int) -> Iterator[Line]:
    """Give everything about one proposal."""
    yield from _brief(proposal, now_ms, columns)
    yield from indented(wrap(f"id {proposal.id}, by {one_line(proposal.proposed_by.name)}", columns - 4, 2), 4, "dim")
    if proposal.draft is not None:
        yield from indented(
            wrap(f"would add: {quote(member(proposal.draft, 'description'))}", columns - 4, 4), 4, "plain"
        )
    for one in evidence:
        yield from indented(wrap(f"“{one_line(one.words)}”", columns - 6, _MAX_LINES), 6, "quote")
        where = [ago(one.time_iso, now_ms), f"{one_line(one.provider_account_key)} {one.role}"]
        where += [f"thread {short_id(one.thread_id)}", f"event {short_id(one.event_id)}"]
        where += [f"{one.rule}, {one.confidence:.0%}"]
        yield from indented(joined(where, columns - 6), 6, "dim")


def task_lines(task: TaskDocument, packet: Packet, columns: int) -> Iterator[Line]:
    """Give a task and its decision packet."""
    yield (
        Span(fit(one_line(member(task, "id")), columns - 20), "key"),
        Span(f"  {one_line(member(task, 'status'))}", "dim"),
    )
    yield from indented(wrap(one_line(member(task, "description")), columns - 4, _MAX_LINES), 4, "plain")
    yield from _packet(packet, columns)


def decision_lines(decision: Decision, proposal: Proposal | None, columns: int) -> Iterator[Line]:
    """Give what would be decided, before somebody is asked."""
    if proposal is not None:
        yield from proposal_lines(proposal, proposal.evidence, decision.at_ms, columns)
    before, after = decision.task_before or {}, decision.task_after
    if after is not None:
        yield from heading(f"Task {one_line(decision.task_id or '')}", None)
    for name, value in (after or {}).items():
        if before.get(name) != value:
            text = str(value).removeprefix(str(before.get(name) or "")).replace(mark_of(decision.id), "")
            yield from indented(wrap(f"{one_line(name)}: {quote(text)}", columns - 4, _MAX_LINES), 4, "plain")
    if decision.verification is not None:
        words = f"verification {one_line(decision.verification)}: {decision.verification_status}"
        yield from indented(wrap(words, columns - 4, 2), 4, "plain")


def history_lines(history: Iterable[tuple[Decision, Application | None]], columns: int) -> Iterator[Line]:
    """Give a history, a line or two a decision."""
    for decision, application in history:
        about = decision.task_id or (decision.proposal_id or "")[:ID_DIGITS]
        title = f"{decision.number:>4}  {clock(iso_of(decision.at_ms))}  {decision.action} {one_line(about)}"
        yield clamp((Span(title, "key"), Span(f"  by {one_line(decision.actor.name)}", "dim")), columns)
        yield from indented(joined(_facts(decision, application), columns - 6), 6, "dim")


def _facts(decision: Decision, application: Application | None) -> list[str]:
    facts = [one_line(decision.note or "")]
    if decision.task_after is not None:
        before = one_line(member(decision.task_before or {}, "status")) or "none"
        facts.append(f"{before} → {one_line(member(decision.task_after, 'status'))}")
    if decision.verification is not None:
        facts.append(f"verification {one_line(decision.verification)} {decision.verification_status}")
    if decision.evidence_text:
        facts.append(quote(decision.evidence_text))
    if application is not None and application.outcome is ApplicationOutcome.CONFLICT:
        facts.append(f"conflict: {one_line(application.detail)}")
    elif application is None and decision.changes_board:
        facts.append("not on the board yet")
    return facts


def _brief(proposal: Proposal, now_ms: int, columns: int) -> Iterator[Line]:
    about = [proposal.kind.value, one_line(proposal.priority or ""), one_line(proposal.task_id or "")]
    about += [
        proposal.status.value if proposal.status.value != "open" else "",
        ago(iso_of(proposal.created_ms), now_ms),
    ]
    about += [f"{proposal.thread_count:,} threads" if proposal.thread_count > 1 else ""]
    dim = " · ".join(part for part in about if part)
    yield clamp((Span("  "), Span(proposal.id[:ID_DIGITS], "key"), Span(f"  {dim}", "dim")), columns)
    yield from indented(wrap(one_line(proposal.title), columns - 4, 2), 4, "plain")
    yield from indented(wrap(f"why: {one_line(proposal.why)}", columns - 4, 2), 4, "dim")


def _packet(packet: Packet, columns: int) -> Iterator[Line]:
    options = ", ".join(option.value for option in packet.options)
    yield from indented(wrap(f"To decide: {options}; recommended: {packet.recommended}", columns - 4, 2), 4, "ask")
    for blocker in packet.blockers:
        yield from indented(wrap(f"{blocker}: {ADVICE[blocker]}", columns - 6, 3), 6, "alarm")
    for verification in packet.evidence:
        words = [one_line(member(verification, name)) for name in ("id", "status", "method", "timestamp")]
        yield from indented(joined(words, columns - 6), 6, "dim")
        yield from indented(wrap(quote(member(verification, "evidence")) or "no evidence", columns - 8, 2), 8, "quote")
