"""Runs of colonies, from the signals in the events; grouping and outcomes are `ingest.processors`'.

A failed run waits unless something set out again, or succeeded, in its thread after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ingest.processors.colony import ColonySignal, first_signal
from ingest.processors.colony_runs import Run as GroupedRun
from ingest.processors.colony_runs import Runs, split_run
from schemas.event import CanonicalEvent
from schemas.keys import thread_key
from triage.report.model import Run, Waiting, Where, Who
from triage.report.model_parts import DoneCandidate
from triage.report.threads import INFERRED, Moment, where_of, who_of
from triage.report.words import quote

RunOutcome = Literal["success", "failed", "aborted", "running"]

ABORTED: str = "ABORTED"
LAUNCHED: str = "LAUNCHED"


@dataclass(frozen=True, slots=True)
class Seen:
    """One signal with its place, and the board's tasks that its event names."""

    at: Moment
    signal: ColonySignal
    event_id: str
    who: Who
    where: Where
    since: str
    inferred: bool
    words: str
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunSeen:
    """One run: its signals in order, and how it stands."""

    run_id: str
    outcome: RunOutcome
    signals: list[Seen]

    @property
    def last(self) -> Seen:
        """The latest signal."""
        return self.signals[-1]


class RunBook:
    """Collects signals, from any number of sources, and gives the runs they belong to."""

    def __init__(self) -> None:
        self._seen: list[tuple[str, Seen]] = []

    def add(self, event: CanonicalEvent, at: Moment, tasks: list[str]) -> None:
        """Take an event; one that carries no colony signal is passed over."""
        if event.event.type != "signal" or (signal := first_signal(event.event.text)) is None:
            return
        key = thread_key(event.source.provider_account_key, event.source.thread_id)
        where, inferred = where_of(event), INFERRED in event.event.labels
        words, since = quote(event.event.text), event.event.timestamp_iso
        seen = Seen(at, signal, event.event.id, who_of(event), where, since, inferred, words, tuple(tasks))
        self._seen.append((key, seen))

    def runs(self) -> list[RunSeen]:
        """Give the runs, the latest first."""
        grouped = Runs()
        signals: dict[int, list[Seen]] = {}
        order: list[GroupedRun] = []
        for thread, seen in sorted(self._seen, key=lambda pair: pair[1].at):
            run = grouped.add(thread, seen.signal)
            if id(run) not in signals:
                order.append(run)
            signals.setdefault(id(run), []).append(seen)
        found = [RunSeen(_name(run), _outcome(run), signals[id(run)]) for run in order]
        return sorted(found, key=lambda run: (run.last.since, run.run_id), reverse=True)


def sets_out_again(text: str) -> bool:
    """Whether a signal's text says that a run set out or succeeded: either follows up a failure before it."""
    signal = first_signal(text)
    return signal is not None and (signal.state == LAUNCHED or signal.outcome == "success")


def as_part(run: RunSeen) -> Run:
    """Give a run as the report shows it."""
    return Run(
        run_id=run.run_id,
        state=run.last.signal.state,
        outcome=run.outcome,
        provider_account_key=run.last.who.provider_account_key,
        thread_id=run.last.where.thread_id or "",
        started_at=run.signals[0].since,
        updated_at=run.last.since,
        signals=len(run.signals),
        event_id=run.last.event_id,
        words=run.last.words,
    )


def waiting_runs(runs: list[RunSeen]) -> Iterator[Waiting]:
    """Give the failed and aborted runs that nothing in their thread followed up."""
    for run in runs:
        if run.outcome in {"failed", "aborted"} and not _followed_up(run, runs):
            last = next((s for s in reversed(run.signals) if s.signal.outcome == "failed"), run.last)
            yield Waiting(
                kind="aborted" if run.outcome == "aborted" else "failed",
                rule="failed-run",
                words=last.words,
                where=last.where,
                who=last.who,
                since=last.since,
                time_inferred=last.inferred,
                event_id=last.event_id,
                run_id=run.run_id,
            )


def done_candidates(runs: list[RunSeen], pending: dict[str, tuple[str, str | None]]) -> list[DoneCandidate]:
    """Give the pending tasks (id to status and verification) that a successful run names, latest words first."""
    found: dict[str, DoneCandidate] = {}
    for run in runs:
        if run.outcome != "success":
            continue
        for seen in reversed(run.signals):
            if seen.signal.outcome == "success":
                for task in _named(seen, pending):
                    found.setdefault(task, _candidate(task, seen, run.run_id, *pending[task]))
    return sorted(found.values(), key=lambda c: (c.timestamp_iso, c.task_id), reverse=True)


def _named(seen: Seen, pending: dict[str, tuple[str, str | None]]) -> list[str]:
    """Give the tasks that an event names, and the one that the origin makes of its run."""
    runtime = split_run(seen.signal.run)[0] if seen.signal.run else None
    return [task for task in dict.fromkeys([*seen.tasks, f"colony-{runtime}"]) if task in pending]


def _candidate(task: str, seen: Seen, run_id: str, status: str, verification: str | None) -> DoneCandidate:
    return DoneCandidate(
        task_id=task,
        status=status,
        event_id=seen.event_id,
        thread_id=seen.where.thread_id or "",
        timestamp_iso=seen.since,
        words=seen.words,
        run_id=run_id,
        verification=verification,
    )


def _name(run: GroupedRun) -> str:
    """Give the longest id that was written for a run: the one that says most."""
    return max(run.run_ids, key=len) if run.run_ids else run.key


def _outcome(run: GroupedRun) -> RunOutcome:
    if run.outcome == "failed" and ABORTED in run.states:
        return "aborted"
    if run.outcome == "unknown":
        return "running"
    return run.outcome


def _followed_up(run: RunSeen, runs: list[RunSeen]) -> bool:
    """Whether a run of the same thread set out, or succeeded, after this one failed."""
    failed_at = next((s.at for s in reversed(run.signals) if s.signal.outcome == "failed"), run.last.at)
    place = (run.last.who.provider_account_key, run.last.where.thread_id)
    return any(
        other is not run
        and (other.last.who.provider_account_key, other.last.where.thread_id) == place
        and (other.signals[0].at > failed_at or (other.outcome == "success" and other.last.at > failed_at))
        for other in runs
    )
