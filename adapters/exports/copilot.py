"""Microsoft Copilot's CSV files of the privacy dashboard: four kinds, told apart by their header.

Rows have no ids, come newest first, and both halves of an exchange bear one time, some without a zone. A conversation
is the rows of one title without a silence of `SILENCE_SECONDS`: titles recur months later. It is known by its title
and the time of its first row, its events by their own content, so that later rows change neither. Source: section 4 of
the export formats, 4.5 of the PAM page, case 59.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from adapters.contract import Element, FileHead, Heard, PermanentSourceError, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.chat import Chat
from adapters.exports.csv_rows import Form, Row, columns_of, read_row, rows
from adapters.exports.fields import word
from adapters.exports.local_time import Clock, read_local
from adapters.exports.order import oldest_first
from adapters.exports.tree import time_rank
from schemas.captured import CapturedEvent
from schemas.ids import content_digest, event_id

PROVIDER: Final = "copilot"

MAX_SORTED: Final = 1_000_000
"""Rows put in order by time, about 400 bytes of memory each; what a person writes in a lifetime is less."""

SILENCE_SECONDS: Final = 24 * 3600
"""A title that comes back after a day is another conversation of the same name."""

PERSON: Final = "Human"
_DAY_FIRST: Final = re.compile(r"\s*(?:1[3-9]|2\d|3[01])/")
_PEOPLE: Final = frozenset({"human", "user", "you"})


class Kind(NamedTuple):
    """One of the four files: its name for a person, and which column holds what; `author` may be missing."""

    name: str
    time: str
    words: str
    title: str
    author: str | None = None


KINDS: Final = (
    Kind("Copilot activity", "time", "message", "conversation", "author"),
    Kind("Copilot chats", "createdat", "messagecontent", "chatname", "author"),
    Kind("Copilot prompts in Windows apps", "timestamp", "prompt", "clientapp"),
)


def _kind(columns: list[str]) -> Kind | None:
    for kind in KINDS:
        wanted = [kind.time, kind.words, kind.title, *([kind.author] if kind.author else [])]
        if all(columns.count(name) == 1 for name in wanted):
            return kind
    return None


class CopilotReader:
    """Reads all four CSV files; Microsoft 365 apps and the chat activity share one header."""

    name = "Copilot activity"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the first row holds the columns of one of the files."""
        return _kind(columns_of(head.start).names) is not None

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every row, oldest first.

        Raises `PermanentSourceError` for a zone that does not exist, and for a first row without the columns.
        """
        source, form, found = rows(stream)
        try:
            kind = _kind(form.names)
            if kind is None:
                raise PermanentSourceError("its first row does not name the columns of a Copilot export")
            table = _Table(path, options, form, kind)
            yield from table.scan(found)
            yield from table.elements(source)
        finally:
            if source is not stream:
                source.close()


class _Table:
    """One file: where its rows stand, and in which order they are told."""

    def __init__(self, path: Path, options: ReadOptions, form: Form, kind: Kind) -> None:
        self._path = path
        self._options = options
        self._form = form
        self._kind = kind
        self._clock = Clock(options.timezone)
        self._index: list[tuple[int, int, str, int]] = []  # start, size, raw time, rank
        self._chats: dict[str, tuple[Chat, float]] = {}
        self._day_first = False

    def scan(self, found: Iterable[Row]) -> Iterator[Rejected]:
        """Note where each row stands, and name what is no row."""
        for row in found:
            where = f"{self._path}: byte {row.start}"
            if row.cells is None:
                yield Rejected(where, "malformed-row", row.detail, row.sample, row.size)
            elif len(self._index) >= MAX_SORTED:
                yield Rejected(where, "too-many-rows", f"more than {MAX_SORTED}", row.sample, row.size)
            else:
                rank = 0 if self._role(row) == PERSON else 1
                self._index.append((row.start, row.size, self._cell(row, self._kind.time), rank))
        self._day_first = _day_first([time for _, _, time, _ in self._index])

    def elements(self, source: BinaryIO) -> Iterator[Element]:
        """Tell the rows, oldest first, the person before the answer at equal times."""
        times = [self._iso(raw)[0] for _, _, raw, _ in self._index]
        self._clock.unknown.clear()
        for place in oldest_first(times, [rank for _, _, _, rank in self._index]):
            start, size, _, _ = self._index[place]
            yield self._row(read_row(source, self._form, start, size))
        for zone, count in self._clock.unknown.items():
            yield Warned(str(self._path), f"time zone {zone!r} is not known: {count} times taken as local")

    def _row(self, row: Row) -> Heard | Skipped:
        raw = self._cell(row, self._kind.time).strip()
        iso, labels = self._iso(raw)
        role, text = self._role(row), self._cell(row, self._kind.words)
        chat = self._chat(self._cell(row, self._kind.title).strip(), iso, raw)
        event = CapturedEvent(
            id="",
            type="message",
            role=role,
            text=text,
            times=[iso] if iso else [],
            labels=labels,
            raw_type=self._kind.name,
        )
        # The time as it is written: which zone it was taken for must not change who the event is.
        return chat.heard(chat.message(event, raw, content_digest(role, text)))

    def _chat(self, title: str, iso: str | None, raw: str) -> Chat:
        """Give the conversation a row belongs to: the one of its title, unless that fell silent long ago."""
        known, moment = self._chats.get(title), time_rank(iso)
        if known and not moment - known[1] > SILENCE_SECONDS:
            self._chats[title] = (known[0], max(known[1], moment))
            return known[0]
        thread_id = event_id(PROVIDER, "run", title, raw)
        chat = Chat(PROVIDER, thread_id, self._options, title=title, scope=(PROVIDER, "row", title))
        self._chats[title] = (chat, moment)
        return chat

    def _role(self, row: Row) -> str:
        """Give the author's word; a file of prompts has none."""
        if self._kind.author is None:
            return PERSON
        author = self._cell(row, self._kind.author).strip()
        return PERSON if author.lower() in _PEOPLE else author

    def _cell(self, row: Row, column: str) -> str:
        place = self._form.names.index(column)
        return row.cells[place] if row.cells and place < len(row.cells) else ""

    def _iso(self, raw: str) -> tuple[str | None, list[str]]:
        if not word(raw):
            return None, []
        if local := read_local(raw, day_first=self._day_first):
            return self._clock.place(local)
        return self._clock.place_text(raw)


def _day_first(times: list[str]) -> bool:
    """Whether `3/4/2026` is a day in April: only when some row of the file cannot be read otherwise."""
    return any(_DAY_FIRST.match(time) for time in times)
