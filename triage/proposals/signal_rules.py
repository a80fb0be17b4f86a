"""Proposals from signals: runs that failed or succeeded, gaps in the tools, and agents that say they are blocked.

Source: formats/session-triage-origin.md 1.5, 1.7. A success is a candidate and no more: its task stays as it is until
an operator closes it. A report that says failed is a failure, whatever state its signal names.
"""

from collections.abc import Iterator
from typing import Final

from ingest.processors.colony import ColonySignal, first_signal
from ingest.processors.colony_runs import split_run, stable_key
from ingest.processors.gaps import recommendation
from ingest.processors.signals import SIGNAL_LABEL
from schemas.event import CanonicalEvent
from schemas.keys import thread_key
from triage.board.model import ProposalKind
from triage.projections.thread import workspace_of
from triage.proposals.finding import Finding, draft_of, evidence_of, named_tasks, reference_of, title_of
from triage.report.words import one_line
from triage.store.proposals import Settled

RUN_SUCCEEDED: Final = "run-succeeded"
RUN_FAILED: Final = "run-failed"
TOOLING_GAP: Final = "tooling-gap"
SAID_BLOCKED: Final = "said-blocked"

MAX_TASKS: Final = 5
"""Tasks that one report may be about; one that names more is an overview."""

_REPORTS: Final = frozenset({"COMPLETE", "COMPLETED"})
"""States that say that a run is through; `DONE` is said on the way, before the report that may know better."""

_AGENTS: Final = frozenset({"assistant", "agent", "bot"})


def in_signal(event: CanonicalEvent, at_ms: int) -> Iterator[Finding]:
    """Give what an event of `conversations.signals` proposes."""
    code = next((label[len(SIGNAL_LABEL) :] for label in event.event.labels if label.startswith(SIGNAL_LABEL)), None)
    if code is None:
        signal = first_signal(event.event.text)
        if signal is not None:
            yield from _run(event, signal, at_ms)
    elif recommendation(code):
        yield _gap(event, code, at_ms)
    elif code == "blocked" and event.event.role in _AGENTS:  # those of summaries have a rule of their own
        yield _blocked(event, at_ms)


def _run(event: CanonicalEvent, signal: ColonySignal, at_ms: int) -> Iterator[Finding]:
    named = (event.event.refs.task_ids if event.event.refs else [])[:MAX_TASKS]
    if signal.outcome == "failed":
        yield from _failed(event, signal, named, at_ms)
    elif signal.outcome == "success" and signal.state in _REPORTS:
        runtime = split_run(signal.run)[0] if signal.run else None
        for task in named or ([f"colony-{runtime}"] if runtime else []):
            yield Finding(
                workspace=workspace_of(event),
                kind=ProposalKind.DONE_CANDIDATE,
                subject=task,
                title=f"{task}: a run says it is done",
                why="a run of it reports success; it takes a verification that passed to close it",
                evidence=evidence_of(event, RUN_SUCCEEDED, event.event.text, 0.8),
                at_ms=at_ms,
                task_id=task,
            )


def _failed(event: CanonicalEvent, signal: ColonySignal, named: list[str], at_ms: int) -> Iterator[Finding]:
    evidence = evidence_of(event, RUN_FAILED, event.event.text, 1.0)
    state = f"a run ended {signal.state}" if signal.state not in _REPORTS else "a run's report says that it failed"
    for subject in named or [_run_key(event, signal)]:
        yield Finding(
            workspace=workspace_of(event),
            kind=ProposalKind.RECOVERY,
            subject=subject,
            title=f"{subject}: a run of it failed" if named else title_of(f"A run failed: {evidence.words}"),
            why=state if named else f"{state}, and none has set out or succeeded since",
            evidence=evidence,
            at_ms=at_ms,
            task_id=subject if named else None,
            draft=None if named else draft_of(f"Recover the run: {evidence.words}", reference_of(event)),
            # What follows in the thread may be a run of another task: only a failure of no task is settled by it.
            settled_by=None if named else Settled.FOLLOWED,
        )


def _run_key(event: CanonicalEvent, signal: ColonySignal) -> str:
    """Name a run: by its stable id, which is the same everywhere, else within its thread."""
    runtime, stable = split_run(signal.run) if signal.run else (None, None)
    if stable:
        return f"run {stable_key(stable)}"
    return f"run {runtime or ''} of {thread_key(event.source.provider_account_key, event.source.thread_id)}"


def _gap(event: CanonicalEvent, code: str, at_ms: int) -> Finding:
    advice = recommendation(code)
    tool = f" ({one_line(event.meta.tool_name)})" if event.meta.tool_name else ""
    return Finding(
        workspace=workspace_of(event),
        kind=ProposalKind.TOOLING_CLAIM,
        subject=code,
        title=title_of(advice),
        why=f"{code}: an agent lacked something it needed{tool}",
        evidence=evidence_of(event, TOOLING_GAP, event.event.text, 0.9),
        at_ms=at_ms,
        draft=draft_of(f"{advice} Seen: {event.event.text}", reference_of(event)),
    )


def _blocked(event: CanonicalEvent, at_ms: int) -> Finding:
    refs = event.event.refs.task_ids if event.event.refs else []
    task = next(iter(named_tasks(event.event.text)), refs[0] if len(refs) == 1 else None)
    return Finding(
        workspace=workspace_of(event),
        kind=ProposalKind.UNBLOCK,
        subject=task or f"thread {thread_key(event.source.provider_account_key, event.source.thread_id)}",
        title=title_of(event.event.text if task is None or task in event.event.text else f"{task}: {event.event.text}"),
        why="an agent says that it is blocked, and nobody has spoken or worked there since",
        evidence=evidence_of(event, SAID_BLOCKED, event.event.text, 0.9),
        at_ms=at_ms,
        task_id=task,
        draft=None if task else draft_of(f"Unblock: {event.event.text}", reference_of(event)),
        settled_by=Settled.WENT_ON,
    )
