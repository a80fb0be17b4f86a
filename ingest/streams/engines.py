"""Which runner the settings name: processors over the embedded log, or Faust workers on Kafka."""

from pathlib import Path
from typing import Final, Protocol

from ingest.health import Health
from ingest.locks import PROCESSORS_LOCK, Lock, try_lock
from ingest.log.contract import EventLog, LogError
from ingest.log.embedded import EmbeddedLog
from ingest.metrics import Metrics
from ingest.processing import Processing
from ingest.processors.chain import processors
from ingest.settings import Settings
from ingest.streams.embedded import EmbeddedRunner

MAX_WORKERS: Final = 64
"""Workers with one state directory: more than a machine has cores, and each needs one."""


class Processors(Protocol):
    """What runs the processors in a daemon."""

    def start(self) -> None:
        """Begin as soon as it is this process's turn."""
        ...

    def wake(self) -> None:
        """Say that there is something to process."""
        ...

    async def stop(self) -> None:
        """Finish what is at hand and let others have their turn."""
        ...


def claim_turn(settings: Settings) -> Lock | None:
    """Take the lock that a process needs which only runs processors; None where another one has it.

    Over the embedded log there is one such process; on Kafka each takes a seat of its own. Raises `OSError`.
    """
    if settings.engine == "embedded":
        return try_lock(settings.state_dir / PROCESSORS_LOCK)
    seats = (settings.state_dir / "workers" / f"{number}.lock" for number in range(MAX_WORKERS))
    return next((lock for seat in seats if (lock := try_lock(seat, 0.0)) is not None), None)


def processing_of(settings: Settings, log: EventLog, health: Health, metrics: Metrics, turn: Lock | None) -> Processors:
    """Make the runner; `turn` is what `claim_turn` gave, where this process has asked already. Raises `LogError`."""
    if isinstance(log, EmbeddedLog):
        runner = EmbeddedRunner(log, list(processors(settings.processors.idle_after)))
        return Processing(runner, settings.state_dir / PROCESSORS_LOCK, health, metrics, lock=turn)
    try:
        seat = turn or claim_turn(settings)
    except OSError as error:
        raise LogError(f"{settings.state_dir}: {error.strerror or error}") from error
    if seat is None:
        raise LogError(f"{MAX_WORKERS} workers run on {settings.state_dir}; give others a state_dir of their own")
    from ingest.streams.faust.workers import Workers  # noqa: PLC0415 - only Kafka needs Faust, which takes a second

    folder = Path(seat.path).with_suffix("")
    return Workers.of(settings, folder, seat, health, metrics)
