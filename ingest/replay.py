"""Captured records once more: copies of them, marked as a replay, are appended for the processors to work off again.

A copy has the members of its original as they stand, also those that this version does not know. Records that are
copies themselves are passed over, so that replaying twice brings nothing more than replaying once. Of several events
with one id that were appended at the same moment only the first is copied: times tell the normaliser which version of
an event came first, and there they cannot.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ingest.log.contract import EventLog, NewRecord, Record, Topic
from ingest.log.walk import Offsets, ends, walk
from schemas.captured import Replay, Thread
from schemas.event import EventId

APPEND_RECORDS: Final = 2_000
APPEND_BYTES: Final = 4 * 1024 * 1024
"""One append: large enough that its sync does not count, small enough to be one transaction of any engine."""

_encode: Final = msgspec.json.Encoder().encode
_Members = dict[str, msgspec.Raw]
_members: Final = msgspec.json.Decoder(_Members).decode
_events: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_thread: Final = msgspec.json.Decoder(Thread).decode
_replay: Final = msgspec.json.Decoder(Replay).decode


class _Named(msgspec.Struct):
    id: EventId


_named: Final = msgspec.json.Decoder(_Named).decode


class UnreadableError(ValueError):
    """What is stored is no captured record at all, and so cannot be marked."""


class Original:
    """A captured record of the log, looked at only as far as copying it needs."""

    def __init__(self, record: Record) -> None:
        """Raises `UnreadableError`."""
        self.record = record
        try:
            self._members = _members(record.value)
            self.thread = _thread(self._members["thread"])
            self.events = _events(self._members["events"])
            mark = self._members.get("replay")
            self.replay = _replay(mark) if mark else None
        except (ValueError, KeyError, RecursionError) as error:
            raise UnreadableError(str(error)) from error

    @property
    def time_ms(self) -> int:
        """When it was first appended, also of a copy (Unix, ms)."""
        return self.replay.time_ms if self.replay else self.record.time_ms

    def copy(self, events: list[msgspec.Raw], *, force: bool = False) -> NewRecord:
        """Give a marked copy with these of its events."""
        members = self._members | {
            "events": msgspec.Raw(_encode(events)),
            "replay": msgspec.Raw(_encode(Replay(max(self.time_ms, 0), force))),
        }
        return NewRecord(Topic.CAPTURED, self.record.key, _encode(members))


@dataclass(slots=True)
class Replayed:
    """What a replay appended, or would append; `passed` counts the records it passed over, by reason.

    Reasons: `replays` (copies of earlier ones), `other` (not asked for), `repeated` (all their events are in another
    record of the same moment), `unreadable`.
    """

    records: int = 0
    events: int = 0
    bytes: int = 0
    passed: Counter[str] = field(default_factory=Counter)


class _Moments:
    """Which ids were copied of the records that one partition got at one moment."""

    def __init__(self) -> None:
        self._ids: dict[int, tuple[int, set[str]]] = {}

    def first(self, original: Original) -> list[msgspec.Raw]:
        """Give the events of a record that none before it of its moment had; what has no id the processor rejects."""
        record = original.record
        time_ms, ids = self._ids.get(record.partition, (-1, set()))
        if time_ms != record.time_ms:
            ids = set()
            self._ids[record.partition] = record.time_ms, ids
        return unrepeated(original.events, ids)


def unrepeated(events: list[msgspec.Raw], ids: set[str]) -> list[msgspec.Raw]:
    """Give the events whose id is not among `ids`, and add theirs."""
    return [event for event in events if _is_new(event, ids)]


def _is_new(event: msgspec.Raw, ids: set[str]) -> bool:
    try:
        identity = _named(event).id
    except (ValueError, RecursionError):
        return True
    if identity in ids:
        return False
    ids.add(identity)
    return True


def replay(
    log: EventLog,
    after: Offsets,
    wanted: Callable[[Thread], bool],
    *,
    dry_run: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Append copies of the wanted captured records above `after`, up to those that are there when it begins.

    `on_progress` is told how many records were looked at. Interrupting it leaves whole appends. Raises `LogError`.
    """
    result = Replayed()
    copies = _copies(log, after, wanted, result, on_progress)
    if dry_run:
        result.records = sum(1 for _ in copies)
    else:
        result.records = append_all(log, copies)
    return result


def append_all(log: EventLog, records: Iterable[NewRecord]) -> int:
    """Append records in bounded batches, each an append of its own; how many. Raises `LogError`."""
    batch: list[NewRecord] = []
    size = count = 0
    for record in records:
        batch.append(record)
        count, size = count + 1, size + len(record.value)
        if len(batch) >= APPEND_RECORDS or size >= APPEND_BYTES:
            log.append(batch)
            batch, size = [], 0
    if batch:
        log.append(batch)
    return count


def _copies(
    log: EventLog,
    after: Offsets,
    wanted: Callable[[Thread], bool],
    result: Replayed,
    on_progress: Callable[[int], None],
) -> Iterator[NewRecord]:
    moments = _Moments()
    for count, record in enumerate(walk(log, Topic.CAPTURED, after, ends(log, Topic.CAPTURED)), 1):
        on_progress(count)
        try:
            original = Original(record)
        except UnreadableError:
            result.passed["unreadable"] += 1
            continue
        if original.replay is not None:
            result.passed["replays"] += 1
        elif not wanted(original.thread):
            result.passed["other"] += 1
        elif events := moments.first(original):
            copy = original.copy(events)
            result.events, result.bytes = result.events + len(events), result.bytes + len(copy.value)
            yield copy
        else:
            result.passed["repeated"] += 1
