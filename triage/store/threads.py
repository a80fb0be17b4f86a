"""What is remembered of threads, stored: one row a thread, read and written by the batch."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import sqlalchemy as sa
from msgspec import msgpack

from triage.projections.thread import STATE_VERSION, ThreadState
from triage.store.rows import storable
from triage.store.tables import threads
from triage.store.upsert import insert_or_update

_CHUNK: Final = 500
"""Keys in one statement: below every database's limit of parameters."""

_COLUMNS: Final = (
    "workspace",
    "last_iso",
    "went_iso",
    "ended_iso",
    "followed_iso",
    "summarised_iso",
    "state",
)

_encoder: Final = msgpack.Encoder()
_decoder: Final = msgpack.Decoder(ThreadState)


class Threads:
    """The threads of one transaction; they are named by their digest (`triage.store.keys`)."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def load(self, digests: Iterable[bytes]) -> dict[bytes, ThreadState]:
        """Give the states that are known; one that another version of this program wrote counts as unknown."""
        wanted = list(digests)
        found: dict[bytes, ThreadState] = {}
        for start in range(0, len(wanted), _CHUNK):
            chosen = threads.c.thread.in_(wanted[start : start + _CHUNK])
            for digest, stored in self._connection.execute(sa.select(threads.c.thread, threads.c.state).where(chosen)):
                state = _decoder.decode(stored)
                if state.version == STATE_VERSION:
                    found[bytes(digest)] = state
        return found

    def save(self, states: Mapping[bytes, ThreadState]) -> None:
        """Write states, new and changed ones."""
        rows = [_row(digest, state) for digest, state in states.items()]
        if rows:
            self._connection.execute(insert_or_update(self._connection, threads, _COLUMNS), rows)

    def latest(self, limit: int) -> list[ThreadState]:
        """Give the threads in which something happened last."""
        statement = sa.select(threads.c.state).order_by(threads.c.last_iso.desc()).limit(limit)
        return [_decoder.decode(stored) for stored in self._connection.scalars(statement)]


def _row(digest: bytes, state: ThreadState) -> dict[str, Any]:
    return {
        "thread": digest,
        "provider_account_key": storable(state.provider_account_key),
        "thread_id": storable(state.thread_id),
        "workspace": storable(state.workspace),
        "last_iso": state.last.iso,
        "went_iso": state.went_iso,
        "ended_iso": state.ended_iso,
        "followed_iso": state.followed_iso,
        "summarised_iso": state.summarised_iso,
        "state": _encoder.encode(state),
    }
