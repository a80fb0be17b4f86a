"""The parser of one pi session file: lines in, elements out; headers are settled here.

Source: sections 2.2 to 2.9 of the format page; B1, B6, B9, B10, B12, B19, B23, E3, E5, E9, E18 to E20.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from adapters.contract import Element, Rejected, Skipped
from adapters.files.lines import Line, LongLine
from adapters.sessions.identity import content_thread
from adapters.sessions.pi_header import Header, header_of, name_id
from adapters.sessions.pi_session import Fault, Session
from adapters.sessions.pi_shapes import Entry, decoder, is_header, whole_entry
from adapters.sessions.pi_usual import decode_usual
from adapters.sessions.pieces import Pieces
from adapters.sessions.values import raw_time
from schemas.captured import RawTime, Thread

PROVIDER: Final = "pi"


# A migration gives entries new ids.
_REMADE: Final = frozenset({"id", "parentId"})

# Types of lines that are no entries, or may be none (version 4 has headers without a type).
_NO_ENTRY: Final = ("session", "title", None)


def _no_header() -> Header | None:
    return None


class PiParser:
    """Parses the lines of one session file from its beginning, in order.

    `find_header` is asked once, when the first entry comes before any header: a header may stand a few lines on (E3).
    """

    def __init__(
        self,
        path: Path,
        mtime: float | None = None,
        *,
        include_hidden: bool = False,
        account: str | None = None,
        find_header: Callable[[], Header | None] = _no_header,
    ) -> None:
        self._path = path
        self._pieces = Pieces(path, decoder, whole_entry)
        self._mtime = mtime
        self._include_hidden = include_hidden
        self._account = account
        self._find_header = find_header
        self._header: Header | None = None
        self._header_line_seen = False
        self._session: Session | None = None
        self._other_header_seen = False

    def feed(self, line: Line | LongLine) -> list[Element]:
        """Give the elements of the next line; whatever it holds costs at most that line, and never raises."""
        if isinstance(line, Line):
            elements = self._usual(line.raw)
            if elements:
                return elements
        return self._any(line)

    def _usual(self, raw: bytes) -> list[Element] | None:
        """Take the fast road, once it is known whose entries these are."""
        if self._session is None:
            return None
        try:
            return self._session.read_usual(decode_usual(raw))
        except (msgspec.DecodeError, RecursionError):
            return None  # the general road says what it is

    def _any(self, line: Line | LongLine) -> list[Element]:
        elements: list[Element] = []
        for piece in self._pieces.read(line):
            elements += [piece] if isinstance(piece, Rejected) else self._entry(*piece)
        return elements

    def _entry(self, entry: Entry, line: Line) -> list[Element]:
        if entry.type in _NO_ENTRY:
            if is_header(entry):
                return self._meet_header(header_of(entry), line)
            if entry.type == "title":  # Oh My Pi's, overwritten in place at will
                return []
        warnings: list[Element] = []
        session = self._session
        if session is None:
            session, warnings = self._begin_without_header(line)
        try:
            elements = session.read(entry)
        except RecursionError as error:
            elements = [self._pieces.rejected(line, "too-deep", str(error))]
        if isinstance(elements, Fault):
            elements = [self._pieces.rejected(line, "invalid-entry", elements)]
        return [*warnings, *elements] if warnings else elements

    def _meet_header(self, header: Header, line: Line) -> list[Element]:
        found_before, self._header_line_seen = not self._header_line_seen, True
        if self._header is None:
            return self._begin(header, line)[1]
        if header.session_id == self._header.session_id:
            return [] if found_before else [Skipped("duplicate", "header")]
        if self._other_header_seen:
            return []
        self._other_header_seen = True
        return [self._pieces.warned(line, f"another header, of session {header.session_id}; the first one counts")]

    def _begin(self, header: Header, line: Line) -> tuple[Session, list[Element]]:
        """Take a header as the file's identity; entries that came before it keep the thread they were given."""
        self._header = header
        thread = self._thread(header, line)
        session = self._session
        if session is None:
            session = self._session = Session(thread, self._far_times(header), include_hidden=self._include_hidden)
        else:
            session.move_to(thread, self._far_times(header))
        warnings: list[Element] = []
        if header.session_id is None:
            warnings.append(self._pieces.warned(line, f"the header has no usable id; the thread is {thread.thread_id}"))
        if header.unknown_version is not None:
            warnings.append(self._pieces.warned(line, f"unknown version {header.unknown_version}; what fits is read"))
        return session, warnings

    def _begin_without_header(self, line: Line) -> tuple[Session, list[Element]]:
        header = self._find_header()
        if header is not None:
            return self._begin(header, line)
        thread = self._thread(Header(), line)
        self._session = Session(thread, self._far_times(Header()), include_hidden=self._include_hidden)
        message = f"no session header before the first entry; the thread is {thread.thread_id}"
        return self._session, [self._pieces.warned(line, message)]

    def _thread(self, header: Header, line: Line) -> Thread:
        begun = None if self._session is None else self._session.thread.thread_id
        return Thread(
            provider=PROVIDER,
            thread_id=header.session_id or begun or name_id(self._path) or content_thread(PROVIDER, line.raw, _REMADE),
            account=self._account,
            workspace=header.workspace,
        )

    def _far_times(self, header: Header) -> tuple[RawTime, ...]:
        return tuple(time for time in (raw_time(header.time), self._mtime) if time is not None)
