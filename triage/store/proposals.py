"""Proposals and their evidence, read and moved; what the consumer finds is folded in by `triage.store.findings`.

Evidence may lose its force by what came later in its thread (`settled_by`): an ask once somebody spoke or worked there,
a failed run once another set out, an item of a summary once there is a newer summary. A proposal none of whose evidence
has force is settled: nothing is written for that, so it does not matter in which order events were read.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa

from triage.board.model import Evidence, Proposal, ProposalKind, ProposalStatus, proposal_id
from triage.store.rows import evidence_of, evidence_row, proposal_of, proposal_row, series_of
from triage.store.tables import evidence, proposals, threads
from triage.store.upsert import insert_new

KEPT_EVIDENCE: Final = 5
"""Pieces of evidence that a proposal is shown with, the newest; `evidence_of` gives all."""

MAX_LISTED: Final = 10_000
"""Proposals read at once: far more than a person looks through, and a bound on memory."""

_CHUNK: Final = 500
"""Ids in one statement: below every database's limit of parameters."""

WAITING: Final = (ProposalStatus.OPEN, ProposalStatus.DEFERRED)
"""The statuses in which a proposal still takes evidence and a decision."""


class Settled(StrEnum):
    """Which later moment of a thread takes the force from a piece of evidence."""

    WENT_ON = "went"
    ENDED = "ended"
    FOLLOWED = "followed"
    SUMMARISED = "summarised"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which proposals to list; None is no condition. `held` and `settled` include those that are left out otherwise.

    Held ones wait behind their source's daily limit.
    """

    workspaces: Collection[str] | None = None
    statuses: Collection[ProposalStatus] | None = None
    kinds: Collection[ProposalKind] | None = None
    held: bool = False
    settled: bool = False
    limit: int = MAX_LISTED


class Proposals:
    """The proposals of one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def listed(self, wanted: Wanted = Wanted()) -> list[Proposal]:
        """Give proposals, the oldest first, each with its newest evidence."""
        statement = sa.select(proposals).where(*_conditions(wanted)).order_by(proposals.c.created_ms, proposals.c.id)
        return self._with_evidence(self._connection.execute(statement.limit(wanted.limit)).mappings().all())

    def count_held(self, workspaces: Collection[str] | None = None) -> int:
        """Say how many open proposals wait behind a daily limit."""
        conditions = [proposals.c.status.in_(WAITING), proposals.c.shown_day.is_(None)]
        if workspaces is not None:
            conditions.append(proposals.c.workspace.in_(workspaces))
        return self._connection.scalar(sa.select(sa.func.count()).select_from(proposals).where(*conditions)) or 0

    def get(self, identifier: str, *, lock: bool = False) -> Proposal | None:
        """Give one proposal; with `lock` nobody else can move it until the transaction ends."""
        return self._one(proposals.c.id == identifier, lock=lock)

    def matching(self, prefix: str, limit: int = 2) -> list[Proposal]:
        """Give proposals whose ids begin with a prefix, for people who do not write out UUIDs."""
        found = sa.select(proposals).where(proposals.c.id.startswith(prefix, autoescape=True))
        rows = self._connection.execute(found.order_by(proposals.c.id).limit(limit)).mappings().all()
        return self._with_evidence(rows)

    def latest(self, workspace: str, kind: ProposalKind, subject: str, *, lock: bool = False) -> Proposal | None:
        """Give the last round of a subject."""
        return self._one(proposals.c.series == proposal_id(workspace, kind, subject, 0), lock=lock)

    def all_evidence(self, identifier: str, limit: int = MAX_LISTED) -> Sequence[Evidence]:
        """Give the evidence of a proposal, newest first."""
        statement = sa.select(evidence).where(evidence.c.proposal_id == identifier).order_by(*_NEWEST).limit(limit)
        return [evidence_of(row) for row in self._connection.execute(statement).mappings()]

    def add(self, proposal: Proposal, day: str) -> bool:
        """Store what a person or an agent proposes, with its evidence; False when that id is there already.

        `day` is today, as in `2026-01-31`; no daily limit counts these.
        """
        row = {**proposal_row(proposal), "source": None, "shown_day": day}
        added = insert_new(self._connection, proposals).returning(proposals.c.id)
        if self._connection.scalar(added, row) is None:
            return False
        series = series_of(proposal)
        rows = [evidence_row(one, series, proposal.id, None) for one in proposal.evidence]
        if rows:
            self._connection.execute(insert_new(self._connection, evidence), rows)
        return True

    def move(
        self,
        identifier: str,
        before: ProposalStatus,
        after: ProposalStatus,
        at_ms: int,
        deferred_until_ms: int | None = None,
    ) -> bool:
        """Change a proposal's status; False, and nothing done, when it is not `before` any more."""
        statement = (
            sa.update(proposals)
            .where(proposals.c.id == identifier, proposals.c.status == before.value)
            .values(status=after.value, updated_ms=at_ms, deferred_until_ms=deferred_until_ms)
        )
        return self._connection.execute(statement).rowcount == 1

    def stale(self, before_ms: int, settled_before_ms: int, limit: int) -> list[Proposal]:
        """Give, locked, open proposals that nothing speaks for any more.

        Their last evidence came before `before_ms`, or before `settled_before_ms` and has lost its force since.
        """
        age = proposals.c.updated_ms
        old = sa.or_(age < before_ms, sa.and_(age < settled_before_ms, is_settled()))
        statement = sa.select(proposals).where(proposals.c.status == ProposalStatus.OPEN.value, old)
        statement = statement.order_by(proposals.c.id).limit(limit).with_for_update()
        return self._with_evidence(self._connection.execute(statement).mappings().all())

    def _one(self, condition: sa.ColumnElement[bool], *, lock: bool) -> Proposal | None:
        statement = sa.select(proposals).where(condition).order_by(proposals.c.round.desc()).limit(1)
        # SQLite's writing transaction is alone already, and SQLAlchemy leaves the clause out there.
        row = self._connection.execute(statement.with_for_update() if lock else statement).mappings().first()
        return self._with_evidence([row])[0] if row else None

    def _with_evidence(self, rows: Sequence[sa.RowMapping]) -> list[Proposal]:
        found: dict[str, list[Evidence]] = {row["id"]: [] for row in rows}
        ids = [row["id"] for row in rows]
        for start in range(0, len(ids), _CHUNK):
            for row in self._connection.execute(_newest_of(ids[start : start + _CHUNK])).mappings():
                found[row["proposal_id"]].append(evidence_of(row))
        return [proposal_of(row, found[row["id"]]) for row in rows]


