"""Open proposals for the report, from the triage store: what to unlock now, and what can wait.

The store is only read, and only where there is one: without it nothing of a database is even imported. What a proposal
is about may have changed on the board since: one about a task that is finished is left out, and a candidate for being
done counts only while its task is pending.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from ingest.clock import iso
from ingest.places import APP, CONFIG_VARIABLE, PREFIX, TRIAGE_DB
from triage.board.model import NO_WORKSPACE
from triage.board.read import Task, TaskBoard
from triage.board.split import FINISHED, is_pending, is_unlock_now
from triage.report.model_proposals import ProposalItem, ProposalSections, Quotation
from triage.report.words import one_line, path_text

if TYPE_CHECKING:
    from triage.board.model import Proposal
    from triage.store.database import Store

KEPT_WORDS: Final = 3
"""Quotations that are shown of a proposal, the newest; all of them: `session-triage board show`."""


class ProposalsUnreadableError(Exception):
    """There is a store, and it cannot be read; the message says why."""


def store_place() -> Path | str:
    """Say where the triage store is, or would be; raises `ProposalsUnreadableError` when no setting can be read."""
    default_config = platformdirs.user_config_path(APP) / "config.toml"
    named = any(name.upper().startswith((PREFIX, CONFIG_VARIABLE)) for name in os.environ)
    if not named and not default_config.exists():  # settings cost more time to read than a small report
        return platformdirs.user_state_path(APP) / TRIAGE_DB
    from ingest.settings import load  # noqa: PLC0415
    from ingest.settings_errors import SettingsError  # noqa: PLC0415

    try:
        return load().triage_store
    except SettingsError as error:
        raise ProposalsUnreadableError(str(error)) from error


def read_proposals(workspace: Path, board: TaskBoard, now_ms: int) -> ProposalSections:
    """Read the open proposals of a workspace, ranked; raises `ProposalsUnreadableError`."""
    place = store_place()
    if isinstance(place, Path) and not place.exists():
        return ProposalSections()
    from triage.store.database import Store  # noqa: PLC0415 - a database's machinery costs more than a small report
    from triage.store.errors import StoreError  # noqa: PLC0415

    try:
        with Store.open(place, read_only=True) as store:
            return _sections(store, path_text(workspace), board, now_ms)
    except StoreError as error:
        raise ProposalsUnreadableError(str(error)) from error


def _sections(store: "Store", workspace: str, board: TaskBoard, now_ms: int) -> ProposalSections:
    from triage.board.ranking import rank  # noqa: PLC0415
    from triage.store.proposals import WAITING, Wanted  # noqa: PLC0415

    workspaces = (workspace, NO_WORKSPACE)
    with store.read() as repository:
        listed = repository.proposals.listed(Wanted(workspaces=workspaces, statuses=WAITING))
        held = repository.proposals.count_held(workspaces)
    tasks = {task.id: task for task in board.tasks}
    shown = [p for p in listed if p.is_open(now_ms) and _still_about_something(p, tasks)]
    urgent = {p.id for p in shown if _is_urgent(p, tasks)}
    ranked = sorted(shown, key=rank)
    return ProposalSections(
        store=one_line(store.where),
        unlock_now=[_item(p) for p in ranked if p.id in urgent],
        later=[_item(p) for p in ranked if p.id not in urgent],
        held_back=held,
    )


def _still_about_something(proposal: "Proposal", tasks: dict[str, Task]) -> bool:
    task = tasks.get(proposal.task_id or "")
    if proposal.kind == "done-candidate":
        return task is not None and is_pending(task)
    return task is None or task.status not in FINISHED


def _is_urgent(proposal: "Proposal", tasks: dict[str, Task]) -> bool:
    """Whether a proposal is about blocked work, or about a task that is to be unlocked now."""
    from triage.board.ranking import is_urgent  # noqa: PLC0415

    task = tasks.get(proposal.task_id or "")
    return is_urgent(proposal) or (task is not None and is_pending(task) and is_unlock_now(task))


def _item(proposal: "Proposal") -> ProposalItem:
    item = ProposalItem(
        id=proposal.id,
        kind=proposal.kind.value,
        title=one_line(proposal.title),
        why=one_line(proposal.why),
        workspace=proposal.workspace,
        since=iso(proposal.created_ms / 1000),
        updated_at=iso(proposal.updated_ms / 1000),
        evidence_count=proposal.evidence_count,
        thread_count=proposal.thread_count,
        evidence=list(_quotations(proposal)),
    )
    if proposal.task_id is not None:
        item.task_id = proposal.task_id
    if proposal.priority is not None:
        item.priority = proposal.priority
    return item


def _quotations(proposal: "Proposal") -> Iterable[Quotation]:
    for evidence in proposal.evidence[:KEPT_WORDS]:
        yield Quotation(
            event_id=evidence.event_id,
            provider_account_key=evidence.provider_account_key,
            thread_id=evidence.thread_id,
            timestamp_iso=evidence.time_iso,
            role=evidence.role,
            words=one_line(evidence.words),
            rule=evidence.rule,
            confidence=evidence.confidence,
        )
