"""One batch of the log's records applied to the triage store: threads remembered, findings folded in.

What a record means depends on its topic alone. A record that cannot be read, or that a rule fails on, costs itself: it
is counted and named in the daemon's log, where its words never are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec
import structlog

from ingest.clock import iso
from ingest.log.contract import Record, Topic
from schemas.event import CanonicalEvent, decode
from schemas.keys import thread_key
from triage.projections.thread import ThreadState, hear, notice, settle_ask, summarise
from triage.proposals.finding import Finding
from triage.proposals.signal_rules import in_signal
from triage.proposals.summary_rules import in_summary
from triage.proposals.text_rules import in_message
from triage.proposals.thread_rules import at_end
from triage.store.findings import Folded
from triage.store.keys import key_digest
from triage.store.repository import Repository

TOPICS: Final = (Topic.EVENTS, Topic.SIGNALS, Topic.SUMMARIES)
"""What the triage reads."""

_APPLIED: Final = {Topic.EVENTS: hear, Topic.SIGNALS: notice, Topic.SUMMARIES: summarise}
_RULES: Final = {Topic.EVENTS: in_message, Topic.SIGNALS: in_signal, Topic.SUMMARIES: in_summary}

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Applied:
    """What came of a batch, and how long it took; `rejected` counts records that could not be used, by reason."""

    records: int = 0
    threads: int = 0
    seconds: float = 0.0
    rejected: Counter[str] = field(default_factory=Counter)
    folded: Folded = field(default_factory=Folded)

    def add(self, other: "Applied") -> None:
        """Add what came of a part."""
        self.records += other.records
        self.threads += other.threads
        self.rejected += other.rejected
        self.folded.evidence += other.folded.evidence
        self.folded.proposals += other.folded.proposals
        self.folded.held += other.folded.held


def apply(repository: Repository, records: Sequence[Record], now_ms: int, default_workspace: str = "") -> Applied:
    """Apply records within one transaction, and say what came of them.

    `default_workspace` is whose board conversations belong to that name none.
    """
    applied = Applied(records=len(records))
    read = list(_read(records, applied))
    threads = _Threads(repository, {key for key, _, _ in read})
    findings: list[Finding] = []
    for key, record, event in read:
        try:
            _APPLIED[record.topic](threads.of(key, event, record.time_ms), event)
            findings += _RULES[record.topic](event, record.time_ms)
        except Exception as error:  # noqa: BLE001 - a fault in a rule must not hold up what comes after
            _reject(applied, record, "rule-failed", error)
    findings += threads.ends()
    placed = (f if f.workspace else replace(f, workspace=default_workspace) for f in findings)
    applied.folded = repository.findings.fold(placed, iso(now_ms / 1000)[:10])
    applied.threads = threads.save()
    return applied


class _Threads:
    """The threads of a batch: loaded once, changed in memory, written once and only where something is new."""

    def __init__(self, repository: Repository, keys: Iterable[str]) -> None:
        self._repository = repository
        self._digests = {key: key_digest(key) for key in keys}
        self._states = repository.threads.load(self._digests.values())
        self._before = {digest: msgspec.structs.replace(state) for digest, state in self._states.items()}
        self._latest: dict[bytes, int] = {}

    def of(self, key: str, event: CanonicalEvent, time_ms: int) -> ThreadState:
        """Give a thread's state, to be changed."""
        digest = self._digests[key]
        state = self._states.get(digest)
        if state is None:
            source = event.source
            state = ThreadState(provider_account_key=source.provider_account_key, thread_id=source.thread_id)
            self._states[digest] = state
        self._latest[digest] = max(time_ms, self._latest.get(digest, 0))
        return state

    def ends(self) -> Iterator[Finding]:
        """Give what the ends of these threads propose."""
        for digest, at_ms in self._latest.items():
            settle_ask(self._states[digest])
            yield from at_end(self._states[digest], at_ms)

    def save(self) -> int:
        """Write the threads that are not as they were; how many."""
        changed = {d: self._states[d] for d in self._latest if self._states[d] != self._before.get(d)}
        self._repository.threads.save(changed)
        return len(changed)


def _read(records: Sequence[Record], applied: Applied) -> Iterator[tuple[str, Record, CanonicalEvent]]:
    for record in records:
        try:
            event = decode(record.value)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            _reject(applied, record, "invalid-event", error)
            continue
        yield thread_key(event.source.provider_account_key, event.source.thread_id), record, event


def _reject(applied: Applied, record: Record, reason: str, error: Exception) -> None:
    applied.rejected[reason] += 1
    where = f"{record.topic} {record.partition}:{record.offset}"
    _log.error("record-rejected", reason=reason, where=where, error_type=type(error).__name__)
