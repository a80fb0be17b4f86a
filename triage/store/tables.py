"""The triage store's tables, as the newest migration leaves them.

Times named `…_ms` are Unix milliseconds, those named `…_iso` ISO 8601 UTC with milliseconds, comparable as text. JSON
is kept as text in the order in which it came. Long texts from outside (paths, ids of threads) are never index keys:
PostgreSQL refuses keys of more than 2,700 bytes, so a digest stands for them.
"""

from typing import Final

import sqlalchemy as sa

metadata: Final = sa.MetaData()

offsets: Final = sa.Table(
    "offsets",
    metadata,
    sa.Column("log", sa.String, primary_key=True),  # digest of where the log is: another log has other offsets
    sa.Column("topic", sa.String, primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True),
    sa.Column("committed", sa.BigInteger, nullable=False),
)

holders: Final = sa.Table(
    "holders",
    metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("epoch", sa.BigInteger, nullable=False),  # grows with each holder: an older one is fenced by it
    sa.Column("holder", sa.Text, nullable=False),
)

threads: Final = sa.Table(
    "threads",
    metadata,
    sa.Column("thread", sa.LargeBinary(16), primary_key=True),  # digest of the topic key
    sa.Column("provider_account_key", sa.Text, nullable=False),
    sa.Column("thread_id", sa.Text, nullable=False),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("last_iso", sa.Text, nullable=False, index=True),
    sa.Column("went_iso", sa.Text, nullable=False),  # somebody spoke or worked
    sa.Column("ended_iso", sa.Text, nullable=False),  # somebody spoke, worked, or was broken off
    sa.Column("followed_iso", sa.Text, nullable=False),  # a run set out or succeeded
    sa.Column("summarised_iso", sa.Text, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),  # MessagePack of `triage.projections.ThreadState`
)

proposals: Final = sa.Table(
    "proposals",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("series", sa.String(36), nullable=False, index=True),  # the id without its round
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("priority", sa.Text),
    sa.Column("task_id", sa.Text),
    sa.Column("draft", sa.Text),
    sa.Column("actor_name", sa.Text, nullable=False),
    sa.Column("actor_kind", sa.String(16), nullable=False),
    sa.Column("source", sa.Text),  # whose daily limit it counts against; none for what a person or an agent proposes
    sa.Column("shown_day", sa.String(10), index=True),  # none while the daily limit holds it back
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("updated_ms", sa.BigInteger, nullable=False),
    sa.Column("deferred_until_ms", sa.BigInteger),
    sa.Column("evidence_count", sa.Integer, nullable=False),
    sa.Column("thread_count", sa.Integer, nullable=False),
)

evidence: Final = sa.Table(
    "evidence",
    metadata,
    sa.Column("event_id", sa.String(200), primary_key=True),
    sa.Column("rule", sa.String(64), primary_key=True),
    sa.Column("series", sa.String(36), primary_key=True),  # a summary may name several next steps
    sa.Column("proposal_id", sa.String(36), sa.ForeignKey("proposals.id"), nullable=False),
    sa.Column("provider_account_key", sa.Text, nullable=False),
    sa.Column("thread_id", sa.Text, nullable=False),
    sa.Column("thread", sa.LargeBinary(16), nullable=False),
    sa.Column("time_iso", sa.Text, nullable=False),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("settled_by", sa.String(16)),  # which later moment of its thread takes its force, see `store.proposals`
    sa.Index("evidence_of_proposal", "proposal_id", "thread"),
)

decisions: Final = sa.Table(
    "decisions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("id", sa.String(36), nullable=False, unique=True),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("actor_name", sa.Text, nullable=False),
    sa.Column("actor_kind", sa.String(16), nullable=False),
    sa.Column("action", sa.String(16), nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("proposal_id", sa.String(36), sa.ForeignKey("proposals.id"), index=True),
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

applications: Final = sa.Table(
    "applications",
    metadata,
    sa.Column("decision_id", sa.String(36), sa.ForeignKey("decisions.id"), primary_key=True),
    sa.Column("outcome", sa.String(16), nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)

outbox: Final = sa.Table(
    "outbox",
    metadata,
    sa.Column("decision", sa.Integer, sa.ForeignKey("decisions.number"), primary_key=True, autoincrement=False),
)

api_keys: Final = sa.Table(
    "api_keys",
    metadata,
    sa.Column("digest", sa.LargeBinary(32), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("revoked_ms", sa.BigInteger),
)
