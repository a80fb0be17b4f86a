"""`session-ingest import` into the log: what was appended is processed here, or by the daemon that runs."""

import time
from typing import Final

from rich.console import Console

from ingest.commands.imports import ImportRequest, import_into, tell
from ingest.import_sinks import LogSink
from ingest.locks import PROCESSORS_LOCK, try_lock
from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors.chain import processors
from ingest.processors.normalize import NormalizeProcessor
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner

WAIT_SECONDS: Final = 60
"""How long an import waits for a running daemon to process what it appended, before it leaves that to the daemon."""

_POLL_SECONDS: Final = 0.1


def import_into_log(request: ImportRequest, settings: Settings, console: Console) -> bool:
    """Import into the log, tell of it, and give whether everything could be read.

    Raises what `import_into` does, `LogError`, and `OSError` when the report cannot be written.
    """
    with EmbeddedLog.open(settings.log_path) as log:
        with LogSink(log, log) as sink:
            report = import_into(sink, request, console)
        _process(log, settings, console)
    return tell(report, request, console, "the log")


def _process(log: EmbeddedLog, settings: Settings, console: Console) -> None:
    """Run the processors over what was appended, or wait for the daemon that does."""
    lock = try_lock(settings.state_dir / PROCESSORS_LOCK)
    if lock:
        with lock:
            EmbeddedRunner(log, processors(settings.processors.idle_after)).run_until_caught_up()
        return
    end, patience = log.end_offset(Topic.CAPTURED), time.monotonic() + WAIT_SECONDS
    while log.committed(NormalizeProcessor.name, Topic.CAPTURED) < end:
        if time.monotonic() > patience:
            console.print("The running daemon has yet to process this import; see session-ingest status.")
            return
        time.sleep(_POLL_SECONDS)
