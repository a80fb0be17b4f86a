"""Sources in the embedded log: epochs that fence older copies, checkpoints and counts."""

import sqlite3
from collections.abc import Mapping

from msgspec.json import Decoder, Encoder

from ingest.log.contract import FencedError, SourceProgress

_encode = Encoder().encode
_decode = Decoder(dict[str, int]).decode


def add_counts(stored: bytes, counts: Mapping[str, int]) -> bytes:
    """Stored counts (JSON) with `counts` added."""
    total = _decode(stored)
    for name, count in counts.items():
        total[name] = total.get(name, 0) + count
    return _encode(total)


def decode_counts(stored: bytes) -> dict[str, int]:
    """Stored counts as a mapping."""
    return _decode(stored)


def take_over(connection: sqlite3.Connection, source: str) -> int:
    """Begin a new epoch of a source, which fences all earlier ones; gives its number."""
    connection.execute(
        """INSERT INTO sources (source, epoch, counts) VALUES (?, 1, CAST('{}' AS BLOB))
        ON CONFLICT (source) DO UPDATE SET epoch = epoch + 1""",
        (source,),
    )
    (epoch,) = connection.execute("SELECT epoch FROM sources WHERE source = ?", (source,)).fetchone()
    return int(epoch)


def checkpoints(connection: sqlite3.Connection, source: str) -> dict[str, bytes]:
    """The state of every part of a source."""
    return dict(connection.execute("SELECT part, state FROM checkpoints WHERE source = ?", (source,)))


def advance(
    connection: sqlite3.Connection,
    source: str,
    epoch: int,
    moved: Mapping[str, bytes | None],
    progress: SourceProgress,
    time_ms: int,
) -> None:
    """Move checkpoints and add counts; raises `FencedError` unless `epoch` is the source's latest."""
    row = connection.execute("SELECT epoch, counts FROM sources WHERE source = ?", (source,)).fetchone()
    if row is None or row[0] != epoch:
        raise FencedError(f"source {source!r} was taken over by a newer copy; this one must stop")
    _move(connection, source, moved)
    connection.execute(
        """UPDATE sources SET counts = ?, last_event_iso = coalesce(?, last_event_iso), last_append_ms = ?,
        last_checkpoint_ms = coalesce(?, last_checkpoint_ms) WHERE source = ?""",
        (add_counts(row[1], progress.counts), progress.last_event_iso, time_ms, time_ms if moved else None, source),
    )


def _move(connection: sqlite3.Connection, source: str, moved: Mapping[str, bytes | None]) -> None:
    kept = [(source, part, state) for part, state in moved.items() if state is not None]
    forgotten = [(source, part) for part, state in moved.items() if state is None]
    connection.executemany(
        """INSERT INTO checkpoints VALUES (?, ?, ?)
        ON CONFLICT (source, part) DO UPDATE SET state = excluded.state""",
        kept,
    )
    connection.executemany("DELETE FROM checkpoints WHERE source = ? AND part = ?", forgotten)
