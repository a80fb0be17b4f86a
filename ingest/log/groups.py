"""Consumer groups in the embedded log: how far each has come, and what it counted."""

import sqlite3

from ingest.log.contract import FencedError, Topic
from ingest.log.sources import add_counts
from ingest.log.state_contract import Commit


def register(connection: sqlite3.Connection, group: str, topic: Topic, partition: int = 0) -> None:
    """Make a group known at offset 0, unless it is known."""
    connection.execute(
        """INSERT INTO consumer_groups VALUES (?, ?, ?, 0, CAST('{}' AS BLOB), NULL)
        ON CONFLICT (name, topic, part) DO NOTHING""",
        (group, topic, partition),
    )


def forget(connection: sqlite3.Connection, group: str, topic: Topic) -> None:
    """Drop a group from a topic."""
    connection.execute("DELETE FROM consumer_groups WHERE name = ? AND topic = ?", (group, topic))


def committed(connection: sqlite3.Connection, group: str, topic: Topic) -> int:
    """The last offset that a group has processed; 0 before the first."""
    row = connection.execute(
        "SELECT committed FROM consumer_groups WHERE name = ? AND topic = ? AND part = 0", (group, topic)
    ).fetchone()
    return row[0] if row else 0


def advance(connection: sqlite3.Connection, commit: Commit, time_ms: int) -> None:
    """Move a group from `commit.after` to `commit.offset`; raises `FencedError` when it stands elsewhere."""
    register(connection, commit.group, commit.topic, commit.partition)
    place = (commit.group, commit.topic, commit.partition)
    offset, counts = connection.execute(
        "SELECT committed, counts FROM consumer_groups WHERE name = ? AND topic = ? AND part = ?", place
    ).fetchone()
    if offset != commit.after or commit.offset < commit.after:
        raise FencedError(
            f"group {commit.group!r} is at offset {offset} of {commit.topic}, not at {commit.after}:"
            " another copy is at work, or this one went back"
        )
    connection.execute(
        """UPDATE consumer_groups SET committed = ?, counts = ?, last_commit_ms = ?
        WHERE name = ? AND topic = ? AND part = ?""",
        (commit.offset, add_counts(counts, commit.counts), time_ms, *place),
    )


def note(connection: sqlite3.Connection, group: str, topic: Topic, offset: int, time_ms: int) -> None:
    """Move a group forward to `offset`, from wherever it stands before it."""
    register(connection, group, topic)
    connection.execute(
        """UPDATE consumer_groups SET committed = ?, last_commit_ms = ?
        WHERE name = ? AND topic = ? AND part = 0 AND committed < ?""",
        (offset, time_ms, group, topic, offset),
    )
