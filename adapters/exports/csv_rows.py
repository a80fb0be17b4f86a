"""Rows of a CSV file with their exact place, read by the standard library within bounds.

Any of the separators comma, semicolon and tab; UTF-8 with or without a mark, UTF-16 with one, else Windows-1252. A row
that is no row (an open quotation, too few or too many cells) costs only those of its lines that are no rows alone.
"""

import codecs
import csv
import io
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from adapters.contract import MAX_SAMPLE_BYTES
from adapters.files.lines import Line, LongLine, read_lines

MAX_CELL_CHARS: Final = 16 * 1024 * 1024
"""Longest cell: a message; an open quotation swallows no more than this."""

_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEPARATORS: Final = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Form:
    """The first row's names, without case and blanks, and the separator."""

    names: list[str]
    separator: str


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row and the bytes `start` to `start + size` that hold it; None when they are no row."""

    start: int
    size: int
    cells: list[str] | None
    sample: bytes = b""
    detail: str = ""


def columns_of(start: bytes) -> Form:
    """Read the header in the first bytes of a file; never raises. No CSV gives one name or none."""
    text = _decode(start[2:], start[:2]) if start[:2] in _UTF16 else _text(start.removeprefix(_BOM))
    line = text.lstrip().split("\n", 1)[0].strip("\r\ufeff")
    if len(line) > 4096 or "\0" in line:  # noqa: PLR2004 - real headers have 60 characters
        return Form([], ",")
    separator = max(_SEPARATORS, key=line.count)
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        cells = []
    return Form(["".join(cell.split()).lower() for cell in cells], separator)


def rows(stream: BinaryIO) -> tuple[BinaryIO, Form, Iterator[Row]]:
    """Open a file: the stream that places refer to, its form, and its rows behind the header."""
    stream.seek(0)
    start = stream.read(64 * 1024)
    form = columns_of(start)
    source = _as_utf8(stream) if start[:2] in _UTF16 else stream
    return source, form, _rows(source, form)


def read_row(source: BinaryIO, form: Form, start: int, size: int) -> Row:
    """Read a row again at its place."""
    source.seek(start)
    raw = source.read(size)
    parsed = _parse(_text(raw).splitlines(keepends=True), form)
    return Row(start, size, parsed[0] if parsed else None, raw[:MAX_SAMPLE_BYTES])


def _rows(source: BinaryIO, form: Form) -> Iterator[Row]:
    csv.field_size_limit(MAX_CELL_CHARS)
    lines = _Lines(source)
    reader = csv.reader(lines, delimiter=form.separator, strict=True)
    header = True
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield from _salvage(lines.take(), form, str(error))
            reader = csv.reader(lines, delimiter=form.separator, strict=True)
            continue
        held = lines.take()
        if header:
            header = False
        elif len(cells) == len(form.names):
            yield Row(held[0].start, held[-1].end - held[0].start, cells, _sample(held))
        elif cells:
            yield from _salvage(held, form, f"{len(cells)} cells, {len(form.names)} expected")
    if left := lines.take():
        yield from _salvage(left, form, "the file ends inside a row")
    for long in lines.long:
        yield Row(long.start, long.size, None, long.sample, "line too long")


def _salvage(held: list[Line], form: Form, detail: str) -> Iterator[Row]:
    """Give the lines that are rows by themselves, and as one what stands between them."""
    bad: list[Line] = []
    for line in held:
        parsed = _parse([_text(line.raw)], form) if len(held) > 1 else None
        if parsed and len(parsed) == 1 and len(parsed[0]) == len(form.names):
            if bad:
                yield _bad(bad, detail)
                bad = []
            yield Row(line.start, line.end - line.start, parsed[0], line.raw[:MAX_SAMPLE_BYTES])
        else:
            bad.append(line)
    if bad:
        yield _bad(bad, detail)


def _bad(held: list[Line], detail: str) -> Row:
    return Row(held[0].start, held[-1].end - held[0].start, None, _sample(held), detail)


def _sample(held: list[Line]) -> bytes:
    return b"\n".join(line.raw for line in held[:64])[:MAX_SAMPLE_BYTES]


def _parse(lines: list[str], form: Form) -> list[list[str]] | None:
    try:
        return list(csv.reader(lines, delimiter=form.separator, strict=True))
    except csv.Error:
        return None


class _Lines:
    """Feeds lines to the CSV reader and remembers those of the row at hand."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = read_lines(source, 0, None, final=True)
        self._held: list[Line] = []
        self.long: list[LongLine] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        for line in self._source:
            if isinstance(line, LongLine):
                self.long.append(line)
                continue
            self._held.append(line)
            return _text(line.raw) + "\n"
        raise StopIteration

    def take(self) -> list[Line]:
        held, self._held = self._held, []
        return held


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _decode(raw: bytes, mark: bytes) -> str:
    return raw.decode("utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be", "replace")


def _as_utf8(stream: BinaryIO) -> BinaryIO:
    """Copy UTF-16 into a file of UTF-8 that is gone when it is closed."""
    stream.seek(0)
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it, when it has read the rows a second time
    reader = io.TextIOWrapper(stream, "utf-16", "replace", newline="")
    writer = io.TextIOWrapper(copy, "utf-8", newline="", write_through=True)
    shutil.copyfileobj(reader, writer)
    reader.detach()
    writer.detach()
    copy.seek(0)
    return copy
