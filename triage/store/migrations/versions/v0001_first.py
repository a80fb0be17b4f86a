"""The first layout of the triage store. A released migration is never edited: a change is the next one's."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None

_KEPT_FOR_EVER: Final = {
    "decisions": "SELECT 1 FROM decisions WHERE id = NEW.id OR number = NEW.number",
    "applications": "SELECT 1 FROM applications WHERE decision_id = NEW.decision_id",
}
"""Tables that only grow, the history of who decided what, and how to find a row that a new one would replace."""


def upgrade() -> None:
    """Make the tables, and the triggers that keep history as it was written."""
    _positions()
    _threads()
    _proposals()
    _decisions()
    _keys()
    for table in _KEPT_FOR_EVER:
        _append_only(table)


def _positions() -> None:
    op.create_table(
        "offsets",
        sa.Column("log", sa.String, primary_key=True),
        sa.Column("topic", sa.String, primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("committed", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "holders",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
    )


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("thread", sa.LargeBinary(16), primary_key=True),
        sa.Column("provider_account_key", sa.Text, nullable=False),
        sa.Column("thread_id", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("last_iso", sa.Text, nullable=False),
        sa.Column("went_iso", sa.Text, nullable=False),
        sa.Column("ended_iso", sa.Text, nullable=False),
        sa.Column("followed_iso", sa.Text, nullable=False),
        sa.Column("summarised_iso", sa.Text, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
    op.create_index("ix_threads_last_iso", "threads", ["last_iso"])


def _proposals() -> None:
    op.create_table(
        "proposals",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("series", sa.String(36), nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("priority", sa.Text),
        sa.Column("task_id", sa.Text),
        sa.Column("draft", sa.Text),
        sa.Column("actor_name", sa.Text, nullable=False),
        sa.Column("actor_kind", sa.String(16), nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("shown_day", sa.String(10)),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
        sa.Column("deferred_until_ms", sa.BigInteger),
        sa.Column("evidence_count", sa.Integer, nullable=False),
        sa.Column("thread_count", sa.Integer, nullable=False),
    )
    for column in ("series", "status", "shown_day"):
        op.create_index(f"ix_proposals_{column}", "proposals", [column])
    op.create_table(
        "evidence",
        sa.Column("event_id", sa.String(200), primary_key=True),
        sa.Column("rule", sa.String(64), primary_key=True),
        sa.Column("series", sa.String(36), primary_key=True),
        sa.Column("proposal_id", sa.String(36), sa.ForeignKey("proposals.id"), nullable=False),
        sa.Column("provider_account_key", sa.Text, nullable=False),
        sa.Column("thread_id", sa.Text, nullable=False),
        sa.Column("thread", sa.LargeBinary(16), nullable=False),
        sa.Column("time_iso", sa.Text, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("confidence", sa.Float, nullable=False),
        sa.Column("settled_by", sa.String(16)),
    )
    op.create_index("evidence_of_proposal", "evidence", ["proposal_id", "thread"])


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("actor_name", sa.Text, nullable=False),
        sa.Column("actor_kind", sa.String(16), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("proposal_id", sa.String(36), sa.ForeignKey("proposals.id")),
        sa.Column("proposal_before", sa.String(16)),
        sa.Column("proposal_after", sa.String(16)),
        sa.Column("deferred_until_ms", sa.BigInteger),
        sa.Column("task_id", sa.Text),
        sa.Column("task_before", sa.Text),
        sa.Column("task_after", sa.Text),
        sa.Column("changes_board", sa.Boolean, nullable=False),
        sa.Column("evidence_ids", sa.Text, nullable=False),
        sa.Column("verification", sa.Text),
        sa.Column("verification_status", sa.Text),
        sa.Column("method", sa.Text),
        sa.Column("evidence_text", sa.Text),
        sa.Column("note", sa.Text),
    )
    op.create_index("ix_decisions_proposal_id", "decisions", ["proposal_id"])
    op.create_table(
        "applications",
        sa.Column("decision_id", sa.String(36), sa.ForeignKey("decisions.id"), primary_key=True),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("decision", sa.Integer, sa.ForeignKey("decisions.number"), primary_key=True, autoincrement=False),
    )


def _keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("digest", sa.LargeBinary(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("revoked_ms", sa.BigInteger),
    )


def _append_only(table: str) -> None:
    """Have the database itself refuse changes of what was written, whichever program asks."""
    if op.get_bind().dialect.name == "postgresql":
        _append_only_postgresql(table)
    else:
        _append_only_sqlite(table)


def _append_only_sqlite(table: str) -> None:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"
    for verb in ("UPDATE", "DELETE"):
        op.execute(f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} {refuse}")
    # INSERT OR REPLACE removes the old row without asking the trigger for deletes.
    when = f"WHEN EXISTS ({_KEPT_FOR_EVER[table]})"
    op.execute(f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} {when} {refuse}")


def _append_only_postgresql(table: str) -> None:
    op.execute(
        f"""CREATE FUNCTION {table}_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '{table} are append-only'; END $$"""
    )
    op.execute(
        f"""CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION {table}_refuse()"""
    )
    op.execute(
        f"""CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuse()"""
    )