_NEWEST: Final = (evidence.c.time_iso.desc(), evidence.c.event_id, evidence.c.rule)


def _conditions(wanted: Wanted) -> Iterable[sa.ColumnElement[bool]]:
    if wanted.workspaces is not None:
        yield proposals.c.workspace.in_(list(wanted.workspaces))
    if wanted.statuses is not None:
        yield proposals.c.status.in_([status.value for status in wanted.statuses])
    if wanted.kinds is not None:
        yield proposals.c.kind.in_([kind.value for kind in wanted.kinds])
    if not wanted.held:
        yield proposals.c.shown_day.is_not(None)
    if not wanted.settled:
        yield sa.not_(is_settled())


def is_settled() -> sa.ColumnElement[bool]:
    """Give the condition that a proposal waits, has evidence, and none of it has force any more."""
    of_it = sa.select(sa.literal(1)).where(evidence.c.proposal_id == proposals.c.id)
    moment = sa.case(
        (evidence.c.settled_by == Settled.WENT_ON.value, threads.c.went_iso),
        (evidence.c.settled_by == Settled.ENDED.value, threads.c.ended_iso),
        (evidence.c.settled_by == Settled.FOLLOWED.value, threads.c.followed_iso),
        (evidence.c.settled_by == Settled.SUMMARISED.value, threads.c.summarised_iso),
        else_="",
    )
    in_force = of_it.select_from(evidence.outerjoin(threads, threads.c.thread == evidence.c.thread)).where(
        sa.func.coalesce(moment, "") <= evidence.c.time_iso
    )
    waiting = proposals.c.status.in_([status.value for status in WAITING])
    return sa.and_(waiting, of_it.exists(), ~in_force.correlate(proposals).exists())


def _newest_of(ids: Sequence[str]) -> sa.Select[Any]:
    """Give the statement for the newest evidence of each of those proposals, newest first."""
    place = sa.func.row_number().over(partition_by=evidence.c.proposal_id, order_by=_NEWEST).label("place")
    ranked = sa.select(evidence, place).where(evidence.c.proposal_id.in_(ids)).subquery()
    return sa.select(ranked).where(ranked.c.place <= KEPT_EVIDENCE).order_by(ranked.c.proposal_id, ranked.c.place)
