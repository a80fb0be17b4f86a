"""Canonical events from files and from standard input.

Source: formats/session-triage-origin.md 1.3, E44.
"""

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, cast

from adapters.contract import ReadOptions, SourceError
from adapters.exports.canonical import CanonicalReader
from adapters.files.json_line import BadLine, decode_line
from ingest.clock import iso
from triage.report.gather import Gatherer
from triage.report.reading import rejection, take
from triage.report.tally import Tally
from triage.report.words import path_text

STDIN: Final = Path("-")
STDIN_NAME: Final = "stdin"

SPOOL_BYTES: Final = 32 * 1024 * 1024
"""A pipe is held in memory up to this size, above it in an unnamed temporary file: it must be sought in."""

SNIFF_BYTES: Final = 1024 * 1024
"""How much of a file is looked at to tell one JSON value from a line of many."""

_COPY_BYTES: Final = 1024 * 1024


def read_event_file(gatherer: Gatherer, path: Path) -> None:
    """Read one file of canonical events; what is wrong with it becomes a problem."""
    try:
        with path.open("rb") as stream:
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            if stream.seekable():
                _read(gatherer, stream, path, changed)
            else:
                _read_spooled(gatherer, stream, path, changed)
    except OSError as error:
        gatherer.problem(rejection(path_text(path), "unreadable", error.strerror or str(error)))


def read_stdin(gatherer: Gatherer, stdin: BinaryIO, now: datetime) -> None:
    """Read canonical events from standard input until its end."""
    _read_spooled(gatherer, stdin, Path(STDIN_NAME), now)


def _read_spooled(gatherer: Gatherer, stream: BinaryIO, path: Path, changed: datetime) -> None:
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        while block := stream.read(_COPY_BYTES):
            spool.write(block)
        _read(gatherer, cast("BinaryIO", spool), path, changed)


def _read(gatherer: Gatherer, stream: BinaryIO, path: Path, changed: datetime) -> None:
    updated = iso(changed.timestamp())
    name = path_text(path)
    tally = Tally(f"canonical:{Path(name).name}", name, updated, by_entry=False, file_format=file_format(stream))
    source = gatherer.source(tally)
    elements = CanonicalReader().read(stream, path, ReadOptions())
    try:
        take(gatherer, elements, source, name, obeys_cutoff=True)
    except SourceError as error:
        gatherer.problem(rejection(path_text(path), "unreadable", str(error)))


def file_format(stream: BinaryIO) -> str:
    """Say `json` for a file of one JSON value, `jsonl` for lines; a single line is one value, as in the origin."""
    stream.seek(0)
    head = stream.read(SNIFF_BYTES).removeprefix(b"\xef\xbb\xbf").strip().replace(b"\r", b"\n")
    first, _, rest = head.partition(b"\n")
    if not rest.strip():
        return "json" if first.startswith(b"[") or _is_json(first) else "jsonl"
    if head.startswith(b"["):
        return "jsonl" if _is_json(first) else "json"
    return "jsonl" if _is_json(first) or not _is_json(head) else "json"


def _is_json(raw: bytes) -> bool:
    try:
        decode_line(raw)
    except BadLine:
        return False
    return True
