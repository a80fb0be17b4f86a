"""One file of the drop folder while it is read: its hash, its elements in bounded batches, its report."""

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Self

from adapters.contract import (
    Element,
    Heard,
    Reader,
    ReadOptions,
    Rejected,
    Skipped,
    SourceError,
    TransientSourceError,
    Warned,
)
from adapters.files.drop_folder import Look, printable
from schemas.report import FileReport

MAX_ELEMENTS: Final = 1000
MAX_BYTES: Final = 1024 * 1024
"""A batch is one transaction: big enough to share a disk sync (5 ms), small enough to hold in memory twice."""

_ELEMENT_BYTES: Final = 256
"""What an element costs beside its text, about."""

_CHUNK_BYTES: Final = 1024 * 1024
_logger = logging.getLogger(__name__)


class NotRegularError(Exception):
    """A link, a pipe, a device: never opened."""


class StoppedError(Exception):
    """The daemon stops; the file is read another time."""


@dataclass(slots=True)
class DropFile:
    """A regular file, open for reading; a context manager. Opening raises `OSError` or `NotRegularError`."""

    path: Path
    stop: threading.Event
    stream: BinaryIO = field(init=False)
    before: Look = field(init=False)

    def __post_init__(self) -> None:
        fd = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        self.before = Look.of(os.fstat(fd))
        if not self.before.regular:
            os.close(fd)
            raise NotRegularError
        self.stream = os.fdopen(fd, "rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def digest(self) -> str:
        """SHA-256 of the content in hexadecimal; raises `StoppedError`."""
        digest = hashlib.sha256()
        self.stream.seek(0)
        while chunk := self.stream.read(_CHUNK_BYTES):
            if self.stop.is_set():
                raise StoppedError
            digest.update(chunk)
        self.stream.seek(0)
        return digest.hexdigest()

    def unchanged(self) -> bool:
        """Whether the file is still what was opened, under its name."""
        try:
            return Look.of(self.path.lstat()) == self.before == Look.of(os.fstat(self.stream.fileno()))
        except FileNotFoundError:
            return False


@dataclass(slots=True)
class Reading:
    """The elements of one file in batches; those before `skip` are counted in the report only."""

    file: DropFile
    reader: Reader
    options: ReadOptions
    skip: int = 0
    report: FileReport = field(init=False)
    taken: int = 0
    """Elements that have gone by, skipped ones included."""
    ended: bool = False
    transient: bool = False
    """Whether the reader gave up for a reason that may pass."""
    _elements: Iterator[Element] = field(init=False)
    _threads: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.report = FileReport(path=printable(self.file.path.name), recognised_as=self.reader.name)
        self._elements = self._read()

    def batch(self) -> list[Element]:
        """The next elements; fewer than the bound, or none, once `ended`. Raises `StoppedError`."""
        elements: list[Element] = []
        size = 0
        while len(elements) < MAX_ELEMENTS and size < MAX_BYTES:
            element = self._next()
            if element is None:
                self.ended = True
                break
            self._note(element)
            if self.taken > self.skip:
                elements.append(element)
                size += _ELEMENT_BYTES + _bytes_of(element)
        return elements

    def _read(self) -> Iterator[Element]:
        # A generator, so that what `read` raises at once is met where the elements are asked for.
        yield from self.reader.read(self.file.stream, self.file.path, self.options)

    def _next(self) -> Element | None:
        """One element, or None at the end; what the reader raises ends the file, not the folder."""
        if self.file.stop.is_set():
            raise StoppedError
        try:
            return next(self._elements, None)
        except SourceError as error:
            self.transient = isinstance(error, TransientSourceError)
            self.report.error = str(error)
        except OSError as error:
            self.report.error = f"cannot be read: {error.strerror or error}"
        except Exception as error:
            if self.file.stop.is_set():  # the file was closed under a reader that nobody waits for
                raise StoppedError from None
            _logger.exception("drop-reader-failed")
            self.report.error = f"the reader of {self.reader.name} failed: {type(error).__name__}: {error}"
        return None

    def _note(self, element: Element) -> None:
        self.taken += 1
        match element:
            case Heard(thread=thread):
                self.report.emit()
                # Hashes, not names: a file may hold a million conversations.
                self._threads.add(hash((thread.provider, thread.account, thread.thread_id)))
                self.report.conversations = len(self._threads)
            case Skipped(outcome=outcome, what=what, count=count):
                self.report.skip(outcome, what, count)
            case Rejected(where=where, reason=reason, detail=detail):
                self.report.reject(where, f"{reason}: {detail}" if detail else reason)
            case Warned(where=where, message=message):
                self.report.warn(f"{where}: {message}")


Recognise = Callable[[Path], Reader | None]
"""Finds the reader of a file by its shape; may raise `OSError`."""


def _bytes_of(element: Element) -> int:
    match element:
        case Heard(event=event):
            return len(event.text)
        case Rejected(sample=sample):
            return len(sample)
        case _:
            return 0
