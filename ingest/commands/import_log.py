"""`session-ingest import` into the log: what was appended is processed here, or by the daemon that runs."""

from rich.console import Console

from ingest.commands.imports import ImportRequest, import_into, tell
from ingest.commands.process import process_appended
from ingest.import_sinks import LogSink
from ingest.log.embedded import EmbeddedLog
from ingest.log.open import open_log
from ingest.settings import Settings


def import_into_log(request: ImportRequest, settings: Settings, console: Console) -> bool:
    """Import into the log, tell of it, and give whether everything could be read.

    Raises what `import_into` does, `LogError`, and `OSError` when the report cannot be written.
    """
    with open_log(settings) as log:
        # What was imported before is known to the log that keeps state; on Kafka the workers know it.
        with LogSink(log, log if isinstance(log, EmbeddedLog) else None) as sink:
            report = import_into(sink, request, console)
        process_appended(log, settings, console, "this import")
    return tell(report, request, console, "the log")
