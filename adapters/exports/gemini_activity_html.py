"""Gemini's activity in Google Takeout as a web page (`MyActivity.html`), which is what Takeout gives by default.

The page is cut into its cells, so that one damaged cell costs itself and any size is read in bounded memory; each cell
is read by the standard library's `html.parser`, which forgives what browsers forgive and needs nothing installed.
Times are local to language and zone, exact to the second: the JSON of the same activity is to be preferred, and the
ids of the two differ. Source: section 3.2 of the export formats.
"""

import html
import math
import re
from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.gemini_exchange import PROVIDER, WITHOUT_GEMINI, Exchange, exchange_elements
from adapters.exports.gemini_titles import read_title
from adapters.exports.html_cells import LongCell, cells
from adapters.exports.local_time import Clock, LocalTime, read_local
from adapters.exports.order import oldest_first
from schemas.event import Attachment, Citation

MAX_SORTED: Final = 500_000
"""Cells put in order by time, about 300 bytes of memory each; the longest page known holds 2,061."""

_PRODUCT: Final = re.compile(rb"gemini|bard", re.IGNORECASE)
_ATTACHED_NAME: Final = re.compile(r"^[-\u2013][\s\u00a0]+")
_MARK: Final = b'class="outer-cell'
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - only to compare clocks that have no zone
# What opens no tag is a word, and so are declarations and comments, of which real pages have none inside a cell.
# html.parser would search for its end from each of them: quadratic, 20 s for 40 KB.
_LOOSE: Final = re.compile(r"<(?:(?=[!?])|(?![^<>]*+>))")
_VOID: Final = frozenset({"br", "img", "hr", "input", "col", "wbr"})


def is_activity_page(head: FileHead) -> bool:
    """Whether a file is one of Takeout's activity pages: its cells, or the style sheet before them."""
    start = head.start.lstrip(b"\xef\xbb\xbf \t\r\n")
    page = start[:15].lower().startswith((b"<html", b"<!doctype html", b"<div", b"<head"))
    return page and ((_MARK in start and b"content-cell" in start) or b".mdl-" in start)


class OtherActivityPageReader:
    """Knows the activity pages of other Google products."""

    name = "Google activity page without Gemini"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an activity page whose first cells do not name Gemini."""
        return is_activity_page(head) and _MARK in head.start and not _PRODUCT.search(head.start)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say what the file is and what to import in its place."""
        del stream, options
        yield Warned(str(path), WITHOUT_GEMINI)


class GeminiActivityPageReader:
    """Reads `MyActivity.html` of Gemini Apps, when its JSON is not there."""

    name = "Gemini activity page"
    provider = PROVIDER
    fallback = True

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an activity page and names Gemini."""
        if not is_activity_page(head):
            return False
        # The style sheet may fill all that is seen; then only reading tells whose activity it is.
        return bool(_PRODUCT.search(head.start)) or _MARK not in head.start

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every cell's events, oldest first; raises `PermanentSourceError` for a zone that does not exist."""
        clock = Clock(options.timezone)
        yield Warned(str(path), "a web page with local times: Takeout's JSON of My Activity is exact, prefer it")
        index: list[tuple[int, int, float]] = []
        for cell in cells(stream):
            where = f"{path}: byte {cell.start}"
            if isinstance(cell, LongCell):
                yield Rejected(where, "element-too-long", f"{cell.size} bytes", cell.sample, cell.size)
            elif len(index) < MAX_SORTED:
                read = read_cell(cell.raw)
                index.append((cell.start, len(cell.raw), _seconds(read)))
            else:
                yield Rejected(where, "too-many-cells", f"more than {MAX_SORTED}", cell.raw[:MAX_SAMPLE_BYTES])
        for place in oldest_first([time for _, _, time in index]):
            start, size, _ = index[place]
            stream.seek(start)
            yield from _elements(stream.read(size), f"{path}: byte {start}", clock, options)
        for zone, count in clock.unknown.items():
            yield Warned(str(path), f"time zone {zone!r} has more than one meaning or none: {count} times taken as "
                         f"{options.timezone or 'UTC'}; --timezone says which it is")  # fmt: skip


def _seconds(cell: "CellContent") -> float:
    return (cell.local.clock - _EPOCH).total_seconds() if cell.local else math.nan


