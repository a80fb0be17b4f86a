"""The two ends of an import: a file of canonical JSON Lines, or the log beside a daemon that may be running."""

from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from ingest.import_state import MemoryState
from ingest.log.contract import EventLog, NewRecord, Topic
from ingest.log.state_contract import StateLog
from ingest.whole_files import whole_file

BATCH_BYTES: Final = 4 * 1024 * 1024
"""Captured records of one append to the log: large enough that the disk's sync does not count."""


class OutputSink:
    """Writes canonical events as JSON Lines; a file appears whole or not at all, `-` is standard output."""

    keeps_captured = False

    def __init__(self, output: str) -> None:
        self.state = MemoryState()
        self._file = whole_file(output)

    def __enter__(self) -> Self:
        self._stream = self._file.__enter__()
        return self

    def take(self, record: NewRecord | None, outputs: Sequence[NewRecord]) -> None:
        """Write the events; what was rejected stands in the report."""
        del record
        self.write([output.value for output in outputs if output.topic is Topic.EVENTS])

    def write(self, lines: Sequence[bytes]) -> None:
        """Write the lines of events."""
        if lines:
            self._stream.write(b"\n".join((*lines, b"")))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.__exit__(kind, error, at)


class LogSink:
    """Appends to the log what it does not know yet; importing the same again adds no event."""

    keeps_captured = True

    def __init__(self, log: EventLog, known: StateLog | None = None) -> None:
        """`known` is asked for what was imported before; without it that is left to whoever processes the log."""
        self.state = MemoryState(known)
        self._log = log
        self._batch: list[NewRecord] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def take(self, record: NewRecord | None, outputs: Sequence[NewRecord]) -> None:
        """Take a record unless all its events are known."""
        if record is None or (record.topic is Topic.CAPTURED and not outputs):
            return
        self._batch.append(record)
        self._bytes += len(record.value)
        if self._bytes >= BATCH_BYTES:
            self._append()

    def _append(self) -> None:
        if self._batch:
            self._log.append(self._batch)
            self._batch, self._bytes = [], 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # Also when interrupted: what was read is good, and reading it again adds nothing.
        self._append()
