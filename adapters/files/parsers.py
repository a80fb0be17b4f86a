"""Line parsers of live files, kept in memory for those that grow; a dropped one is rebuilt from its file's lines."""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from adapters.contract import MAX_SAMPLE_BYTES, Element, Rejected
from adapters.files.fingerprint import Cursor
from adapters.files.lines import Line, LongLine

if TYPE_CHECKING:
    from adapters.files.blocks import Unfinished

MAX_PARSERS: Final = 256
"""More files than anybody writes to at once."""

MAX_PARSED_LINES: Final = 1_000_000
"""Lines that all kept parsers may have been fed together: at about 100 bytes of state a line, 100 MB."""


class LineParser(Protocol):
    """What a provider brings to the tailer: one object a file, fed every line of it in order, once.

    Must give the same elements for the same lines, whatever the calls before: after a restart the lines up to the
    cursor are fed again and what they give is thrown away.
    """

    def feed(self, line: Line | LongLine) -> Iterable[Element]:
        """Elements of one line; unreadable ones are `Rejected`, never an exception."""
        ...


ParserFactory = Callable[[Path, os.stat_result], LineParser]


class LiveParser:
    """A parser, the cursor it was fed up to, and how far the search for the end of the line after it has come."""

    __slots__ = ("counted", "cursor", "fed", "parser", "unfinished")

    def __init__(self, parser: LineParser) -> None:
        self.parser = parser
        self.cursor = Cursor()
        self.unfinished: Unfinished | None = None
        self.fed = 0
        self.counted = 0
        """How many of the fed lines are in the total of all parsers."""

    def feed(self, line: Line | LongLine, path: str) -> list[Element]:
        """Feed one line; a parser that fails on it costs that line, named and counted."""
        self.fed += 1
        try:
            return list(self.parser.feed(line))
        except Exception as error:  # noqa: BLE001 - a third party's parser; a line must not stop its source for ever
            sample, size = (line.raw, len(line.raw)) if isinstance(line, Line) else (line.sample, line.size)
            where, detail = f"{path}: byte {line.start}", f"{type(error).__name__}: {error}"
            return [Rejected(where, "parser-failed", detail, sample[:MAX_SAMPLE_BYTES], size)]


class LiveParsers:
    """The most recently used parsers, bounded in number and in the lines they remember."""

    def __init__(self, factory: ParserFactory, limit: int = MAX_PARSERS, line_limit: int = MAX_PARSED_LINES) -> None:
        self._factory = factory
        self._limit = limit
        self._line_limit = line_limit
        self._live: OrderedDict[str, LiveParser] = OrderedDict()
        self._lines = 0

    def __len__(self) -> int:
        return len(self._live)

    def get(self, path: str, status: os.stat_result) -> LiveParser:
        """The file's parser; a fresh one, at byte 0, when it is not kept."""
        live = self._live.get(path)
        if live is None:
            live = self._live[path] = LiveParser(self._factory(Path(path), status))
        self._live.move_to_end(path)
        return live

    def kept(self, path: str) -> LiveParser | None:
        """The file's parser, if it is in memory."""
        if path in self._live:
            self._live.move_to_end(path)
        return self._live.get(path)

    def drop(self, path: str) -> None:
        """Forget a file's parser."""
        live = self._live.pop(path, None)
        if live is not None:
            self._lines -= live.counted

    def trim(self, path: str) -> None:
        """Count in what `path` was fed, and drop the least recently used beyond the bounds; the last always stays."""
        live = self._live.get(path)
        if live is not None:
            self._lines += live.fed - live.counted
            live.counted = live.fed
        while len(self._live) > 1 and (len(self._live) > self._limit or self._lines > self._line_limit):
            self._lines -= self._live.popitem(last=False)[1].counted
