"""What a command appended is processed by it, or by whoever runs the processors meanwhile."""

import time
from typing import Final

from rich.console import Console

from ingest.locks import PROCESSORS_LOCK, try_lock
from ingest.log.contract import EventLog, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.open import open_log
from ingest.processors.chain import processors
from ingest.processors.normalize import NormalizeProcessor
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner

WAIT_SECONDS: Final = 60
"""How long a command waits for a running daemon to process what it appended, before it leaves that to the daemon."""

_POLL_SECONDS: Final = 0.1


def open_existing_log(settings: Settings, *, read_only: bool = False) -> EventLog:
    """Open a log to work on what is in it; raises `LogError`, also where there is none yet, and makes none."""
    if not read_only and settings.engine == "embedded":
        EmbeddedLog.open(settings.log_path, read_only=True).close()
    return open_log(settings, read_only=read_only)


def process_appended(log: EventLog, settings: Settings, console: Console, what: str) -> bool:
    """Run the processors over what was appended, or wait for the daemon that does; whether all is processed.

    `what` names it for people. Past one machine the workers have it at once, and are not waited for. Raises `LogError`.
    """
    if not isinstance(log, EmbeddedLog):
        console.print(f"The workers process {what}; see session-ingest status.")
        return False
    lock = try_lock(settings.state_dir / PROCESSORS_LOCK)
    if lock:
        with lock:
            EmbeddedRunner(log, processors(settings.processors.idle_after)).run_until_caught_up()
        return True
    end, patience = log.end_offset(Topic.CAPTURED), time.monotonic() + WAIT_SECONDS
    while log.committed(NormalizeProcessor.name, Topic.CAPTURED) < end:
        if time.monotonic() > patience:
            console.print(f"The running daemon has yet to process {what}; see session-ingest status.")
            return False
        time.sleep(_POLL_SECONDS)
    return True
