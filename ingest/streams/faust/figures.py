"""The workers' Prometheus metrics; Faust's own sensors break the naming rules, and its web server is off."""

from collections import Counter as Counts
from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BATCH_BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds around a transaction of a few round trips (10 to 80 ms), up to one that is given up."""


class WorkerFigures:
    """What the workers of this process did; `processed` counts records as the embedded runner's does."""

    def __init__(self, registry: CollectorRegistry, processed: Counter) -> None:
        self._processed = processed
        self._events = Counter(
            "processor_events",
            "What processors made of events in this process",
            ["processor", "outcome"],
            registry=registry,
        )
        self._batches = Histogram(
            "processor_batch_seconds",
            "Duration of one batch of one partition: processing and its transaction",
            buckets=_BATCH_BUCKETS,
            registry=registry,
        )
        self.partitions = Gauge("processor_partitions", "Partitions that this process works off", registry=registry)
        self.rebalances = Counter(
            "processor_rebalances", "Times that partitions were dealt out again", registry=registry
        )
        self.reopened = Counter(
            "processor_partition_failures", "Times that a partition failed and was taken up again", registry=registry
        )
        self.reread = Counter(
            "processor_reread_records", "Records read again as Faust had not delivered them", registry=registry
        )

        self.forgotten = Counter(
            "processor_forgotten_events", "Events forgotten as retention has taken them from the log", registry=registry
        )

    def batch(self, records: int, seconds: float, counts: Mapping[str, Counts[str]]) -> None:
        """Count one committed turn."""
        self._processed.inc(records)
        self._batches.observe(seconds)
        for processor, outcomes in counts.items():
            for outcome, count in outcomes.items():
                self._events.labels(processor, outcome).inc(count)
