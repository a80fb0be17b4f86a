"""Checkpoints and counts of sources, in a compacted topic: the last record of a key counts.

A key is the source, a NUL and the part. Every key of a source lies in the partition of its name, so that one partition
tells all about it. The part `PROGRESS` is no checkpoint: it says who owns the source, how many transactions that were,
and what they counted, and every transaction of a source writes it.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from aiokafka.structs import ConsumerRecord, TopicPartition
from msgspec import Struct

from ingest.log.contract import LogDamagedError, LogError, SourceProgress, SourceStatus
from ingest.log.kafka.reader import Readers
from ingest.log.kafka.topics import CHECKPOINTS, partition_of, topic_name
from ingest.settings_kafka import KafkaSettings

PROGRESS: Final = "\0progress"
"""A part that no source can have: a part begins with no NUL."""

_NUL: Final = "\0"
_READ_RECORDS: Final = 5_000
_READ_BYTES: Final = 16 * 1024 * 1024
"""One read of the topic: enough to be fast, little enough to hold."""


class Progress(Struct, rename="camel", omit_defaults=True, frozen=True):
    """What a source's last transaction left; times are Unix milliseconds, counts those of all its transactions.

    `owner` is the copy that may write, `sequence` grows with each transaction.
    """

    owner: str = ""
    sequence: int = 0
    counts: dict[str, int] = {}
    last_event_iso: str | None = None
    last_append_ms: int | None = None
    last_checkpoint_ms: int | None = None

    def after(self, added: SourceProgress, *, moved: bool, now_ms: int) -> "Progress":
        """The progress after one more append; `moved` says whether it moves a checkpoint."""
        counts = dict(self.counts)
        for name, count in added.counts.items():
            counts[name] = counts.get(name, 0) + count
        return Progress(
            owner=self.owner,
            sequence=self.sequence + 1,
            counts=counts,
            last_event_iso=added.last_event_iso or self.last_event_iso,
            last_append_ms=now_ms,
            last_checkpoint_ms=now_ms if moved else self.last_checkpoint_ms,
        )

    def taken_over(self, owner: str) -> "Progress":
        """The progress once another copy owns the source."""
        return msgspec.structs.replace(self, owner=owner, sequence=self.sequence + 1)


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Progress).decode


def place_of(settings: KafkaSettings, source: str, partitions: int) -> TopicPartition:
    """Where everything about a source is."""
    return TopicPartition(topic_name(settings, CHECKPOINTS), partition_of(source, partitions))


def key_of(source: str, part: str) -> bytes:
    """The key of a part's checkpoint; raises `LogError` for names that would be ambiguous."""
    if _NUL in source or (part.startswith(_NUL) and part != PROGRESS):
        raise LogError(f"source {source!r}, part {part!r}: NUL is kept for the log's own use")
    return f"{source}{_NUL}{part}".encode()


def encode_progress(progress: Progress) -> bytes:
    """The value of a progress record."""
    return _encode(progress)


class CheckpointTable:
    """What one partition of the topic says, read from where the last look ended; of one source, or of all."""

    def __init__(self, place: TopicPartition, source: str | None = None) -> None:
        self.place = place
        self._source = source
        self._next = 0
        self._parts: dict[str, dict[str, bytes]] = {}
        self._progress: dict[str, Progress] = {}

    def parts(self, source: str) -> dict[str, bytes]:
        """The checkpoints of a source."""
        return dict(self._parts.get(source, {}))

    def progress(self, source: str) -> Progress:
        """The progress of a source; an empty one for a source that never wrote."""
        return self._progress.get(source, Progress())

    def statuses(self) -> list[SourceStatus]:
        """Every source, as `status` shows it."""
        return [
            SourceStatus(
                source,
                progress.counts,
                progress.last_event_iso,
                progress.last_append_ms,
                progress.last_checkpoint_ms,
                len(self._parts.get(source, {})),
            )
            for source, progress in self._progress.items()
        ]

    async def refresh(self, readers: Readers) -> None:
        """Read what is new, to the end of what is committed. Raises `LogDamagedError` for what is no checkpoint."""
        while found := await readers.read(self.place, self._next, _READ_RECORDS, _READ_BYTES):
            for record in found:
                self._apply(record)
            self._next = found[-1].offset + 1

    def applied(self, moved: Mapping[bytes, bytes | None], source: str) -> None:
        """Note what this process has itself committed."""
        for key, value in moved.items():
            self._put(source, key.decode().partition(_NUL)[2], value)

    def _apply(self, record: ConsumerRecord) -> None:
        try:
            source, found, part = record.key.decode().partition(_NUL)
        except (UnicodeDecodeError, AttributeError):
            found = ""
        if not found:
            raise self._damaged(record, "its key is none of a source's")
        if self._source in (None, source):
            try:
                self._put(source, part, record.value)
            except msgspec.MsgspecError as error:
                raise self._damaged(record, str(error)) from error

    def _put(self, source: str, part: str, value: bytes | None) -> None:
        if part == PROGRESS:
            self._progress[source] = _decode(value) if value is not None else Progress()
        elif value is None:
            self._parts.get(source, {}).pop(part, None)
        else:
            self._parts.setdefault(source, {})[part] = value

    def _damaged(self, record: ConsumerRecord, why: str) -> LogDamagedError:
        return LogDamagedError(f"{record.topic} {record.partition} at offset {record.offset}: {why}; see who writes it")
