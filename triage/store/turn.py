"""One consumer at a time on a store: a lock that a killed holder lets go of by nature.

SQLite: `flock` on a file beside the database. PostgreSQL: an advisory lock of a session of its own, which ends with its
connection. Either may be lost without a word, so the holder's epoch (`Positions.check_turn`) is what fences.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

import sqlalchemy as sa

from ingest.locks import try_lock

_TURN_LOCK: Final = 0x53547274
"""`STrt` in ASCII, among PostgreSQL's advisory locks."""


class Turn:
    """The turn, held until `release` or the end of the process."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held

    def release(self) -> None:
        """Let others have their turn; once is enough."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def try_turn(engine: sa.Engine) -> Turn | None:
    """Take the turn, or give None while another process has it; raises what the database raises, and `OSError`."""
    with ExitStack() as held:
        if engine.dialect.name == "sqlite":
            lock = try_lock(Path(str(engine.url.database)).with_name("triage.lock"), 0.0)
            if lock is None:
                return None
            held.enter_context(lock)
        else:
            connection = held.enter_context(engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
            if not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_TURN_LOCK))):
                return None
            # A pooled connection would keep the lock after it is given back.
            held.callback(connection.invalidate)
        return Turn(held.pop_all())
