"""The daemon's Prometheus metrics: one object with its own registry, no globals.

Labels are bounded: names of configured sources, reasons of a closed set, names of processors. Never a path or an id.
Counters are of this process; `session-ingest status` has the sums of the log's whole life.
"""

import logging
import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from ingest.health import LOG_PART, Health, SourceHealth
from ingest.lag import Lag, lags, oldest
from ingest.log.contract import EventLog, LogError, LogStatus, Topic
from ingest.packing import REJECTED_PREFIX, UNKNOWN, Packed

MAX_REASONS: Final = 40
"""Distinct reasons before further ones are summed as `other`: labels must stay few, whatever adapters say."""

_PUBLISH_BUCKETS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds around a disk sync (3 to 10 ms on common disks), up to a disk in trouble."""

_END_TO_END_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Seconds from a live pipeline that is idle to one that works off a long import."""

_logger = logging.getLogger(__name__)

DROPPED: Final = ("empty", "hidden", "duplicate")


class Metrics:
    """All metrics of one daemon."""

    def __init__(self) -> None:
        # One more series for each counter, with its birth: of no use here. Process-wide by nature.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library's function has no annotations
        self.registry = registry = CollectorRegistry()
        self._reasons: set[str] = set()
        self._read = Counter("ingest_events_read", "Elements read from a source", ["source"], registry=registry)
        self._published = Counter(
            "ingest_events_published", "Captured events that are in the log", ["source", "topic"], registry=registry
        )
        self._dropped = Counter(
            "ingest_events_dropped", "Elements that rightly give no event", ["source", "reason"], registry=registry
        )
        self._unknown = Counter(
            "ingest_unknown_elements",
            "Elements of a kind that this version does not know",
            ["source"],
            registry=registry,
        )
        self._dead = Counter(
            "ingest_events_dead_lettered",
            "Elements that could not be read, kept in conversations.rejected",
            ["source", "reason"],
            registry=registry,
        )
        self._errors = Counter(
            "ingest_errors", "Failures of a source or the log, by stage", ["source", "stage", "type"], registry=registry
        )
        self._in_flight = Gauge(
            "ingest_inflight_events", "Events read and not in the log yet", ["source"], registry=registry
        )
        self.publish_seconds = Histogram(
            "ingest_publish_seconds", "Duration of one append to the log", buckets=_PUBLISH_BUCKETS, registry=registry
        )
        self._end_to_end = Histogram(
            "ingest_end_to_end_seconds",
            "From a moment until everything captured before it was worked off by every consumer",
            buckets=_END_TO_END_BUCKETS,
            registry=registry,
        )
        self._through = Gauge(
            "ingest_end_to_end_timestamp_seconds",
            "Everything that was in the log at this moment has gone all the way",
            registry=registry,
        )
        self._through.set_to_current_time()  # an age from the start on, also where no mark gets through
        self.processed = Counter(
            "processor_records", "Records that processors have worked off in this process", registry=registry
        )
        build = Info("ingest_build", "What runs", registry=registry)
        build.info({"version": version("session-triage"), "python": platform.python_version()})
        ProcessCollector(registry=registry)

    def published(self, source: str, packed: Packed) -> None:
        """Count one committed capture."""
        counts = packed.progress.counts
        self._read.labels(source).inc(counts.get("seen", 0))
        self._published.labels(source, str(Topic.CAPTURED)).inc(counts.get("emitted", 0))
        self._unknown.labels(source).inc(counts.get(UNKNOWN, 0))
        for reason in DROPPED:
            self._dropped.labels(source, reason).inc(counts.get(reason, 0))
        for name, count in counts.items():
            if name.startswith(REJECTED_PREFIX):
                self._dead.labels(source, self._reason(name.removeprefix(REJECTED_PREFIX))).inc(count)

    def failed(self, source: str, stage: str, error_type: str) -> None:
        """Count one failure; `stage` is receiving, sending or processing."""
        self._errors.labels(source, stage, self._reason(error_type)).inc()

    def in_flight(self, source: str, events: int) -> None:
        """Set how many events are on their way into the log."""
        self._in_flight.labels(source).set(events)

    def went_through(self, moment: float, seconds: float) -> None:
        """Note that what was in the log at a Unix time has gone all the way, so many seconds later."""
        self._end_to_end.observe(seconds)
        self._through.set(moment)

    def watch(self, health: Health, log: EventLog) -> None:
        """Read gauges of sources, processors and the log when somebody scrapes."""
        self.registry.register(_Live(health, log))

    def render(self) -> bytes:
        """The text that Prometheus scrapes."""
        return generate_latest(self.registry)

    def _reason(self, reason: str) -> str:
        if reason not in self._reasons and len(self._reasons) >= MAX_REASONS:
            return "other"
        self._reasons.add(reason)
        return reason


