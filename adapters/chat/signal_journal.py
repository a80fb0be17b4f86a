"""The journal of what signal-cli handed out and the log does not have yet: an append-only file, synced before anything.

signal-cli forgets an envelope once it has given it, so the file is the only copy until the log has its events. Entries
are numbered; the number of the last committed one is part of the log's checkpoint, and so a crash at any point neither
loses nor repeats one. Source: section 5.1 of the chat platform notes.
"""

import fcntl
import os
import re
import threading
import uuid
import zlib
from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Final

from msgspec import Struct

from adapters.chat.signal_wire import Line
from adapters.contract import PermanentSourceError, SourceError, TransientSourceError

BATCH: Final = 100
BATCH_BYTES: Final = 4 * 1024 * 1024
"""How much goes into one append to the log."""

MAX_WAITING_BYTES: Final = 8 * 1024 * 1024
"""Entries that wait, held in memory too: some ten thousand messages."""

MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""The file is emptied whenever nothing waits; one that never comes to that is filled no further until it does."""

_HEAD: Final = re.compile(rb"session-triage signal journal 1 ([0-9a-f]{32})\n")
_ENTRY: Final = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18}) ([0-9a-f]{8}) (.*)", re.DOTALL)


class Entry(Struct, frozen=True, gc=False):
    """A line with its number, from 1 on; `damaged` says that the file no longer holds what was written."""

    number: int
    line: Line
    damaged: bool = False


class Journal:
    """The file at `path`, whose waiting entries are in `waiting`, oldest first. Methods may be called from any thread.

    `identity` tells one file from another that took its place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.identity = ""
        self.waiting: deque[Entry] = deque()
        self.torn_bytes = 0
        """What a crash of the machine left of an entry that was never complete."""
        self._number = 0
        self._waiting_bytes = 0
        self._head_bytes = self._size = 0
        self._file = -1
        self._lock = threading.Lock()

    def open(self, identity: str, number: int) -> None:
        """Open the file, or make it; entries up to `number` of the journal `identity` are in the log already.

        Raises `SourceError`.
        """
        try:
            content = self._open()
        except OSError as error:
            self.close()
            raise PermanentSourceError(f"the journal cannot be used: {self.path}: {error.strerror}") from None
        except SourceError:
            self.close()
            raise
        committed = number if identity == self.identity else 0
        self._number = committed
        for entry in self._entries(content[self._head_bytes :]):
            self._number = max(self._number, entry.number)
            if entry.number > committed:
                self._wait_for(entry)
        if not self.waiting and self._size > self._head_bytes:
            self._empty()

    def append(self, lines: Sequence[Line]) -> None:
        """Write lines durably; raises `TransientSourceError`, and then they wait in memory alone."""
        with self._lock:
            entries = [Entry(self._number + place, line) for place, line in enumerate(lines, 1)]
            self._number += len(entries)
            for entry in entries:
                self._wait_for(entry)
            try:
                _write(self._file, b"".join(map(_encoded, entries)))
                os.fsync(self._file)
                self._size = os.fstat(self._file).st_size
            except OSError as error:
                os.ftruncate(self._file, self._size)  # half an entry must not stand before the next one
                raise TransientSourceError(f"the journal cannot be written: {self.path}: {error.strerror}") from None

    def batch(self) -> list[Entry]:
        """Give the entries to bring into the log next: the first ones that wait, one at least if any."""
        with self._lock:
            found: list[Entry] = []
            size = 0
            for entry in self.waiting:
                size += len(entry.line.raw)
                if found and (len(found) == BATCH or size > BATCH_BYTES):
                    break
                found.append(entry)
            return found

    def done(self, number: int) -> None:
        """Forget the entries up to `number`, which are committed."""
        with self._lock:
            for entry in list(takewhile(lambda waiting: waiting.number <= number, self.waiting)):
                self._waiting_bytes -= len(entry.line.raw)
                self.waiting.popleft()
            if not self.waiting and self._size > self._head_bytes:
                self._empty()

    @property
    def full(self) -> bool:
        """Whether nothing more should be asked for until what waits is in the log."""
        return self._waiting_bytes > MAX_WAITING_BYTES or self._size > MAX_FILE_BYTES

    def close(self) -> None:
        """Close the file; what waits stays in it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _open(self) -> bytes:
        """Open, lock and begin the file, and give what it holds; raises `OSError` and `SourceError`."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TransientSourceError(f"another process holds the journal {self.path}") from None
        content = self._content()
        head = _HEAD.match(content)
        if content and head is None:
            words = f"{self.path} is no journal of this version: move it away, so that whoever wrote it can read it"
            raise PermanentSourceError(words)
        self.identity = head[1].decode() if head else uuid.uuid4().hex
        written = f"session-triage signal journal 1 {self.identity}\n".encode()
        self._head_bytes = len(written)
        if head is None:
            _write(self._file, written)
            os.fsync(self._file)
            _sync_folder(self.path.parent)
            self._size = len(written)
        return content

    def _content(self) -> bytes:
        self._size = os.fstat(self._file).st_size
        content = os.pread(self._file, self._size, 0)
        self.torn_bytes = len(content) - content.rfind(b"\n") - 1
        if self.torn_bytes:
            self._size -= self.torn_bytes
            os.ftruncate(self._file, self._size)
        return content[: self._size]

    def _entries(self, content: bytes) -> list[Entry]:
        found, number = [], 0
        for raw in content.split(b"\n")[:-1]:
            parts = _ENTRY.fullmatch(raw)
            number = int(parts[1]) if parts and int(parts[1]) > number else number + 1
            if parts and int(parts[3], 16) == zlib.crc32(parts[4]):
                found.append(Entry(number, Line(parts[4], int(parts[2]))))
            else:
                found.append(Entry(number, Line(raw, len(raw)), damaged=True))
        return found

    def _wait_for(self, entry: Entry) -> None:
        self.waiting.append(entry)
        self._waiting_bytes += len(entry.line.raw)

    def _empty(self) -> None:
        # Not synced: entries that come back with the machine are known by their numbers to be in the log.
        os.ftruncate(self._file, self._head_bytes)
        self._size = self._head_bytes


def _encoded(entry: Entry) -> bytes:
    raw = entry.line.raw
    return b"%d %d %08x %b\n" % (entry.number, entry.line.size, zlib.crc32(raw), raw)


def _write(file: int, data: bytes) -> None:
    """Write all of it: a system may take less at a time than it is given."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
