"""Which events an export takes: by provider, thread and time; and how the log is read for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ingest.log.contract import EventLog, Record, Topic
from ingest.processors.times import to_iso
from schemas.event import CanonicalEvent, decode
from schemas.keys import parse_key

BATCH_RECORDS: Final = 2000
BATCH_BYTES: Final = 8 * 1024 * 1024
"""One read of the log: enough to be fast, little enough to hold."""

MAX_NAMED: Final = 100
"""Damaged records named one by one; more are counted."""


class SelectionError(ValueError):
    """What a person asked for cannot be meant; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted; empty means everything. `since` is the first moment taken, `until` the first that is not."""

    providers: frozenset[tuple[str, str | None]] = frozenset()
    threads: frozenset[str] = frozenset()
    since: str | None = None
    until: str | None = None

    def wants(self, event: CanonicalEvent) -> bool:
        """Whether an event is wanted."""
        source, time = event.source, event.event.timestamp_iso
        if self.threads and source.thread_id not in self.threads:
            return False
        if self.providers and not {(source.provider, None), (source.provider, source.account)} & self.providers:
            return False
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)


def select(providers: list[str], threads: list[str], since: str | None, until: str | None) -> Selection:
    """Understand a person's words: providers as `claude` or `claude/account`, times in ISO 8601, UTC without an offset.

    Raises `SelectionError`.
    """
    try:
        keys = frozenset(parse_key(provider) for provider in providers)
    except ValueError as error:
        raise SelectionError(f"--provider: {error}") from None
    return Selection(keys, frozenset(threads), _time("--since", since), _time("--until", until))


def _time(option: str, raw: str | None) -> str | None:
    if raw is None:
        return None
    iso = to_iso(raw)
    if iso is None:
        raise SelectionError(f"{option} {raw!r}: a day or time such as 2026-01-31 or 2026-01-31T12:00:00Z is expected")
    return iso


@dataclass(slots=True)
class Reading:
    """The events of a log up to where it ended when the export began, and what could not be read of them."""

    log: EventLog
    selection: Selection
    damaged: int = 0
    missing: int = 0
    """Events that retention took away between two looks of an export."""
    named: list[str] = field(default_factory=list)

    def selected(self) -> Iterator[tuple[Record, CanonicalEvent]]:
        """Yield the wanted events with their records, in the log's order; what is no event is counted and named."""
        after, end = 0, self.log.end_offset(Topic.EVENTS)
        while after < end and (batch := self.log.read(Topic.EVENTS, after, BATCH_RECORDS, BATCH_BYTES)):
            after = batch[-1].offset
            for record in batch:
                event = self._event(record) if record.offset <= end else None
                if event is not None and self.selection.wants(event):
                    yield record, event

    def _event(self, record: Record) -> CanonicalEvent | None:
        try:
            return decode(record.value)
        except (msgspec.DecodeError, RecursionError) as error:
            self.damaged += 1
            if len(self.named) < MAX_NAMED:
                self.named.append(f"{record.topic} {record.offset}: no canonical event: {error}")
            return None

    def records(self, offsets: Iterator[int]) -> Iterator[Record]:
        """Yield the records with these offsets that are still there, neighbours in one read."""
        for first, last in _runs(offsets):
            place = first - 1
            while place < last and (batch := self._between(place, last)):
                yield from batch
                place = batch[-1].offset

    def _between(self, after: int, last: int) -> list[Record]:
        batch = self.log.read(Topic.EVENTS, after, last - after, BATCH_BYTES)
        return [record for record in batch if record.offset <= last]


def _runs(offsets: Iterator[int]) -> Iterator[tuple[int, int]]:
    """Join offsets that follow each other, as an import's do, up to a batch."""
    first = last = None
    for offset in offsets:
        if first is not None and last is not None:
            if offset == last + 1 and offset - first < BATCH_RECORDS:
                last = offset
                continue
            yield first, last
        first = last = offset
    if first is not None and last is not None:
        yield first, last
