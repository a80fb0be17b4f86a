"""Makes one report: reads the sources, the board and the notes, and keeps the summary store if there is one."""

from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from ingest.clock import iso
from triage.board.read import TaskBoard, read_board
from triage.report import summary_store
from triage.report.build import Found, build
from triage.report.event_files import STDIN, read_event_file, read_stdin
from triage.report.gather import Gatherer
from triage.report.idea_files import read_ideas
from triage.report.log_source import read_log
from triage.report.model import Problem, Report, SummaryEntry
from triage.report.model_proposals import ProposalSections
from triage.report.options import Options
from triage.report.pi_sessions import find_sessions, read_sessions
from triage.report.proposals import ProposalsUnreadableError, read_proposals
from triage.report.reading import rejection
from triage.report.words import path_text, quote


def make_report(options: Options, now: datetime, stdin: BinaryIO) -> Report:
    """Make the report of this moment; what cannot be read is in its problems."""
    board = read_board(options.workspace)
    gatherer = Gatherer(iso(options.since(now).timestamp()), [task.id for task in board.tasks])
    if not options.workspace.is_dir():
        words = "there is no such folder; sessions that name it are read all the same"
        where = path_text(options.workspace)
        gatherer.problem(Problem(severity="warning", where=where, reason="workspace-missing", detail=words))
    for path in options.events:
        if path == STDIN:
            read_stdin(gatherer, stdin, now)
        else:
            read_event_file(gatherer, path)
    if options.log is not None:
        read_log(gatherer, options.log)
    sessions = find_sessions(options)
    if options.log is None:
        read_sessions(gatherer, sessions, options, options.since(now).timestamp())
    found = Found(
        session_dir=path_text(sessions.folder),
        session_dir_source=sessions.source,
        pi_sessions_there=sessions.there,
        session_roots=[path_text(root) for root in sessions.roots],
        ideas=read_ideas(gatherer, options.ideas),
        proposals=_proposals(gatherer, board, options.workspace, now),
    )
    if options.summary_store is not None:
        found.stored = _keep_summaries(gatherer, options.summary_store, now)
    return build(gatherer, board, found, options, iso(now.timestamp()))


def _proposals(gatherer: Gatherer, board: TaskBoard, workspace: Path, now: datetime) -> ProposalSections:
    """Read what waits for a decision; a store that cannot be read costs the report no more than that."""
    try:
        return read_proposals(workspace, board, int(now.timestamp() * 1000))
    except ProposalsUnreadableError as error:
        detail = quote(str(error), 200)
        gatherer.problem(Problem(severity="warning", where="triage store", reason="store-unreadable", detail=detail))
        return ProposalSections()


def _keep_summaries(gatherer: Gatherer, path: Path, now: datetime) -> list[SummaryEntry]:
    """Merge this run's summaries into the store; gives what the store held before."""
    seen = [entry for tally in gatherer.tallies for entry in tally.session().branch_summaries]
    try:
        loaded = summary_store.load(path)
        if loaded.broken:
            kept = summary_store.set_aside(path, now)
            words = f"{loaded.broken}; kept as {kept.name}, a new store begins"
            gatherer.problem(Problem(severity="warning", where=path_text(path), reason="store-broken", detail=words))
        summary_store.save(path, summary_store.merge(loaded.entries, seen), now)
    except summary_store.StoreError as error:
        gatherer.problem(rejection(path_text(path), "store-failed", str(error)))
        return []
    return loaded.entries
