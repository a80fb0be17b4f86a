"""What the sources of all agents' sessions have in common: two ways to read a file, its time, configured folders."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from adapters.contract import Element, ReadOptions
from adapters.files.lines import read_lines
from adapters.files.parsers import LineParser

H = TypeVar("H")
"""What an agent writes at the head of a file about the whole of it."""


@dataclass(frozen=True, slots=True)
class SessionFiles(Generic[H]):
    """How an agent's files are read: `find` what stands at the head, and `make` a parser that may ask for it.

    `find` gets a stream at its start. `make` gets the path, when the file was last written (Unix seconds, or None),
    the options, and what gives the head: a parser asks when it must, since a live file may not have one yet.
    """

    find: Callable[[BinaryIO], H | None]
    make: Callable[[Path, float | None, ReadOptions, Callable[[], H | None]], LineParser]

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of a finished file in order, holding one line at a time."""
        head: H | None = None
        if stream.seekable():
            stream.seek(0)
            head = self.find(stream)
            stream.seek(0)
        yield from read_all(stream, self.make(path, modified(path), options, lambda: head))

    def live(self, path: Path, status: os.stat_result, options: ReadOptions) -> LineParser:
        """Give the parser of a file that grows; it looks for the head when it needs it."""
        return self.make(path, status.st_mtime, options, partial(self._head_of, path))

    def _head_of(self, path: Path) -> H | None:
        try:
            with path.open("rb") as stream:
                return self.find(stream)
        except OSError:  # gone since its lines were read; the tailer names files it cannot read
            return None


def read_all(stream: BinaryIO, parser: LineParser) -> Iterator[Element]:
    """Yield every element of a finished file in order, holding one line at a time."""
    for line in read_lines(stream, 0, None, final=True):
        yield from parser.feed(line)


def modified(path: Path) -> float | None:
    """When a file was last written, in Unix seconds; None when it cannot be said."""
    try:
        return path.stat().st_mtime
    except OSError:  # a member of an archive has a name but no file; it only lacks one time to infer from
        return None


def absolute(value: str, home: Path) -> Path | None:
    """Give a configured folder; a relative one is relative to wherever the agent ran, which nobody knows."""
    path = home / value[1:].lstrip("/") if value == "~" or value.startswith("~/") else Path(value)
    return path if path.is_absolute() else None