def _elements(raw: bytes, where: str, clock: Clock, options: ReadOptions) -> Iterator[Element]:
    cell = read_cell(raw)
    if cell.header and not _PRODUCT.search(cell.header.encode()):
        yield Skipped("empty", "activity of another product")
        return
    if not cell.lines and not cell.answer:
        yield Rejected(where, "not-an-activity", "no content in this cell", raw[:MAX_SAMPLE_BYTES], len(raw))
        return
    time, labels = clock.place(cell.local) if cell.local else (None, [])
    title = "\n".join(cell.lines)
    read = read_title(title, answered=bool(cell.answer.strip()))
    exchange = Exchange(
        title=title,
        stamp=f"{cell.local.clock.isoformat()} {cell.local.zone}" if cell.local else None,
        times=[time] if time else [],
        prompts=[read.prompt] if read.prompt is not None else [],
        html_answers=[cell.answer] if cell.answer.strip() else [],
        verb=read.verb,
        labels=labels,
        files=read.files,
        citations=cell.citations,
    )
    for item in cell.attachments:
        exchange.attach(item)
    yield from exchange_elements(exchange, options)


class CellContent:
    """What stands in one cell: product, lines before the time, the time, and the answer's HTML behind it."""

    def __init__(self) -> None:
        self.header = ""
        self.lines: list[str] = []
        self.local: LocalTime | None = None
        self.answer = ""
        self.attachments: list[Attachment] = []
        self.citations: list[Citation] = []


def read_cell(raw: bytes) -> CellContent:
    """Read one cell."""
    parser = _CellParser()
    parser.feed(_LOOSE.sub("&lt;", raw.decode("utf-8", "replace")))
    parser.close()
    parser.end_of_line()
    parser.content.answer = "".join(parser.answer)
    return parser.content


class _CellParser(HTMLParser):
    """Follows one cell: lines until one is a time, then everything as HTML until the cell's first column ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.content = CellContent()
        self.answer: list[str] = []
        self._divs: list[str] = []
        self._columns = 0  # content cells begun so far; only the first is of interest
        self._line: list[str] = []
        self._links: list[tuple[str, str]] = []
        self._address: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "div":
            names = (dict(attrs).get("class") or "").split()
            role = next((name for name in ("header-cell", "content-cell") if name in names), "")
            self._divs.append(role)
            if role == "content-cell":
                self.end_of_line()
                self._columns += 1
            if role:
                return
        if not self._inside:
            return
        if self.content.local:
            self.answer.append(self.get_starttag_text() or "")
        elif tag in {"br", "p"}:
            self.end_of_line()
        elif tag == "a":
            self._address = dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and (not self._divs or self._divs.pop()):
            return  # the end of a column, or one too many inside an answer: the column goes on until the next begins
        if tag == "a":
            self._address = None
        if self._inside and self.content.local and tag not in _VOID:
            self.answer.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._divs and self._divs[-1] == "header-cell":
            self.content.header = f"{self.content.header} {data.strip()}".strip()
        elif not self._inside:
            return
        elif self.content.local:
            self.answer.append(html.escape(data, quote=False))
        else:
            self._line.append(data)
            if self._address is not None:
                self._links.append((data.strip(), self._address))

    @property
    def _inside(self) -> bool:
        return self._columns == 1

    def end_of_line(self) -> None:
        """Take the line at hand: the time, an attachment, or words of the title."""
        line = "".join(self._line).strip(" \t\r\n")
        links, self._line, self._links = self._links, [], []
        if not line or self.content.local:
            return
        if self.content.lines and (local := read_local(line)):
            self.content.local = local
        elif links and self.content.lines:
            self._take_links(line, links)
        else:
            self.content.lines.append(line)

    def _take_links(self, line: str, links: list[tuple[str, str]]) -> None:
        outside = [link for link in links if link[1].startswith(("http://", "https://"))]
        if outside and not _ATTACHED_NAME.match(line):
            self.content.lines.append(line)
            self.content.citations += [Citation(url=url, title=name or None) for name, url in outside]
            return
        self.content.attachments += [Attachment(kind="file", name=name or url, url=url or None) for name, url in links]
