"""The event log: topics, consumer groups, checkpoints and processor state, whatever the engine.

Everything a call writes is one transaction, durable when the call returns: after a power cut, what was acknowledged is
there. Offsets of a topic partition begin at 1, grow and are never used twice; on Kafka some are never used at all. The
embedded engine has one partition a topic; it alone keeps processors' state (`ingest.log.state_contract`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct


class Topic(StrEnum):
    """The topics; names as on Kafka."""

    CAPTURED = "conversations.captured"
    EVENTS = "conversations.events"
    SIGNALS = "conversations.signals"
    SUMMARIES = "conversations.summaries"
    REJECTED = "conversations.rejected"
    DECISIONS = "conversations.decisions"


Place = tuple[Topic, int]
"""A topic partition."""


class LogError(Exception):
    """The log cannot do what was asked; the message says what to do."""


class FencedError(LogError):
    """A newer copy of the same source has taken over; this one must stop."""


class LogBusyError(LogError):
    """Another process holds the log for longer than the time-out."""


class LogFullError(LogError):
    """No space is left where the log lies; nothing was written, and it goes on as soon as there is some."""


class LogDamagedError(LogError):
    """What is stored cannot be trusted: a person must look at it; nothing was deleted."""


# A struct, not a dataclass: one is made for each event, at a tenth of the cost.
class NewRecord(Struct, frozen=True, gc=False):
    """A record to append. `key` decides the partition; `value` is UTF-8 JSON."""

    topic: Topic
    key: str
    value: bytes


class Record(Struct, frozen=True, gc=False):
    """A record as read: `offset` is its place in its topic partition, `time_ms` when it was appended (Unix, ms)."""

    topic: Topic
    offset: int
    key: str
    value: bytes
    time_ms: int
    partition: int = 0


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """Counts that a source adds with one append, kept beside its checkpoints for `status`."""

    counts: Mapping[str, int] = field(default_factory=dict)
    last_event_iso: str | None = None


class SourceLog(Protocol):
    """The log as one source sees it. Opening a newer one for the same source fences this one."""

    source: str

    def checkpoints(self) -> dict[str, bytes]:
        """Every part's committed state."""
        ...

    def append(
        self,
        records: Sequence[NewRecord],
        checkpoints: Mapping[str, bytes | None],
        progress: SourceProgress = SourceProgress(),
    ) -> None:
        """Append records and move checkpoints (None forgets a part) in one transaction; durable on return.

        Blocks; callable from any thread; concurrent calls of several sources share one disk sync. Raises `FencedError`.
        """
        ...


StateKey = tuple[str, bytes]
"""A processor's name for a store, and the key in it."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a topic keeps records: the oldest go when either bound is passed; None is no bound."""

    max_age_s: float | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What a trim removed: records by topic, and remembered ids of events that left the log."""

    records: Mapping[Topic, int] = field(default_factory=dict)
    remembered: int = 0


@dataclass(frozen=True, slots=True)
class TopicStatus:
    """A topic as `status` shows it, over all its partitions; `oldest_ms` is the first record's time.

    `bytes` are those of keys and values, None where the engine does not tell.
    """

    topic: Topic
    records: int
    bytes: int | None
    end_offset: int
    oldest_ms: int | None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source as `status` shows it; times are Unix milliseconds, None where there was none yet."""

    source: str
    counts: Mapping[str, int]
    last_event_iso: str | None
    last_append_ms: int | None
    last_checkpoint_ms: int | None
    parts: int
    """How many parts (files, rooms) have a checkpoint."""


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """A consumer group on one partition as `status` shows it; `lag` is in records, or on Kafka at most so many."""

    group: str
    topic: Topic
    committed: int
    end_offset: int
    lag: int
    counts: Mapping[str, int]
    last_commit_ms: int | None
    partition: int = 0


@dataclass(frozen=True, slots=True)
class LogStatus:
    """The whole log as `status` shows it; `size_bytes` is what it takes on disk, None where the engine does not tell.

    `exact` is false where numbers of records are upper bounds: on Kafka the marks of transactions take offsets too.
    """

    topics: Sequence[TopicStatus]
    sources: Sequence[SourceStatus]
    groups: Sequence[GroupStatus]
    size_bytes: int | None
    exact: bool = True


class EventLog(Protocol):
    """A durable log, whatever its engine. It is its own context manager, and closed at the end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def where(self) -> str:
        """Where the log is, in words for people: a file, or brokers."""
        ...

    def open_source(self, source: str) -> SourceLog:
        """Take over a source: earlier holders are fenced."""
        ...

    def append(self, records: Sequence[NewRecord]) -> None:
        """Append records that have no source to resume, such as an import's; durable on return."""
        ...

    def partitions(self, topic: Topic) -> int:
        """How many partitions a topic has; they are numbered from 0."""
        ...

    def read(self, topic: Topic, after: int, limit: int, max_bytes: int, partition: int = 0) -> list[Record]:
        """Records above an offset, in order: at most `limit`, and `max_bytes` unless one; none only at the end."""
        ...

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        """The highest offset given out in a partition; 0 when empty."""
        ...

    def wait_for_append(self, positions: Mapping[Place, int], timeout_s: float) -> bool:
        """Wait until a partition has a record above its position, appended by any process; whether one has."""
        ...

    def register_group(self, group: str, topic: Topic) -> None:
        """Make a consumer group durable before its first commit, so that retention keeps what it has not read."""
        ...

    def forget_group(self, group: str, topic: Topic) -> None:
        """Drop a consumer group: it protects nothing any longer, and would begin at 0 again."""
        ...

    def committed(self, group: str, topic: Topic, partition: int = 0) -> int:
        """The last offset that a consumer group has processed; 0 before the first."""
        ...

    def commit_offset(self, group: str, topic: Topic, offset: int, partition: int = 0) -> None:
        """Note how far a group has come that keeps its own state and offsets elsewhere; going back is passed over."""
        ...

    def trim(self, policies: Mapping[Topic, Retention], now_ms: int, ignore_groups: Collection[str] = ()) -> Trimmed:
        """Remove the oldest records by policy, never past what a durable group has yet to read.

        `ignore_groups` names stopped groups that protect nothing this time.
        """
        ...

    def problems(self) -> list[str]:
        """What keeps the log from working as it should, in words, asked anew; never raises."""
        ...

    def status(self) -> LogStatus:
        """Everything `status` shows; quick whatever the size of the log."""
        ...

    def finish_within(self, seconds: float) -> None:
        """Let no call wait longer than that from now on, also one under way: it raises `LogError` then.

        Does nothing by itself, for a log that waits for nobody else.
        """

    def close(self) -> None:
        """Finish what was begun and release the log."""
        ...
