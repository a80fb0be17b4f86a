"""What was rejected: reading it, choosing of it, and trying again what processors could not use.

A retry appends the captured record that something was rejected of once more, marked as a replay; of an event that a
later processor failed on, the event. What could not even be read lies outside the log, and only a person can mend it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import msgspec

from ingest.log.contract import EventLog, NewRecord, Record, Topic
from ingest.log.walk import offset_before, offsets_before, walk
from ingest.processors.deduplicate import MENDED_LABEL
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.times import to_ms
from ingest.replay import Original, UnreadableError, unrepeated
from ingest.streams.attempts import PROCESSOR_ERROR
from schemas.captured import Origin, RejectedRecord
from schemas.event import decode, encode

UNREADABLE: Final = "unreadable"
"""The reason of a record of the topic that is no rejection itself."""

_decode: Final = msgspec.json.Decoder(RejectedRecord).decode


class NotRetriedError(ValueError):
    """Trying again cannot help; the message says why, and what a person can do."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One record of `conversations.rejected`."""

    record: Record
    bad: RejectedRecord

    @classmethod
    def of(cls, record: Record) -> "Rejection":
        """Read a record; one that is no rejection is one for the reason `UNREADABLE`, with itself as the sample."""
        try:
            return cls(record, _decode(record.value))
        except (ValueError, RecursionError) as error:
            bad = RejectedRecord(
                source="log",
                where=f"{record.topic} {record.offset}",
                reason=UNREADABLE,
                detail=str(error),
                sample=record.value,
                size_bytes=len(record.value),
            )
            return cls(record, bad)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rejections are wanted; empty means all. `since` is an ISO time of appending."""

    sources: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    stage: str | None = None
    since: str | None = None

    def wants(self, rejection: Rejection) -> bool:
        """Whether a rejection is wanted, as far as its time does not decide."""
        bad = rejection.bad
        return (
            (not self.sources or bad.source in self.sources)
            and (not self.reasons or bad.reason in self.reasons)
            and (self.stage is None or bad.stage == self.stage)
        )


def rejections(log: EventLog, choice: Choice = Choice()) -> Iterator[Rejection]:
    """Yield the wanted rejections, oldest first; raises `LogError`."""
    since_ms = to_ms(choice.since) if choice.since else None
    after = {} if since_ms is None else offsets_before(log, Topic.REJECTED, since_ms)
    for record in walk(log, Topic.REJECTED, after):
        rejection = Rejection.of(record)
        if (since_ms is None or record.time_ms >= since_ms) and choice.wants(rejection):
            yield rejection


def rejection_at(log: EventLog, partition: int, offset: int) -> Rejection | None:
    """Give the rejection at a place; None where there is none, or none any longer."""
    found = log.read(Topic.REJECTED, offset - 1, 1, 1, partition) if offset > 0 else []
    return Rejection.of(found[0]) if found and found[0].offset == offset else None


@dataclass(slots=True)
class Retry:
    """Makes the records to append again, each once, however many things were rejected of it."""

    log: EventLog
    _made: set[bytes] = field(default_factory=set)

    def records(self, rejection: Rejection) -> list[NewRecord]:
        """Give what to append for a rejection, nothing where another one led to it; raises `NotRetriedError`."""
        bad = rejection.bad
        if bad.stage != "processing" or bad.reason == UNREADABLE:
            raise NotRetriedError(_advice(bad))
        if bad.origin is None:
            raise NotRetriedError("it does not say which record of the log it comes from")
        originals = _find(self.log, bad.origin, rejection.record.key)
        if not originals:
            raise NotRetriedError("the record it comes from is no longer in the log")
        made = [self._again(original, bad) for original in originals]
        return [record for record in made if self._is_new(record)]

    def _again(self, record: Record, bad: RejectedRecord) -> NewRecord:
        if record.topic is Topic.EVENTS:
            return _event_again(record)
        later = bad.reason == PROCESSOR_ERROR and bad.source != NormalizeProcessor.name
        try:
            original = Original(record)
        except UnreadableError as error:
            raise NotRetriedError(f"the record it comes from is no captured record: {error}") from None
        # What failed after normalising passed it then, and would be passed over now.
        return original.copy(unrepeated(original.events, set()), force=later)

    def _is_new(self, record: NewRecord) -> bool:
        # A copy of a copy has the value of the first copy: the mark names the original's time.
        digest = blake2b(
            b"\0".join((record.topic.encode(), record.key.encode(), record.value)), digest_size=16
        ).digest()
        if digest in self._made:
            return False
        self._made.add(digest)
        return True


def _find(log: EventLog, origin: Origin, key: str) -> list[Record]:
    """Give the record at a place; where the log was moved, those of its key and time, which is one almost always."""
    try:
        topic = Topic(origin.topic)
    except ValueError:
        return []
    if origin.partition < log.partitions(topic):
        found = log.read(topic, origin.offset - 1, 1, 1, origin.partition)
        if found and (found[0].offset, found[0].key, found[0].time_ms) == (origin.offset, key, origin.time_ms):
            return found
    return [
        record for number in range(log.partitions(topic)) for record in _at(log, topic, number, key, origin.time_ms)
    ]


def _at(log: EventLog, topic: Topic, partition: int, key: str, time_ms: int) -> Iterator[Record]:
    after, end = offset_before(log, topic, time_ms, partition), log.end_offset(topic, partition)
    for record in walk(log, topic, {partition: after}, {partition: end}):
        if record.time_ms > time_ms:
            return
        if record.time_ms == time_ms and record.key == key:
            yield record


def _event_again(record: Record) -> NewRecord:
    """Give an event once more, in the place of itself: who counted it does not count it twice."""
    try:
        event = decode(record.value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotRetriedError(f"the record it comes from is no canonical event: {error}") from None
    if MENDED_LABEL not in event.event.labels:
        event.event.labels = [*event.event.labels, MENDED_LABEL]
    return NewRecord(Topic.EVENTS, record.key, encode(event))


def _advice(bad: RejectedRecord) -> str:
    kept, size = len(bad.sample), bad.size_bytes
    of_it = f"the first {kept:,} of its {size:,} bytes are kept" if kept < size else f"its {size:,} bytes are kept"
    return (
        f"it could not be read, and only its source can be mended; {of_it}. Mend it and import it again: what the log"
        " knows already is not repeated"
    )
