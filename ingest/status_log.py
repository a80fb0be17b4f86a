"""What `status` tells of the log and of those who read it, whatever the engine."""

from collections.abc import Mapping

from msgspec import Struct

from ingest.clock import iso
from ingest.lag import lags, oldest
from ingest.log.contract import LogError, LogStatus
from ingest.log.open import open_log, place_of_log
from ingest.settings import Settings


class LogView(Struct, rename="camel"):
    """Where the log is and how many records each topic holds: at most, where that is not `exact`.

    `size_bytes` is null where the engine does not tell; `problem` says why a log cannot be read now.
    """

    path: str
    size_bytes: int | None
    records: dict[str, int]
    exact: bool = True
    problem: str | None = None


class PartitionView(Struct, rename="camel"):
    """How far a processor is behind on one partition: at most, where the log is not exact."""

    partition: int
    committed: int
    end_offset: int
    lag: int


class ProcessorView(Struct, rename="camel"):
    """One processor, or on Kafka the workers' group: how far it is behind over all partitions, and what it counted.

    `counts` is empty on Kafka, where each worker counts for itself, in its metrics.
    """

    name: str
    topic: str
    lag: int
    lag_seconds: float
    last_commit_iso: str | None
    counts: dict[str, int]
    partitions: list[PartitionView] = []


def read_log(settings: Settings) -> tuple[LogView, list[ProcessorView], LogStatus]:
    """Ask the log; raises `LogError` where there is none, or where it cannot be opened.

    Brokers may be away for a while, and what the daemon says of itself is worth knowing just then: the view says so.
    """
    with open_log(settings, read_only=True) as log:
        try:
            found = log.status()
            processors = _processors(found, oldest(lags(log, found)))
        except LogError as error:
            if settings.engine == "embedded":
                raise
            return LogView(place_of_log(settings), None, {}, problem=str(error)), [], LogStatus([], [], [], None)
    records = {str(topic.topic): topic.records for topic in found.topics}
    return LogView(place_of_log(settings), found.size_bytes, records, found.exact), processors, found


def _processors(found: LogStatus, ages: Mapping[tuple[str, str], float]) -> list[ProcessorView]:
    """Each group on each topic, all its partitions together."""
    views: dict[tuple[str, str], ProcessorView] = {}
    for group in found.groups:
        place = group.group, str(group.topic)
        view = views.setdefault(place, ProcessorView(*place, 0, ages[place], None, dict(group.counts), []))
        view.lag += group.lag
        view.partitions.append(PartitionView(group.partition, group.committed, group.end_offset, group.lag))
        if group.last_commit_ms is not None:
            view.last_commit_iso = max(view.last_commit_iso or "", iso(group.last_commit_ms / 1000))
    return list(views.values())