class _Live(Collector):
    """What is read at the moment of the scrape, so that none goes stale."""

    def __init__(self, health: Health, log: EventLog) -> None:
        self._health = health
        self._log = log

    def describe(self) -> Iterator[Metric]:
        """Nothing beforehand: the registry must not read the log when it is built."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Give the gauges; those of the log are missing while it cannot be read."""
        yield from self._sources()
        yield from self._files()
        yield from _inboxes(self._health.sources.values())
        if LOG_PART in self._health.problems:  # brokers that are away would hold up the whole scrape
            return
        try:
            status = self._log.status()
            behind = lags(self._log, status)
        except LogError as error:
            _logger.warning("log-not-readable", extra={"reason": str(error)})
            return
        yield from _processors(status, behind)
        if status.size_bytes is not None:
            size = GaugeMetricFamily("ingest_log_bytes", "Size of the embedded log on disk")
            size.add_metric([], status.size_bytes)
            yield size

    def _sources(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("ingest_source_up", "1 while the source is followed", labels=["source"])
        event = GaugeMetricFamily(
            "ingest_last_event_timestamp_seconds", "When the source last gave an event", labels=["source"]
        )
        age = GaugeMetricFamily(
            "ingest_checkpoint_age_seconds", "Time since the source's checkpoints last moved", labels=["source"]
        )
        drift = GaugeMetricFamily(
            "ingest_format_drift", "1 while the source gives much that is unknown, or nothing", labels=["source"]
        )
        undecrypted = GaugeMetricFamily(
            "ingest_undecrypted_events", "Encrypted messages that wait for their keys", labels=["source"]
        )
        for source in self._health.sources.values():
            if source.undecrypted is not None:
                undecrypted.add_metric([source.name], source.undecrypted())
            up.add_metric([source.name], float(source.up))
            drift.add_metric([source.name], float(bool(source.drift)))
            if source.last_event is not None:
                event.add_metric([source.name], source.last_event)
            if source.last_commit is not None:
                age.add_metric([source.name], max(0.0, time.time() - source.last_commit))
        expiring = GaugeMetricFamily(
            "ingest_expiring_files", "Unread files that their own program is about to delete", labels=["source"]
        )
        for name, files in self._health.expiring.items():
            expiring.add_metric([name], files)
        yield from (up, event, age, drift, expiring, undecrypted)

    def _files(self) -> Iterator[Metric]:
        read = CounterMetricFamily("ingest_read_bytes", "Bytes read from files", labels=["source"])
        pending = GaugeMetricFamily("ingest_pending_bytes", "Bytes of files that are not read yet", labels=["source"])
        opened = GaugeMetricFamily("ingest_open_files", "Files held open", labels=["source"])
        for source in self._health.sources.values():
            if source.stats is not None:
                stats = source.stats()
                read.add_metric([source.name], stats.bytes_read)
                pending.add_metric([source.name], stats.pending_bytes)
                opened.add_metric([source.name], stats.open_files)
        yield from (read, pending, opened)


def _inboxes(sources: Iterable[SourceHealth]) -> Iterator[Metric]:
    labels = ["source"]
    deliveries = GaugeMetricFamily("ingest_inbox_deliveries", "Requests that wait for their commit", labels=labels)
    size = GaugeMetricFamily("ingest_inbox_bytes", "Bytes of their bodies", labels=labels)
    refused = CounterMetricFamily(
        "ingest_inbox_refused", "Requests told to come again, by reason", labels=[*labels, "reason"]
    )
    for source in sources:
        if source.inbox is not None:
            stats = source.inbox()
            deliveries.add_metric([source.name], stats.deliveries)
            size.add_metric([source.name], stats.bytes)
            for reason, count in stats.refused.items():
                refused.add_metric([source.name, reason], count)
    yield from (deliveries, size, refused)


def _processors(status: LogStatus, behind: Sequence[Lag]) -> Iterator[Metric]:
    labels = ["processor", "topic", "partition"]
    messages = GaugeMetricFamily("processor_lag_messages", "Records a processor has not worked off", labels=labels)
    seconds = GaugeMetricFamily("processor_lag_seconds", "Age of the oldest of them", labels=labels[:2])
    for lag in behind:
        messages.add_metric([lag.processor, lag.topic, str(lag.partition)], lag.messages)
    for (processor, topic), age in oldest(behind).items():
        seconds.add_metric([processor, topic], age)
    events = CounterMetricFamily(
        "processor_events", "What processors made of events, since the log began", labels=["processor", "outcome"]
    )
    for group in status.groups:
        for outcome, count in group.counts.items():
            events.add_metric([group.group, outcome], count)
    yield from (messages, seconds)
    if events.samples:  # workers on Kafka count for themselves, under the same name
        yield events
