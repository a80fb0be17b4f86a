"""The parser of one Codex rollout file: lines in, elements out; headers and copies of headers are settled here.

Source: section 3.2 of the format page; B23, B33, E17 to E20.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, Rejected, Skipped
from adapters.files.json_line import BadLine
from adapters.files.lines import Line as RawLine
from adapters.files.lines import LongLine
from adapters.sessions.codex_session import PROVIDER, Session
from adapters.sessions.codex_shapes import Item, Line, decoder, is_sub_agent, meta_of, parent_thread, whole_line
from adapters.sessions.drafts import Draft
from adapters.sessions.identity import content_thread
from adapters.sessions.pieces import Pieces
from adapters.sessions.values import name, raw_time
from schemas.captured import CapturedEvent, RawTime, Thread

MAX_HEAD_BYTES: Final = 4 * 1024 * 1024
MAX_HEAD_LINES: Final = 16
"""How far a header is looked for: it holds the base instructions, and blank or broken lines may come before it."""

_NAMED: Final = re.compile(r"rollout-.*-([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:\.jsonl)?", re.IGNORECASE)

_RESTAMPED: Final = frozenset({"timestamp"})


def _nowhere() -> Line | None:
    return None


class CodexParser:
    """Parses the lines of one rollout file from its beginning, in order.

    `find_meta` is asked once, when the first line is no header: one of the next lines may be.
    """

    def __init__(
        self,
        path: Path,
        mtime: float | None = None,
        *,
        include_hidden: bool = False,
        account: str | None = None,
        find_meta: Callable[[], Line | None] = _nowhere,
    ) -> None:
        self._path = path
        self._mtime = mtime
        self._include_hidden = include_hidden
        self._account = account
        self._find_meta = find_meta
        self._pieces = Pieces(path, decoder, whole_line)
        self._session: Session | None = None
        self._far_times: tuple[RawTime, ...] = () if mtime is None else (mtime,)
        self._header_due = False

    def feed(self, line: RawLine | LongLine) -> list[Element]:
        """Give the elements of the next line; whatever it holds costs at most that line, and never raises."""
        elements: list[Element] = []
        for piece in self._pieces.read(line):
            elements += [piece] if isinstance(piece, Rejected) else self._line(*piece)
        return elements

    def _line(self, line: Line, raw: RawLine) -> list[Element]:
        meta = meta_of(line)
        if meta is not None:
            return self._meta(meta, line, raw)
        elements: list[Element] = []
        session = self._session
        if session is None:
            session, elements = self._begin_before_meta(raw)
        try:
            given = session.read(line, self._far_times)
        except RecursionError as error:
            given = [self._pieces.rejected(raw, "too-deep", str(error))]
        if isinstance(given, str):
            given = [self._pieces.rejected(raw, "invalid-entry", given)]
        return elements + given

    def _meta(self, meta: Item, line: Line, raw: RawLine) -> list[Element]:
        """Take the first header as the file's identity; a later one is a parent's, whose lines a fork copies."""
        if self._session is None:
            return self._begin(meta, line, raw)[1]
        if self._header_due:
            self._header_due = False
            return []
        if session_id := name(meta.id):
            self._session.copies_from(session_id)
        return [Skipped("duplicate", "session_meta")]

    def _begin(self, meta: Item, line: Line, raw: RawLine) -> tuple[Session, list[Element]]:
        times = (raw_time(meta.timestamp), raw_time(line.timestamp), self._mtime)
        self._far_times = tuple(dict.fromkeys(time for time in times if time is not None))
        session = self._start(name(meta.id) or name(meta.session_id) or self._other_id(raw), meta)
        link = _link(meta)
        time = raw_time(line.timestamp) or raw_time(meta.timestamp)
        return session, [] if link is None else session.told(link, time, self._far_times)

    def _begin_before_meta(self, raw: RawLine) -> tuple[Session, list[Element]]:
        found = self._find_meta()
        meta = None if found is None else meta_of(found)
        if found is not None and meta is not None:
            self._header_due = True
            return self._begin(meta, found, raw)
        thread_id = self._other_id(raw)
        message = f"no session_meta before the first line; the thread is {thread_id}"
        return self._start(thread_id, Item()), [self._pieces.warned(raw, message)]

    def _start(self, thread_id: str, meta: Item) -> Session:
        workspace = meta.cwd if isinstance(meta.cwd, str) and meta.cwd.strip() else None
        thread = Thread(provider=PROVIDER, thread_id=thread_id, account=self._account, workspace=workspace)
        self._session = Session(thread, sub_agent=is_sub_agent(meta), include_hidden=self._include_hidden)
        return self._session

    def _other_id(self, raw: RawLine) -> str:
        """Give an id for a session that names none: the one that its rollout is named after, or one of its content."""
        found = _NAMED.fullmatch(self._path.stem)
        return found[1] if found else content_thread(PROVIDER, raw.raw, _RESTAMPED)


def _link(meta: Item) -> Draft | None:
    """Draft where a session comes from: the one a sub-agent works for, or the one that was forked."""
    parent = parent_thread(meta) if is_sub_agent(meta) else None
    forked = name(meta.forked_from_id)
    if parent is None and forked is None:
        return None
    label, text = ("sub-agent", f"sub-agent of session {parent}") if parent else ("fork", f"fork of session {forked}")
    event = CapturedEvent(id="", type="status", role="system", text=text, labels=[label], raw_type="session_meta")
    return event, (label, None, text)


def find_meta(stream: BinaryIO) -> Line | None:
    """Find the first header within the first lines of a file, in bounded time; it must stand at its start."""
    left = MAX_HEAD_BYTES
    for _ in range(MAX_HEAD_LINES):
        raw = stream.readline(left)
        if not raw:
            return None
        left -= len(raw)
        try:
            line = decoder.decode(raw)
        except BadLine:
            continue
        if meta_of(line) is not None:
            return line
    return None
