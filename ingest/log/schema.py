"""What the embedded log's file holds, and how an older file becomes a newer one.

The file says what it is by `application_id`, and how it is laid out by `user_version`. Each step of `MIGRATIONS`
leads from one version to the next, in one transaction: a file of any earlier version opens, one of a later version is
refused with a message.
"""

import sqlite3
from pathlib import Path
from typing import Final

from ingest.log.contract import LogError, Topic
from ingest.log.errors import damaged

APPLICATION_ID: Final = 0x53547267
"""`STrg` in ASCII: tells this project's logs from other SQLite files."""

TABLES: Final = {topic: topic.value.rpartition(".")[2] for topic in Topic}
"""The table of each topic. Table names come from here alone, never from outside."""

# Offsets are given out by `topics.end_offset`, not by AUTOINCREMENT: as safe against reuse, without a write to
# `sqlite_sequence` for each row. Where rows are small and found by key, WITHOUT ROWID saves the second tree.
_FIRST_TOPICS: Final = (Topic.CAPTURED, Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES, Topic.REJECTED)


def _topic(topic: Topic) -> tuple[str, str]:
    """Give the statements that add a topic."""
    return (
        f"""CREATE TABLE {TABLES[topic]} (
            "offset" INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL
        )""",
        f"INSERT INTO topics VALUES ('{topic.value}', 0, 0, 0)",  # noqa: S608 - our own names
    )


_VERSION_1: Final = (
    """CREATE TABLE topics (
        topic TEXT PRIMARY KEY, end_offset INTEGER NOT NULL, records INTEGER NOT NULL, bytes INTEGER NOT NULL
    ) WITHOUT ROWID""",
    *(statement for topic in _FIRST_TOPICS for statement in _topic(topic)),
    """CREATE TABLE sources (
        source TEXT PRIMARY KEY, epoch INTEGER NOT NULL, counts BLOB NOT NULL,
        last_event_iso TEXT, last_append_ms INTEGER, last_checkpoint_ms INTEGER
    ) WITHOUT ROWID""",
    """CREATE TABLE checkpoints (
        source TEXT NOT NULL, part TEXT NOT NULL, state BLOB NOT NULL, PRIMARY KEY (source, part)
    ) WITHOUT ROWID""",
    """CREATE TABLE consumer_groups (
        name TEXT NOT NULL, topic TEXT NOT NULL, part INTEGER NOT NULL, committed INTEGER NOT NULL,
        counts BLOB NOT NULL, last_commit_ms INTEGER, PRIMARY KEY (name, topic, part)
    ) WITHOUT ROWID""",
    "CREATE TABLE stores (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE state (
        store INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key)
    ) WITHOUT ROWID""",
    "CREATE TABLE state_recent (seq INTEGER PRIMARY KEY, store INTEGER NOT NULL, writes BLOB NOT NULL)",
    """CREATE TABLE state_progress (
        id INTEGER PRIMARY KEY CHECK (id = 1), last_seq INTEGER NOT NULL, merged_seq INTEGER NOT NULL,
        recent_rows INTEGER NOT NULL, recent_bytes INTEGER NOT NULL, frozen_seq INTEGER NOT NULL,
        frozen_rows INTEGER NOT NULL, frozen_bytes INTEGER NOT NULL,
        position INTEGER NOT NULL, merge_id INTEGER NOT NULL
    )""",
    "INSERT INTO state_progress VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
)

_VERSION_2: Final = _topic(Topic.DECISIONS)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_VERSION_1, _VERSION_2)
"""Statements that lead from version n to n + 1, at index n. Released steps are never edited."""

VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to `VERSION`; raises `LogError` for one that is not ours or newer than this program."""
    if _version(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have done it meanwhile.
        for step in MIGRATIONS[_version(connection, path) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def verify(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `LogError` unless the file is a log of just this version, for opening without writing."""
    version = _version(connection, path)
    if version < VERSION:
        raise LogError(f"{path} has layout {version}, this program reads {VERSION}: let session-ingest open it once")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The layout's version; 0 for an empty file. Raises `LogError`."""
    application, version, tables = connection.execute(
        """SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
        (SELECT count(*) FROM sqlite_schema)"""
    ).fetchone()
    if not (application or version or tables):
        return 0
    if application != APPLICATION_ID:
        raise LogError(f"{path} is a SQLite file of another program; name another file for the log")
    if version > VERSION:
        raise LogError(f"{path} has layout {version}, this program knows up to {VERSION}: update session-triage")
    if not version or not tables:
        raise damaged(path, "its tables are missing")
    return int(version)
