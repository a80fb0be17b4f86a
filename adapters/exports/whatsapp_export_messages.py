"""From lines to messages of a WhatsApp text export, in bounded memory.

A message begins where a line begins with date and time, and goes on to the next such line. iOS ends messages with CRLF
and the lines inside them with LF, so that a pasted chat inside a message does not begin new ones.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Final, NamedTuple

from adapters.contract import MAX_SAMPLE_BYTES
from adapters.exports.whatsapp_export_dates import DateOrder, Order, moment_of
from adapters.exports.whatsapp_export_lines import Header, read_header, split_author

MAX_LINE_BYTES: Final = 1024 * 1024
"""A longer line is read in pieces; the app sends at most 65,536 characters in one message."""

MAX_MESSAGE_CHARS: Final = 1_000_000
"""What is kept of one message: an event has at most as many bytes."""

MAX_DOUBTED: Final = 10_000
"""Names that look like a piece of a system line, of which is counted how often they speak."""

_MOSTLY: Final = 9
_QUOTES: Final = frozenset('"\u201c\u201d\u201e\u00ab\u00bb')


@dataclass(slots=True)
class Survey:
    """What a whole file says of its lines."""

    headers: int
    order: Order
    order_known: bool
    crlf: bool
    """Whether messages, and only they, end with CRLF."""
    authors: frozenset[str]
    """Names with quotation marks that spoke more than once: people, not system lines with a colon inside a quote."""


class Message(NamedTuple):
    """One message: when, by whom, what; `author` is None for a line of the system."""

    start: int
    header: Header
    moment: datetime | None
    author: str | None
    body: str
    truncated: bool


class Stray(NamedTuple):
    """Text before the first message."""

    start: int
    raw: bytes
    size: int


@dataclass(slots=True)
class _Line:
    start: int
    text: str
    header: Header | None
    after_crlf: bool


def _lines(stream: BinaryIO) -> Iterator[_Line]:
    stream.seek(0)
    place, after_crlf, whole = 0, True, True
    for raw in iter(lambda: stream.readline(MAX_LINE_BYTES), b""):
        text = raw.decode("utf-8", "replace")
        yield _Line(place, text, read_header(text.rstrip("\r\n")) if whole else None, after_crlf)
        place += len(raw)
        after_crlf, whole = raw.endswith(b"\r\n"), raw.endswith(b"\n")


def survey(stream: BinaryIO) -> Survey:
    """Read a whole file for what its lines have in common."""
    order, ends, headers = DateOrder(), Counter[bool](), 0
    doubted: Counter[str] = Counter()
    for line in _lines(stream):
        if line.header is None:
            continue
        headers += 1
        order.take(line.header)
        ends[line.after_crlf and line.header.bracketed] += 1
        author, _ = split_author(line.header.rest)
        if author and _is_doubtful(author) and (author in doubted or len(doubted) < MAX_DOUBTED):
            doubted[author] += 1
    decided, known = order.decide()
    crlf = ends[True] > 1 and ends[True] >= _MOSTLY * ends[False]
    return Survey(headers, decided, known, crlf, frozenset(name for name, times in doubted.items() if times > 1))


def _is_doubtful(author: str) -> bool:
    return not _QUOTES.isdisjoint(author)


@dataclass(slots=True)
class _Open:
    """A message whose end has not been seen."""

    start: int
    header: Header
    parts: list[str] = field(default_factory=list)
    size: int = 0
    truncated: bool = False

    def add(self, text: str) -> None:
        room = MAX_MESSAGE_CHARS - self.size
        self.truncated = self.truncated or len(text) > room
        if room > 0:
            self.parts.append(text[:room])
            self.size += len(text)


def messages(stream: BinaryIO, known: Survey) -> Iterator[Message | Stray]:
    """Yield the messages of a file, and text that stands before the first."""
    stray: Stray | None = None
    current: _Open | None = None
    for line in _lines(stream):
        header = line.header if line.after_crlf or not known.crlf else None
        if header is not None:
            if stray:
                yield stray
                stray = None
            if current:
                yield _message(current, known)
            current = _Open(line.start, header)
            current.add(header.rest + line.text[len(line.text.rstrip("\r\n")) :])
        elif current:
            current.add(line.text)
        elif line.text.strip("\ufeff\0 \t\r\n"):
            stray = _strayed(stray, line)
    if stray:
        yield stray
    if current:
        yield _message(current, known)


def _strayed(stray: Stray | None, line: _Line) -> Stray:
    raw = line.text.encode("utf-8", "replace")
    if stray is None:
        return Stray(line.start, raw[:MAX_SAMPLE_BYTES], len(raw))
    kept = (stray.raw + raw)[:MAX_SAMPLE_BYTES] if len(stray.raw) < MAX_SAMPLE_BYTES else stray.raw
    return Stray(stray.start, kept, stray.size + len(raw))


def _message(found: _Open, known: Survey) -> Message:
    whole = "".join(found.parts).replace("\r\n", "\n").rstrip("\r\n")
    first, newline, more = whole.partition("\n")
    author, said = split_author(first)
    if author and _is_doubtful(author) and author not in known.authors:
        author, said = None, first
    moment = moment_of(found.header, known.order)
    return Message(found.start, found.header, moment, author, said + newline + more, found.truncated)
