"""What the sources of all agents' sessions have in common: reading a file to its end, its time, configured folders."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from adapters.contract import Element
from adapters.files.lines import read_lines
from adapters.files.parsers import LineParser


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
