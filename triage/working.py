"""The work of one turn: the store, the turn on it, a reader, and the chores between batches.

Everything blocks, and is called from one thread at a time.
"""

import os
import socket
import time
from contextlib import ExitStack
from typing import Final, Self

import structlog

from ingest.clock import now_ms
from ingest.parts import Context
from triage.chores import tell, tidy
from triage.metrics import TriageMetrics
from triage.reader import Reader
from triage.store.database import Store

WAIT_S: Final = 1.0
"""How long to wait for appends before looking whether to stop, and whether decisions are to be told: a stop has nine
seconds, and each look costs an idle daemon two changes of threads."""

TELL_S: Final = 2.0
"""Between two looks for decisions that are to be told: other processes make them."""

TIDY_S: Final = 300.0
"""Between two looks for what is stale: it is a matter of days."""

_log = structlog.get_logger(__name__)


class Working:
    """An open store, and the turn on it once it is ours. It is its own context manager."""

    def __init__(self, context: Context, metrics: TriageMetrics) -> None:
        """Open the store; raises `StoreError`."""
        self._context = context
        self._metrics = metrics
        self._held = ExitStack()
        self._store = self._held.enter_context(Store.open(context.settings.triage_store))
        self._told_at = self._tidied_at = float("-inf")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others have their turn, and close the store."""
        self._held.close()

    def take_turn(self) -> Reader | None:
        """Become the store's one consumer; None while another process is. Raises `StoreError` and `LogError`."""
        turn = self._store.try_turn()
        if turn is None:
            return None
        self._held.enter_context(turn)
        holder = f"{socket.gethostname()} process {os.getpid()}"
        workspace = self._context.settings.triage.workspace
        default = str(workspace) if workspace else ""
        reader = Reader(self._context.log, self._store, holder, default_workspace=default)
        _log.info("triage-reads", store=self._store.where, log=self._context.log.where)
        return reader

    def step(self, reader: Reader, *, read: bool) -> bool:
        """Work off one batch, where something is to `read`, and what is due by the clock; whether there was a batch."""
        applied = reader.step() if read else None
        if applied is not None:
            self._metrics.applied(applied)
        self._chores()
        return applied is not None

    def _chores(self) -> None:
        now = time.monotonic()
        if now - self._told_at >= TELL_S:
            self._metrics.told(tell(self._store, self._context.log))
            self._told_at = now
        if now - self._tidied_at >= TIDY_S:
            expired, released = tidy(self._store, now_ms())
            self._metrics.tidied(expired)
            self._tidied_at = now
            if expired or released:
                _log.info("triage-tidied", expired=expired, released=released)
