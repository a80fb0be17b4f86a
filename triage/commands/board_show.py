"""Commands that only read: proposals, one of them or one task, and the history."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from triage.board.documents import BoardView
from triage.board.export import decision_json, evidence_json, history_line, packet_json, proposal_json
from triage.board.model import NO_WORKSPACE, Application, Decision, Proposal, ProposalKind, ProposalStatus
from triage.board.ranking import rank
from triage.board.replay import undone
from triage.board.verifications import packet_of
from triage.commands.board_render import history_lines, proposal_lines, proposal_list, task_lines
from triage.commands.board_session import Common, Session, find_proposal, note, opened, write_json
from triage.report.layout import Line
from triage.report.paint import columns_of, paint, wants_colour
from triage.store.proposals import WAITING, Wanted
from triage.store.repository import Repository


@dataclass(frozen=True, slots=True)
class Filter:
    """Which proposals to list; without statuses those that wait now."""

    statuses: tuple[ProposalStatus, ...] = ()
    kinds: tuple[ProposalKind, ...] = ()
    task_id: str | None = None
    everywhere: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which decisions to tell; `proposal_id` may be the beginning of one."""

    task_id: str | None = None
    proposal_id: str | None = None
    everywhere: bool = False
    as_lines: bool = False


def list_proposals(common: Common, wanted: Filter) -> None:
    """Print the proposals that pass a filter, in the report's order."""
    with opened(common, reading=True) as session:
        workspaces = None if wanted.everywhere else [session.desk.name, NO_WORKSPACE]
        with session.store.read() as repository:
            found = _listed(repository, wanted, workspaces, session.now_ms)
            held = repository.proposals.count_held(workspaces)
            elsewhere = 0 if found or wanted.everywhere else len(_listed(repository, wanted, None, session.now_ms))
        if session.as_json:
            write_json({"proposals": [proposal_json(one) for one in found], "held": held})
        else:
            _print(proposal_list(found, held, elsewhere, session.now_ms, columns_of(sys.stdout)))


def show(common: Common, text: str) -> None:
    """Print one task with its decision packet, or one proposal with its evidence, and what was decided about it."""
    with opened(common, reading=True) as session:
        board = session.desk.view()
        if text in board.tasks:
            _show_task(session, board, text)
        else:
            _show_proposal(session, text)


def history(common: Common, wanted: HistoryFilter) -> None:
    """Print decisions in their order, with what came of each on the board."""
    with opened(common, reading=True) as session, session.store.read() as repository:
        found = _history(repository, wanted, None if wanted.everywhere else session.desk.name)
        if wanted.as_lines:
            for decision, application in found:
                sys.stdout.buffer.write(history_line(decision, application))
            sys.stdout.buffer.flush()
        elif session.as_json:
            write_json([decision_json(decision, application) for decision, application in found])
        else:
            _print(history_lines(found, columns_of(sys.stdout)))


def _listed(repository: Repository, wanted: Filter, workspaces: list[str] | None, now_ms: int) -> list[Proposal]:
    conditions = Wanted(
        workspaces=workspaces,
        statuses=wanted.statuses or WAITING,
        kinds=wanted.kinds or None,
        settled=bool(wanted.statuses),
    )
    found = [
        one
        for one in repository.proposals.listed(conditions)
        if (wanted.statuses or one.is_open(now_ms)) and wanted.task_id in {None, one.task_id}
    ]
    return list(islice(sorted(found, key=rank), wanted.limit))


def _show_task(session: Session, board: BoardView, task_id: str) -> None:
    task = board.tasks[task_id]
    packet = packet_of(task, board)
    with session.store.read() as repository:
        about = [one for one in _waiting(repository, session.desk.name) if one.task_id == task_id]
        decisions = list(_history(repository, HistoryFilter(task_id), session.desk.name))
    lost = undone(task, decisions)
    if session.as_json:
        proposals = [proposal_json(one) for one in about]
        told = [decision_json(decision, application) for decision, application in decisions]
        about_it = {"task": task, "packet": packet_json(packet), "proposals": proposals, "history": told}
        write_json({**about_it, "undone": lost.number if lost else None})
        return
    if lost is not None:
        note(f"another writer has undone decision {lost.number} ({lost.action}): decide anew if it still holds")
    columns = columns_of(sys.stdout)
    _print(task_lines(task, packet, columns))
    _print(line for one in about for line in proposal_lines(one, one.evidence, session.now_ms, columns))
    _print(history_lines(decisions, columns))


def _show_proposal(session: Session, text: str) -> None:
    with session.store.read() as repository:
        proposal = find_proposal(repository, session.desk.name, text)
        evidence = repository.proposals.all_evidence(proposal.id)
        decisions = list(_history(repository, HistoryFilter(proposal_id=proposal.id), None))
    if session.as_json:
        told = [decision_json(decision, application) for decision, application in decisions]
        write_json(
            {"proposal": {**proposal_json(proposal), "evidence": list(map(evidence_json, evidence))}, "history": told}
        )
        return
    columns = columns_of(sys.stdout)
    _print(proposal_lines(proposal, evidence, session.now_ms, columns))
    _print(history_lines(decisions, columns))


def _waiting(repository: Repository, workspace: str) -> list[Proposal]:
    return repository.proposals.listed(Wanted(workspaces=[workspace], statuses=WAITING, held=True, settled=True))


def _history(
    repository: Repository, wanted: HistoryFilter, workspace: str | None
) -> Iterator[tuple[Decision, Application | None]]:
    for decision in repository.decisions.history(workspace):
        if wanted.task_id is not None and decision.task_id != wanted.task_id:
            continue
        if wanted.proposal_id is not None and not (decision.proposal_id or "").startswith(wanted.proposal_id.lower()):
            continue
        yield decision, repository.decisions.application(decision.id) if decision.changes_board else None


def _print(lines: Iterable[Line]) -> None:
    paint(lines, sys.stdout, colour=wants_colour(sys.stdout, os.environ, no_color=False))
