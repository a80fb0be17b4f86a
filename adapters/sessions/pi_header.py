"""The header of a pi session, and what stands in for a header that is missing or broken.

Source: sections 2.1, 2.2, 2.8 of the format page; B9, B10, B12, B14, E3 to E9.
"""

import re
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from adapters.files.json_line import BadLine
from adapters.sessions.pi_shapes import Entry, decoder, is_header
from adapters.sessions.values import name

MAX_HEADER_BYTES: Final = 4 * 1024 * 1024
"""How far a header is looked for, and the longest one found: one with megabytes of metadata is still a header."""

MAX_HEADER_LINES: Final = 16
"""Lines that may stand before a header (a title, blank and broken ones), with room to spare."""

_BOM: Final = b"\xef\xbb\xbf"
_KNOWN_VERSIONS: Final = frozenset({"1", "2", "3", "4"})
_SESSION_ID: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


class Header(Struct, frozen=True, gc=False):
    """What a header says, as far as it can be used: its own id and time, the working directory, an unknown version."""

    session_id: str | None = None
    time: object = None
    workspace: str | None = None
    unknown_version: str | None = None


def header_of(entry: Entry) -> Header:
    """Read a header line; members of wrong types are as if absent. `parentSession` is never opened."""
    time = entry.timestamp if entry.timestamp is not None else entry.created_at
    workspace = entry.cwd if isinstance(entry.cwd, str) and entry.cwd.strip() else None
    return Header(name(entry.id), time, workspace, _unknown_version(entry))


def _unknown_version(entry: Entry) -> str | None:
    version = entry.version if entry.version is not None else entry.v
    if version is None:  # version 1 has none
        return None
    text = str(int(version)) if isinstance(version, float) and version.is_integer() else str(version)
    return None if text.strip() in _KNOWN_VERSIONS else text[:40]


def find_header(stream: BinaryIO) -> Header | None:
    """Find the header within the first lines of a file, in bounded time; the stream must stand at its start."""
    left = MAX_HEADER_BYTES
    for number in range(MAX_HEADER_LINES):
        line = stream.readline(left)
        if not line:
            return None
        left -= len(line)
        entry = _entry(line.removeprefix(_BOM) if number == 0 else line)
        if entry is not None and is_header(entry):
            return header_of(entry)
    return None


def _entry(line: bytes) -> Entry | None:
    try:
        return decoder.decode(line)
    except BadLine:
        return None


def read_header(path: Path) -> Header | None:
    """Find a file's header; raises `OSError` when the file cannot be read."""
    with path.open("rb") as stream:
        return find_header(stream)


def name_id(path: Path) -> str | None:
    """Give the session id that pi puts in a file's name: what follows the first underscore (ids may hold more)."""
    found = _SESSION_ID.fullmatch(path.stem.partition("_")[2])
    return name(found[0]) if found else None
