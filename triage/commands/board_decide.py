"""Commands that propose, and commands that decide: all of them pass the one desk."""

import sys
from dataclasses import replace
from typing import Final, NoReturn

from triage.board.documents import iso_of, ms_of
from triage.board.export import proposal_json
from triage.board.gate import check_actor, judge
from triage.board.model import Action, Decision, Proposal, ProposalKind
from triage.board.proposing import Suggestion, propose
from triage.board.request import Request, cleaned
from triage.commands.board_render import decision_lines
from triage.commands.board_session import (
    EXIT_REFUSED,
    Common,
    Session,
    UsageError,
    end,
    find_proposal,
    opened,
    tell,
    write_json,
)
from triage.report.layout import MAX_COLUMNS
from triage.report.paint import paint
from triage.report.words import one_line
from triage.store.proposals import WAITING, Wanted

_DAY_MS: Final = 24 * 60 * 60 * 1000


def suggest(common: Common, suggestion: Suggestion) -> None:
    """Keep a proposal and say which it is."""
    with opened(common) as session:
        proposal, new = propose(session.store, session.actor, session.desk.name, suggestion, session.now_ms)
        if session.as_json:
            write_json({"outcome": "proposed" if new else "known", **proposal_json(proposal)})
        else:
            words = "proposed" if new else "proposed already"
            sys.stdout.write(f"{words}: {proposal.id} ({proposal.kind}) {one_line(proposal.title)}\n")


def decide_on_proposal(common: Common, text: str, request: Request, *, yes: bool) -> NoReturn:
    """Decide on the proposal that a text names."""
    with opened(common) as session:
        _on_proposal(session, text, request, yes=yes)


def defer_proposal(
    common: Common, text: str, until: str | None, days: float | None, note: str | None, *, yes: bool
) -> NoReturn:
    """Put a proposal off until a date, or for some days."""
    with opened(common) as session:
        request = Request(action=Action.DEFER, until_ms=_until_ms(until, days, session.now_ms), note=note)
        _on_proposal(session, text, request, yes=yes)


def decide_on_task(common: Common, request: Request, *, yes: bool) -> NoReturn:
    """Decide on a task; a completion also answers the done-candidate that waits about it."""
    with opened(common) as session:
        check_actor(session.actor, request.action)
        request = cleaned(request)
        if request.action is Action.COMPLETE:
            request = replace(request, proposal=_candidate(session, request.task_id))
        _decide(session, request, yes=yes)


def _on_proposal(session: Session, text: str, request: Request, *, yes: bool) -> NoReturn:
    check_actor(session.actor, request.action)
    with session.store.read() as repository:
        proposal = find_proposal(repository, session.desk.name, text)
    _decide(session, replace(request, proposal=proposal), yes=yes)


def _decide(session: Session, request: Request, *, yes: bool) -> NoReturn:
    """Show what would be decided, ask, and decide on exactly what was shown."""
    seen = session.desk.view()
    if not yes:
        _confirm(judge(session.actor, request, seen, session.now_ms), request.proposal)
    tell(session.desk.decide(session.actor, request, seen), as_json=session.as_json)


def _confirm(decision: Decision, proposal: Proposal | None) -> None:
    if not sys.stdin.isatty():
        raise UsageError("nobody is asked where there is no terminal: say --yes")
    paint(decision_lines(decision, proposal, MAX_COLUMNS), sys.stderr, colour=sys.stderr.isatty())
    sys.stderr.write(f"{decision.action} it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        end("nothing was decided", EXIT_REFUSED)


def _candidate(session: Session, task_id: str | None) -> Proposal | None:
    """Give the done-candidate that waits about a task, the oldest."""
    kinds = [ProposalKind.DONE_CANDIDATE]
    wanted = Wanted(workspaces=[session.desk.name], statuses=WAITING, kinds=kinds, held=True, settled=True)
    with session.store.read() as repository:
        return next((one for one in repository.proposals.listed(wanted) if one.task_id == task_id), None)


def _until_ms(until: str | None, days: float | None, now_ms: int) -> int:
    """Give when a deferred proposal comes back; raises `UsageError` unless exactly one of both says it."""
    if (until is None) == (days is None):
        raise UsageError("say when it comes back: --until TIME or --days N")
    try:
        at_ms = ms_of(until) if until is not None else now_ms + round((days or 0) * _DAY_MS)
        iso_of(at_ms)  # what the calendar has no words for is no time
    except (ValueError, OverflowError):
        raise UsageError("no time: give --until 2026-01-31 or 2026-01-31T09:30, or --days 7") from None
    return at_ms
