"""Topics in the embedded log: append to them and read them, within a transaction of the caller."""

import sqlite3
from collections.abc import Sequence

from ingest.log.contract import NewRecord, Record, Topic
from ingest.log.schema import TABLES


def append(connection: sqlite3.Connection, records: Sequence[NewRecord], time_ms: int) -> None:
    """Give each record the next offset of its topic and store it."""
    by_topic: dict[Topic, list[NewRecord]] = {}
    for record in records:
        by_topic.setdefault(record.topic, []).append(record)
    for topic, of_topic in by_topic.items():
        _append_to(connection, topic, of_topic, time_ms)


def _append_to(connection: sqlite3.Connection, topic: Topic, records: Sequence[NewRecord], time_ms: int) -> None:
    start = end_offset(connection, topic) + 1
    connection.executemany(
        f"INSERT INTO {TABLES[topic]} VALUES (?, ?, ?, ?)",  # noqa: S608 - a fixed table name
        [(offset, time_ms, record.key, record.value) for offset, record in enumerate(records, start)],
    )
    connection.execute(
        "UPDATE topics SET end_offset = end_offset + ?1, records = records + ?1, bytes = bytes + ?2 WHERE topic = ?3",
        (len(records), sum(len(record.key) + len(record.value) for record in records), topic),
    )


def end_offset(connection: sqlite3.Connection, topic: Topic) -> int:
    """The highest offset given out in a topic, whether or not its record is still there; 0 when none was."""
    (end,) = connection.execute("SELECT end_offset FROM topics WHERE topic = ?", (topic,)).fetchone()
    return int(end)


def read(connection: sqlite3.Connection, topic: Topic, after: int, limit: int, max_bytes: int) -> list[Record]:
    """Records above `after`, in order: at most `limit`, and at most `max_bytes` of values unless the first has more.

    Raises `TypeError` for a row that damage has turned into another.
    """
    cursor = connection.execute(
        f'SELECT "offset", key, value, time_ms FROM {TABLES[topic]} WHERE "offset" > ? ORDER BY "offset" LIMIT ?',  # noqa: S608
        (after, limit),
    )
    records: list[Record] = []
    size = 0
    for offset, key, value, time_ms in cursor:
        if type(value) is not bytes or type(key) is not str or type(time_ms) is not int:
            raise TypeError(f"record {offset} of {topic} is damaged")
        size += len(value)
        if size > max_bytes and records:
            break
        records.append(Record(topic, offset, key, value, time_ms))
    # An unfinished statement would keep the snapshot, and with it the WAL.
    cursor.close()
    return records
