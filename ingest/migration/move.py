"""The move itself: in an order in which a worker that starts too early does no harm.

First the events, each with what the normaliser remembers of it; then what is remembered of threads, everything derived,
and the checkpoints. What was captured comes last: whoever processes it again finds all of its events known. Then the
workers' group is set behind it. What the normaliser remembers of events that retention has taken from the log stays
behind, as its retention would have forgotten it within a day.

Records keep their keys, their order within a key, and their times; offsets are new. Consumer groups of others are moved
to the record that they are at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from ingest.log.contract import GroupStatus, LogError, Record, SourceStatus, StateKey, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.kafka.checkpoints import PROGRESS, encode_progress
from ingest.log.kafka.checkpoints import Progress as SourceProgress
from ingest.migration.progress import CHECKPOINTS, DONE, SUMMARIES, Copied
from ingest.migration.target import Messages, Target
from ingest.processors.chain import processors
from ingest.processors.deduplicate import id_key
from ingest.processors.normalize import NormalizeProcessor
from ingest.processors.summaries import THREAD_PREFIX, SummariesProcessor, moved_thread

BATCH_RECORDS: Final = 2_000
BATCH_BYTES: Final = 4 * 1024 * 1024
"""One transaction: large enough that its commit does not count, far smaller than what brokers abort for its age."""

ORDER: Final = (Topic.EVENTS, *(topic for topic in Topic if topic not in (Topic.EVENTS, Topic.CAPTURED)))
"""What is moved before the checkpoints; `Topic.CAPTURED` comes after them."""

OWN_GROUPS: Final = frozenset(processor.name for processor in processors())
"""Groups of the processors, in whose place the workers have one for all."""

_FIRST_BYTES: Final = 256
"""Threads are looked through by the first byte of their digests: of a million of them 4,000 at a time."""

_ALL: Final = 1 << 31


class _Named(msgspec.Struct):
    id: str


class _Event(msgspec.Struct):
    event: _Named


_event: Final = msgspec.json.Decoder(_Event).decode


@dataclass(frozen=True, slots=True)
class Step:
    """What was moved just now: a topic or another part, how much of it, and how much there is."""

    part: str
    done: int
    total: int


class Move:
    """Moves one log; every step is a transaction, and a new `Move` goes on where the last one ended."""

    def __init__(self, log: EmbeddedLog, target: Target) -> None:
        """`log` must not be written to meanwhile."""
        self._log = log
        self._target = target
        self._status = log.status()
        self._groups = [group for group in self._status.groups if group.group not in OWN_GROUPS]

    def run(self, on_step: Callable[[Step], None] = lambda _: None) -> None:
        """Move all that is not moved yet, and check that nothing is missing; raises `LogError`."""
        for step in self._steps():
            on_step(step)
        self._check()
        self._target.commit_workers()
        while not self._target.progress.done:
            self._target.write({}, DONE, Copied(1))

    def _steps(self) -> Iterator[Step]:
        yield from self._topic(Topic.EVENTS)
        yield from self._threads()
        for topic in ORDER[1:]:
            yield from self._topic(topic)
        # One that began before the state was whole has not read all of it, and would let events pass twice.
        if self._target.workers_run():
            raise LogError("a worker runs on these topics already; stop it, and start the move again")
        yield from self._checkpoints()
        yield from self._topic(Topic.CAPTURED)

    def _topic(self, topic: Topic) -> Iterator[Step]:
        groups = sorted((group for group in self._groups if group.topic is topic), key=lambda group: group.committed)
        end = self._log.end_offset(topic)
        total = next(found.records for found in self._status.topics if found.topic is topic)
        while (at := self._target.progress.of(topic)).offset < end:
            self._move_groups(groups, at.offset)
            until = next((group.committed for group in groups if group.committed > at.offset), end)
            records = self._log.read(topic, at.offset, min(BATCH_RECORDS, until - at.offset), BATCH_BYTES)
            records = [record for record in records if record.offset <= until]
            last = records[-1].offset if records else until
            self._target.write(self._placed(topic, records), topic, Copied(last, at.records + len(records)))
            yield Step(topic, self._target.progress.of(topic).records, total)
        self._move_groups(groups, self._target.progress.of(topic).offset)

    def _move_groups(self, groups: Sequence[GroupStatus], offset: int) -> None:
        """Move the groups that are at this record, while it is the last one moved."""
        for group in groups:
            if group.committed == offset:
                self._target.commit_group(group.group, group.topic)

    def _placed(self, topic: Topic, records: Sequence[Record]) -> Messages:
        messages = self._target.place_records(records)
        if topic is Topic.EVENTS:
            self._place_known(records, messages)
        return messages

    def _place_known(self, records: Sequence[Record], messages: Messages) -> None:
        """Add what the normaliser remembers of events, for the partitions of their threads."""
        keys = [(record.key, id_key(found)) for record in records if (found := _id(record)) is not None]
        known = self._log.state(NormalizeProcessor.name, {key for _, key in keys})
        by_thread: dict[str, dict[StateKey, bytes]] = {}
        for thread, key in keys:
            if key in known:
                by_thread.setdefault(thread, {})[NormalizeProcessor.name, key] = known[key]
        for thread, entries in by_thread.items():
            self._target.place_state(thread, entries, messages)

    def _threads(self) -> Iterator[Step]:
        while (at := self._target.progress.of(SUMMARIES)).offset < _FIRST_BYTES:
            messages: Messages = {}
            first, count = at.offset, 0
            while first < _FIRST_BYTES and count < BATCH_RECORDS:
                count += self._place_threads(THREAD_PREFIX + bytes([first]), messages)
                first += 1
            self._target.write(messages, SUMMARIES, Copied(first, at.records + count))
            yield Step(SUMMARIES, self._target.progress.of(SUMMARIES).offset, _FIRST_BYTES)

    def _place_threads(self, prefix: bytes, messages: Messages) -> int:
        """Add what is remembered of the threads whose entries begin so; how many."""
        count = 0
        for _, value in self._log.scan_state(SummariesProcessor.name, prefix, _ALL):
            if moved := moved_thread(value):
                key, entries = moved
                named = {(SummariesProcessor.name, name): entry for name, entry in entries.items()}
                self._target.place_state(key, named, messages)
                count += 1
        return count

    def _checkpoints(self) -> Iterator[Step]:
        entries = [(source.source, *entry) for source in self._status.sources for entry in self._parts(source)]
        while (at := self._target.progress.of(CHECKPOINTS).offset) < len(entries):
            messages: Messages = {}
            some = entries[at : at + BATCH_RECORDS]
            for source, part, state in some:
                self._target.place_checkpoint(source, part, state, messages)
            self._target.write(messages, CHECKPOINTS, Copied(at + len(some), at + len(some)))
            yield Step(CHECKPOINTS, self._target.progress.of(CHECKPOINTS).offset, len(entries))

    def _parts(self, source: SourceStatus) -> Iterator[tuple[str, bytes]]:
        """Give the checkpoints of a source in an order of their own, and last what it counted."""
        yield from sorted(self._log.checkpoints(source.source).items())
        told = SourceProgress(
            sequence=1,
            counts=dict(source.counts),
            last_event_iso=source.last_event_iso,
            last_append_ms=source.last_append_ms,
            last_checkpoint_ms=source.last_checkpoint_ms,
        )
        yield PROGRESS, encode_progress(told)

    def _check(self) -> None:
        for found in self._status.topics:
            moved = self._target.progress.of(found.topic).records
            if self._log.end_offset(found.topic) != found.end_offset or moved != found.records:
                raise LogError(
                    f"{moved} records of {found.topic} are moved, and there are {found.records}: something was"
                    " appended meanwhile; start the move again"
                )


def _id(record: Record) -> str | None:
    try:
        return _event(record.value).event.id
    except (msgspec.DecodeError, RecursionError):  # no event: nobody remembers it
        return None
