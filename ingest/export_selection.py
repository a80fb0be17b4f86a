"""Which events an export takes: by provider, thread and time; and how the log is read for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ingest.log.contract import EventLog, Record, Topic
from ingest.log.walk import BATCH_RECORDS, ends, walk
from ingest.mended import Mended, split_place, unmarked
from ingest.processors.times import to_iso
from schemas.event import CanonicalEvent, decode
from schemas.keys import parse_key

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
        if not self.wants_account(source.provider, source.account):
            return False
        return (self.since is None or time >= self.since) and (self.until is None or time < self.until)

    def wants_account(self, provider: str, account: str | None) -> bool:
        """Whether what comes from an account of a provider, both as keys have them, is wanted."""
        return not self.providers or bool({(provider, None), (provider, account)} & self.providers)


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
    """The events of a log up to where it ended when the export began, and what could not be read of them.

    Each as it is now: of an event that a replay has mended only the last version is given, without the mark of it.
    """

    log: EventLog
    selection: Selection
    damaged: int = 0
    missing: int = 0
    """Events that retention took away between two looks of an export."""
    named: list[str] = field(default_factory=list)

    def selected(self) -> Iterator[tuple[Record, CanonicalEvent]]:
        """Yield the wanted events with their records, in the log's order; what is no event is counted and named.

        Where the log has several partitions, order is within a thread; threads are merged by time of appending.
        """
        end = ends(self.log, Topic.EVENTS)
        with Mended(self.log, end=end) as mended:
            for record in walk(self.log, Topic.EVENTS, end=end):
                event = self._event(record)
                if event is not None and self.selection.wants(event) and not mended.outdates(record, event):
                    yield unmarked(record, event)

    def _event(self, record: Record) -> CanonicalEvent | None:
        try:
            return decode(record.value)
        except (msgspec.DecodeError, RecursionError) as error:
            self.damaged += 1
            if len(self.named) < MAX_NAMED:
                self.named.append(f"{record.topic} {record.offset}: no canonical event: {error}")
            return None

    def records(self, places: Iterator[int]) -> Iterator[Record]:
        """Yield the records at these places (`ingest.mended.place_of`) that are still there, neighbours in one read."""
        for first, last in _runs(places):
            partition, start = split_place(first)
            _, end = split_place(last)
            yield from walk(self.log, Topic.EVENTS, {partition: start - 1}, {partition: end})


def _runs(places: Iterator[int]) -> Iterator[tuple[int, int]]:
    """Join places that follow each other, as an import's do, up to a batch."""
    first = last = None
    for place in places:
        if first is not None and last is not None:
            if place == last + 1 and place - first < BATCH_RECORDS:
                last = place
                continue
            yield first, last
        first = last = place
    if first is not None and last is not None:
        yield first, last
