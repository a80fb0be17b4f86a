"""The triage's consumer for tests: topics as the processors fill them, and what came of them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ingest.log.contract import EventLog, NewRecord, Record, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.processors.signals import derive
from ingest.processors.summaries import IDLE_LABEL
from schemas.event import CanonicalEvent, encode
from schemas.keys import thread_key
from tests.support.triage import NOW, event
from triage.board.model import Proposal
from triage.reader import Reader
from triage.store.database import Store
from triage.store.proposals import Wanted

NOW_MS = int(NOW.timestamp() * 1000)

ALL = Wanted(held=True, settled=True)


def records_of(events: Iterable[CanonicalEvent]) -> list[NewRecord]:
    """Give the records of all three topics that events lead to, as the processors write them."""
    records = []
    for one in events:
        key = thread_key(one.source.provider_account_key, one.source.thread_id)
        records.append(NewRecord(Topic.EVENTS, key, encode(one)))
        if one.event.type == "signal":
            records.append(NewRecord(Topic.SIGNALS, key, encode(one)))
        else:
            records += [NewRecord(Topic.SIGNALS, key, encode(signal)) for signal in derive(one)]
        if one.event.type == "summary":
            records.append(NewRecord(Topic.SUMMARIES, key, encode(one)))
    return records


def idle(last: CanonicalEvent) -> NewRecord:
    """Give the summary of a thread that went idle after an event."""
    text = f"## Idle: {last.source.thread_id}"
    summary = event(text, "system", type="summary", id=f"idle-{last.event.id}", labels=[IDLE_LABEL])
    summary.source = last.source
    summary.event.timestamp_iso = last.event.timestamp_iso
    key = thread_key(last.source.provider_account_key, last.source.thread_id)
    return NewRecord(Topic.SUMMARIES, key, encode(summary))


class Bench:
    """A log, a store and a reader between them; the store may be another's.

    `settle` waits until what was appended can be read, where that takes a moment.
    """

    def __init__(
        self,
        folder: Path,
        store: Store | None = None,
        log: EventLog | None = None,
        *,
        name: str = "log",
        settle: Callable[[], object] = lambda: None,
    ) -> None:
        self.now_ms = NOW_MS
        self._settle = settle
        self.log = log or EmbeddedLog.open(folder / f"{name}.db", clock=lambda: self.now_ms)
        self.store = store or Store.open(folder / "triage.db")
        self.reader = self.open()

    def open(self) -> Reader:
        """Take over as another process would."""
        self.reader = Reader(self.log, self.store, "test", clock=lambda: self.now_ms)
        return self.reader

    def hear(self, *events: CanonicalEvent) -> "Bench":
        """Append what events lead to, and work it off."""
        return self.take(records_of(events))

    def take(self, records: Sequence[NewRecord]) -> "Bench":
        """Append records and work them off."""
        self.log.append(records)
        self._settle()
        self.work()
        return self

    def work(self) -> int:
        """Work until nothing waits; gives how many records that were."""
        total = 0
        while applied := self.reader.step():
            total += applied.records
        return total

    def proposals(self, wanted: Wanted = Wanted()) -> list[Proposal]:  # noqa: B008 - frozen
        """Give proposals."""
        with self.store.read() as repository:
            return repository.proposals.listed(wanted)

    def told(self) -> list[Record]:
        """Give the records of decisions."""
        return self.log.read(Topic.DECISIONS, 0, 1000, 2**30)

    def close(self) -> None:
        self.log.close()
        self.store.close()


def shape(proposals: Iterable[Proposal]) -> set[tuple[object, ...]]:
    """Give what of proposals must not depend on the order in which events came."""
    return {
        (p.id, p.kind, p.subject, p.status, p.task_id, p.evidence_count, p.thread_count, frozenset(p.evidence))
        for p in proposals
    }
