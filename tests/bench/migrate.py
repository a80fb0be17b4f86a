"""`session-ingest migrate`: events a second and memory, for a log of 100,000 events and one of a quarter of that.

The move is one process that reads SQLite and writes transactions; memory must not grow with the log.
"""

import tempfile
from datetime import timedelta
from io import StringIO
from pathlib import Path

from rich.console import Console

from ingest.commands.operations.migrate import run_migrate
from ingest.log.contract import NewRecord, SourceProgress, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors.chain import processors
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner
from schemas.captured import encode_record
from tests.bench.measure import Figure, measure, table
from tests.support.kafka import Broker, new_prefix
from tests.support.processors import captured, record_of
from tests.support.worker import declare, settings_of

EVENTS = (25_000, 100_000)
PACKED = 50
"""Events of a captured record, as an import has them."""

TEXT = "when the build is green the task has its owner and what was found there is said " * 10
PARTITIONS = 8


def _fill(path: Path, events: int) -> None:
    """A log as an import leaves it: captured, processed, with checkpoints."""
    with EmbeddedLog.open(path) as log:
        source = log.open_source("drop")
        for start in range(0, events, PACKED):
            content = record_of(
                *(captured(f"{number} {TEXT}", id=f"e-{number}") for number in range(start, start + PACKED)),
                thread_id=f"t-{start % 20_000}",
            )
            record = NewRecord(Topic.CAPTURED, f"pi/{content.thread.thread_id}", encode_record(content))
            source.append([record], {f"file-{start}": b"done"}, SourceProgress({"seen": PACKED}))
        EmbeddedRunner(log, processors(timedelta(minutes=30))).run_until_caught_up()


def _move(broker: Broker, folder: Path, events: int) -> Figure:
    kafka = settings_of(broker.bootstrap, new_prefix(), PARTITIONS)
    declare(kafka)
    settings = Settings(state_dir=folder / str(events), kafka=kafka)
    settings.state_dir.mkdir()
    _fill(settings.log_path, events)

    def work() -> int:
        run_migrate(settings, Console(file=StringIO()), dry_run=False)
        return events

    return measure(f"{events:,} events", work, settings.log_path.stat().st_size, 1)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, Broker(Path(name) / "kafka", heap="1g", quick=False) as broker:
        folder = Path(name)
        figures = [_move(broker, folder, events) for events in EVENTS]
        print(table("migrate, embedded log to Kafka; sizes are those of the log's file", figures, "events"))
        grown = figures[-1].peak_mb - figures[0].peak_mb
        print(f"  four times the log takes {grown:+.0f} MB of memory")


if __name__ == "__main__":
    main()
