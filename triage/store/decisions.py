"""Decisions, append-only; what came of them on the board's file; and which of them are still to be told to others."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import sqlalchemy as sa

from triage.board.model import Application, ApplicationOutcome, Decision
from triage.store.rows import decision_of, decision_row, storable
from triage.store.tables import applications, decisions, outbox

_HISTORY_LOCK: Final = 0x53547268
"""`STrh` in ASCII, among PostgreSQL's advisory locks: decisions are numbered in the order in which they are kept."""

_PAGE: Final = 500
"""Decisions read at once; a history may be long."""


class Decisions:
    """The decisions of one transaction."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def append(self, decision: Decision) -> Decision:
        """Keep a decision for ever, and have it told; gives it with its number.

        Lock the proposal first (`Proposals.get`): on PostgreSQL this takes a lock that all deciders share.
        """
        if self._connection.dialect.name == "postgresql":
            self._connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_HISTORY_LOCK)))
        number = (self._connection.scalar(sa.select(sa.func.max(decisions.c.number))) or 0) + 1
        self._connection.execute(sa.insert(decisions), decision_row(decision, number))
        self._connection.execute(sa.insert(outbox), {"decision": number})
        return replace(decision, number=number)

    def get(self, identifier: str) -> Decision | None:
        """Give one decision."""
        row = self._connection.execute(sa.select(decisions).where(decisions.c.id == identifier)).mappings().first()
        return decision_of(row) if row else None

    def history(self, workspace: str | None = None, after: int = 0) -> Iterable[Decision]:
        """Give decisions in their order, of all workspaces when none is named; reads on as they are taken."""
        while page := self._page(workspace, after):
            yield from page
            after = page[-1].number

    def unapplied(self, workspace: str) -> list[Decision]:
        """Give the decisions that change a board and of which nothing is known on its file, in their order."""
        statement = (
            sa.select(decisions)
            .outerjoin(applications, applications.c.decision_id == decisions.c.id)
            .where(
                decisions.c.workspace == storable(workspace),
                decisions.c.changes_board,
                applications.c.decision_id.is_(None),
            )
            .order_by(decisions.c.number)
        )
        return [decision_of(row) for row in self._connection.execute(statement).mappings()]

    def record(self, application: Application) -> None:
        """Keep what came of a decision; once for each, a second raises `StoreError`."""
        row = {
            "decision_id": application.decision_id,
            "outcome": application.outcome.value,
            "at_ms": application.at_ms,
            "detail": storable(application.detail),
        }
        self._connection.execute(sa.insert(applications), row)

    def application(self, identifier: str) -> Application | None:
        """Give what came of a decision; None while it is to be applied."""
        statement = sa.select(applications).where(applications.c.decision_id == identifier)
        row = self._connection.execute(statement).mappings().first()
        if row is None:
            return None
        outcome = ApplicationOutcome(row["outcome"])
        return Application(decision_id=identifier, outcome=outcome, at_ms=row["at_ms"], detail=row["detail"])

    def untold(self, limit: int = _PAGE) -> list[Decision]:
        """Give decisions that were not told yet, in their order."""
        statement = sa.select(decisions).join(outbox, outbox.c.decision == decisions.c.number)
        rows = self._connection.execute(statement.order_by(decisions.c.number).limit(limit)).mappings()
        return [decision_of(row) for row in rows]

    def told(self, numbers: Iterable[int]) -> None:
        """Note that decisions were told."""
        self._connection.execute(sa.delete(outbox).where(outbox.c.decision.in_(list(numbers))))

    def _page(self, workspace: str | None, after: int) -> list[Decision]:
        statement = sa.select(decisions).where(decisions.c.number > after).order_by(decisions.c.number).limit(_PAGE)
        if workspace is not None:
            statement = statement.where(decisions.c.workspace == storable(workspace))
        return [decision_of(row) for row in self._connection.execute(statement).mappings()]
