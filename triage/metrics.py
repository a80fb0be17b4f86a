"""The triage's own Prometheus metrics, in the daemon's registry. Labels are kinds, topics and reasons: closed sets."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from triage.batch import Applied


class TriageMetrics:
    """What the consumer did in this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._records = Counter("triage_records", "Records applied to the triage store", registry=registry)
        self._evidence = Counter("triage_evidence", "Pieces of evidence that were new", registry=registry)
        self._proposals = Counter("triage_proposals", "Proposals that were new", ["kind"], registry=registry)
        self._held = Counter("triage_proposals_held", "Proposals held back by a daily limit", registry=registry)
        self._rejected = Counter("triage_rejected", "Records that could not be used", ["reason"], registry=registry)
        self._expired = Counter("triage_expired", "Proposals put away as stale", registry=registry)
        self._told = Counter("triage_decisions_told", "Decisions appended to the log", registry=registry)
        self._seconds = Histogram("triage_batch_seconds", "Duration of one batch", registry=registry)

    def applied(self, applied: Applied) -> None:
        """Count a batch."""
        self._seconds.observe(applied.seconds)
        self._records.inc(applied.records)
        self._evidence.inc(applied.folded.evidence)
        self._held.inc(applied.folded.held)
        for kind, count in applied.folded.proposals.items():
            self._proposals.labels(kind).inc(count)
        for reason, count in applied.rejected.items():
            self._rejected.labels(reason).inc(count)

    def tidied(self, expired: int) -> None:
        """Count proposals that were put away."""
        self._expired.inc(expired)

    def told(self, decisions: int) -> None:
        """Count decisions that were told."""
        self._told.inc(decisions)
