"""What the embedded log knows of itself, from counters that its transactions keep: quick whatever its size."""

import sqlite3
from pathlib import Path

from ingest.log.contract import GroupStatus, LogStatus, SourceStatus, Topic, TopicStatus
from ingest.log.schema import TABLES
from ingest.log.sources import decode_counts


def status(connection: sqlite3.Connection, path: Path) -> LogStatus:
    """Topics, sources and groups as of one moment."""
    connection.execute("BEGIN")
    found = LogStatus(
        topics=[_topic(connection, topic) for topic in Topic],
        sources=_sources(connection),
        groups=_groups(connection),
        size_bytes=size_bytes(path),
    )
    connection.execute("COMMIT")
    return found


def size_bytes(path: Path) -> int:
    """What the file and its WAL take on disk."""
    return sum(part.stat().st_size for part in (path, path.with_name(path.name + "-wal")) if part.exists())


def _topic(connection: sqlite3.Connection, topic: Topic) -> TopicStatus:
    records, size, end = connection.execute(
        "SELECT records, bytes, end_offset FROM topics WHERE topic = ?", (topic,)
    ).fetchone()
    first = connection.execute(f'SELECT time_ms FROM {TABLES[topic]} ORDER BY "offset" LIMIT 1').fetchone()  # noqa: S608
    return TopicStatus(topic, records, size, end, first[0] if first else None)


def _sources(connection: sqlite3.Connection) -> list[SourceStatus]:
    rows = connection.execute(
        """SELECT source, counts, last_event_iso, last_append_ms, last_checkpoint_ms,
        (SELECT count(*) FROM checkpoints WHERE checkpoints.source = sources.source) FROM sources ORDER BY source"""
    )
    return [SourceStatus(source, decode_counts(counts), *rest) for source, counts, *rest in rows]


def _groups(connection: sqlite3.Connection) -> list[GroupStatus]:
    rows = connection.execute(
        """SELECT name, topic, committed, end_offset, counts, last_commit_ms
        FROM consumer_groups JOIN topics USING (topic) ORDER BY name, topic"""
    )
    return [
        GroupStatus(name, Topic(topic), committed, end, end - committed, decode_counts(counts), last_ms)
        for name, topic, committed, end, counts, last_ms in rows
    ]


def check(connection: sqlite3.Connection) -> list[str]:
    """What is wrong with the file; empty when nothing is. Reads all of it."""
    problems = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)") if row[0] != "ok"]
    for topic in Topic:
        (last,) = connection.execute(f'SELECT max("offset") FROM {TABLES[topic]}').fetchone()  # noqa: S608
        (end,) = connection.execute("SELECT end_offset FROM topics WHERE topic = ?", (topic,)).fetchone()
        if last is not None and last > end:
            problems.append(f"{topic}: record {last} lies past the topic's end {end}")
    problems += [
        f"group {group.group!r} is at {group.committed}, past the end of {group.topic}"
        for group in _groups(connection)
        if group.lag < 0
    ]
    return problems
