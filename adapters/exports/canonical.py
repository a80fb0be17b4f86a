"""Files of canonical events: JSON Lines, a JSON array, `{"events": […]}`, or one event; flat events too.

Source: formats/session-triage-origin.md 1.3, E44. Unlike the origin every line that is no event is counted and named.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, ReadOptions, Rejected
from adapters.exports.canonical_event import EVENT_MARKS, CanonicalEvents
from adapters.files.json_line import BadLine, decode_line
from adapters.files.json_stream import Cut, Slice, TooLong, array_elements
from adapters.files.lines import LongLine, read_lines
from schemas.event import decode

MAX_WHOLE_BYTES: Final = 32 * 1024 * 1024
"""A single pretty-printed object is read whole up to this size; real files of that shape hold one event."""

_BOM: Final = b"\xef\xbb\xbf"
_EVENTS_FIRST: Final = re.compile(rb'\s*\{\s*"events"\s*:\s*(?=\[)')
_MARK: Final = re.compile(rb'"schemaVersion"\s*:\s*"1\.\d+"')


class CanonicalReader:
    """Reads files of canonical conversation events."""

    name = "canonical events"
    provider = "canonical"

    def recognises(self, head: FileHead) -> bool:
        """Whether the file begins with an event of schema 1.x, alone, in an array or as a line."""
        start = head.start.removeprefix(_BOM).lstrip()
        if not start.startswith((b"{", b"[")):
            return False
        first = _first_object(start)
        if first is None:  # longer than the head, or broken: go by the mark
            return bool(_MARK.search(start)) and b'"event"' in start
        return first.get("schemaVersion") == "1.0" or ("source" in first and isinstance(first.get("event"), dict))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every event of the file; raises `PermanentSourceError` when it is no JSON at all."""
        events = CanonicalEvents(options.account)
        begin = _begin(stream)
        stream.seek(begin)
        head = stream.read(4096)
        white = len(head) - len(head.lstrip())
        if head.lstrip().startswith(b"["):
            yield from _array(stream, begin + white, path, events)
        elif found := _EVENTS_FIRST.match(head):
            yield from _array(stream, begin + found.end(), path, events)
        else:
            yield from _lines(stream, begin, path, events)


def _begin(stream: BinaryIO) -> int:
    stream.seek(0)
    return len(_BOM) if stream.read(len(_BOM)) == _BOM else 0


def _first_object(start: bytes) -> dict[str, Any] | None:
    """Give the first object of a head that may be an event, if it is there whole."""
    wrapped = _EVENTS_FIRST.match(start)
    if start.startswith(b"{") and not wrapped:
        value = _decoded(start.partition(b"\n")[0]) or _decoded(start)
        items = value.get("events") if value else None
        return next((item for item in items if isinstance(item, dict)), None) if isinstance(items, list) else value
    first = next(array_elements(io.BytesIO(start), wrapped.end() if wrapped else 0), None)
    return _decoded(first.raw) if isinstance(first, Slice) else None


def _decoded(raw: bytes) -> dict[str, Any] | None:
    try:
        value = decode_line(raw)
    except BadLine:
        return None
    return value if isinstance(value, dict) else None


def _array(stream: BinaryIO, start: int, path: Path, events: CanonicalEvents) -> Iterator[Element]:
    for piece in array_elements(stream, start):
        where = f"{path}: byte {piece.start}"
        match piece:
            case Slice(raw=raw):
                yield _element(raw, where, events)
            case TooLong(size=size, sample=sample):
                yield Rejected(where, "element-too-long", f"{size} bytes", sample, size)
            case Cut(raw=raw):
                yield Rejected(where, "file-cut", "the file ends inside its array", raw[:MAX_SAMPLE_BYTES], len(raw))


def _element(raw: bytes, where: str, events: CanonicalEvents) -> Element:
    try:
        return events.typed(decode(raw))
    except (msgspec.DecodeError, RecursionError):
        pass  # `element` says what is wrong with it, if it is not merely older or flatter
    try:
        return events.element(decode_line(raw), where)
    except BadLine as error:
        return Rejected(where, error.reason, str(error), raw[:MAX_SAMPLE_BYTES], len(raw))


def _lines(stream: BinaryIO, begin: int, path: Path, events: CanonicalEvents) -> Iterator[Element]:
    stream.seek(begin)
    first = stream.readline(MAX_WHOLE_BYTES + 1)
    if b"\r" in first.rstrip(b"\r\n") and not _is_json(first):  # lines that end in CR alone
        stream = io.BufferedReader(_CarriageReturns(stream))
    elif not _is_json(first) and (whole := _whole(stream, begin)) is not None:
        yield from _object(whole, path, events)
        return
    for line in read_lines(stream, begin, None, final=True):
        where = f"{path}: byte {line.start}"
        if isinstance(line, LongLine):
            yield Rejected(where, "line-too-long", f"{line.size} bytes", line.sample, line.size)
            continue
        if b'"events"' in line.raw and (value := _decoded(line.raw)) and _is_wrapped(value):
            yield from _object(value, path, events)
        else:
            yield _element(line.raw, where, events)


def _is_json(line: bytes) -> bool:
    try:
        decode_line(line.strip())
    except BadLine:
        return False
    return True


def _whole(stream: BinaryIO, begin: int) -> dict[str, Any] | None:
    """Give the file as one pretty-printed object, if it is that."""
    stream.seek(begin)
    raw = stream.read(MAX_WHOLE_BYTES + 1)
    return _decoded(raw) if len(raw) <= MAX_WHOLE_BYTES else None


def _is_wrapped(value: dict[str, Any]) -> bool:
    return isinstance(value.get("events"), list) and not EVENT_MARKS & value.keys()


def _object(value: dict[str, Any], path: Path, events: CanonicalEvents) -> Iterator[Element]:
    if _is_wrapped(value):
        for number, item in enumerate(value["events"]):
            yield events.element(item, f"{path}: event {number + 1}")
    else:
        yield events.element(value, str(path))


class _CarriageReturns(io.RawIOBase):
    """A stream whose carriage returns read as newlines; offsets stay those of the file."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)
