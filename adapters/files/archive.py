"""What a person gives, as a sequence of members: a folder, a ZIP archive by content (`zip_archive`), archives in it.

Links are never followed, and no name from outside is ever used to write.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from adapters.contract import HEAD_BYTES, FileHead, PermanentSourceError
from adapters.files.archive_directory import NoArchiveError, count_entries, find_directory
from adapters.files.archive_head import PEEK_BYTES, TELLING, nature

OnBytes = Callable[[int], object]
"""Told how many bytes of a member are unpacked."""


class Member(Protocol):
    """One file of what a person gave."""

    path: Path
    """For display: the archive, then the cleaned name inside it."""
    size: int
    packed_size: int

    def head(self) -> FileHead:
        """Read as much of the beginning as tells what it is; raises `SourceError`."""
        ...

    def open(self, on_bytes: OnBytes | None = None) -> AbstractContextManager[BinaryIO]:
        """Open for reading: seekable, with a file descriptor of its own; raises `SourceError`."""
        ...


class FileMember:
    """A file on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = self.packed_size = 0

    def head(self) -> FileHead:
        """Read the beginning; raises `OSError`."""
        with self.open() as stream:
            start = stream.read(PEEK_BYTES)
            if nature(start) in TELLING:
                start += stream.read(HEAD_BYTES - len(start))
            return FileHead(self.path, start, self.size)

    @contextmanager
    def open(self, on_bytes: OnBytes | None = None) -> Iterator[BinaryIO]:
        """Open a regular file; raises `OSError`, and `PermanentSourceError` for a pipe or device."""
        del on_bytes
        # Opening a pipe would wait for its writer.
        with os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISDIR(status.st_mode) or not stat.S_ISREG(status.st_mode):
                raise PermanentSourceError("it is no regular file; save it to one first")
            self.size = self.packed_size = status.st_size
            yield stream


def is_archive(stream: BinaryIO) -> bool:
    """Whether a file is a ZIP archive, by its beginning or, where something stands before it, by its end."""
    stream.seek(0)
    if nature(stream.read(PEEK_BYTES)) == "archive":
        return True
    try:
        directory = find_directory(stream)
    except NoArchiveError:
        return False
    return count_entries(stream, directory, 0) > 0
