"""The parser of one Claude Code session file: lines in, elements out.

Source: section 3.1 of the format page; B23, B28, B30, B32, E17 to E20.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from adapters.contract import Element, Rejected
from adapters.files.json_line import BadLine
from adapters.files.lines import Line, LongLine
from adapters.sessions.claude_code_identity import PROVIDER
from adapters.sessions.claude_code_session import Session
from adapters.sessions.claude_code_shapes import Entry, decoder, whole_entry
from adapters.sessions.identity import content_thread
from adapters.sessions.pieces import Pieces
from adapters.sessions.values import name, raw_time
from schemas.captured import RawTime

MAX_HEAD_BYTES: Final = 1024 * 1024
MAX_HEAD_LINES: Final = 32
"""How far a session's id and first time are looked for when the first lines have none: titles and file snapshots come
first."""

_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_AGENT_FILE: Final = re.compile(r"agent-([A-Za-z0-9._-]+)")
_REMADE: Final = frozenset({"uuid", "parentUuid"})


class Head(Struct, frozen=True, gc=False):
    """What the first lines of a file say of it: which session it is, and when something was first said."""

    session_id: str | None = None
    time: RawTime | None = None


def _nowhere() -> Head | None:
    return None


class ClaudeCodeParser:
    """Parses the lines of one session file from its beginning, in order.

    `find_head` is asked once, when the first entry names no session or has no time: one of the next lines may.
    """

    def __init__(
        self,
        path: Path,
        mtime: float | None = None,
        *,
        include_hidden: bool = False,
        account: str | None = None,
        find_head: Callable[[], Head | None] = _nowhere,
    ) -> None:
        self._path = path
        self._far_times: tuple[RawTime, ...] = () if mtime is None else (mtime,)
        self._include_hidden = include_hidden
        self._account = account
        self._find_head = find_head
        self._pieces = Pieces(path, decoder, whole_entry)
        self._session: Session | None = None

    def feed(self, line: Line | LongLine) -> list[Element]:
        """Give the elements of the next line; whatever it holds costs at most that line, and never raises."""
        elements: list[Element] = []
        for piece in self._pieces.read(line):
            elements += [piece] if isinstance(piece, Rejected) else self._entry(*piece)
        return elements

    def _entry(self, entry: Entry, line: Line) -> list[Element]:
        session = self._session
        if session is None:
            session = self._session = self._begin(entry, line)
        try:
            elements = session.read(entry, self._far_times)
        except RecursionError as error:
            return [self._pieces.rejected(line, "too-deep", str(error))]
        return [self._pieces.rejected(line, "invalid-entry", elements)] if isinstance(elements, str) else elements

    def _begin(self, entry: Entry, line: Line) -> Session:
        own, untimed = name(entry.session_id), raw_time(entry.timestamp) is None
        head = (self._find_head() if own is None or untimed else None) or Head()
        if untimed and head.time is not None:  # nearer than when the file was last written: it may be a copy
            self._far_times = (head.time, *self._far_times)
        session_id = own or head.session_id or _session_in(self._path) or content_thread(PROVIDER, line.raw, _REMADE)
        agent = _AGENT_FILE.fullmatch(self._path.stem)
        return Session(
            session_id,
            name(agent[1]) if agent else None,
            account=self._account,
            include_hidden=self._include_hidden,
        )


def _session_in(path: Path) -> str | None:
    """Give the session id that a file is named after, or the folder that holds a session's sub-agents."""
    for part in (path.stem, path.parent.parent.name if path.parent.name == "subagents" else ""):
        if _UUID.fullmatch(part):
            return part
    return None


def find_head(stream: BinaryIO) -> Head:
    """Find the first session id and the first time within the first lines of a file, in bounded time.

    The stream must stand at its start.
    """
    left, session_id, time = MAX_HEAD_BYTES, None, None
    for _ in range(MAX_HEAD_LINES):
        line = stream.readline(left)
        if not line or (session_id is not None and time is not None):
            break
        left -= len(line)
        try:
            entry = decoder.decode(line)
        except BadLine:
            continue
        session_id = session_id or name(entry.session_id)
        time = raw_time(entry.timestamp) if time is None else time
    return Head(session_id, time)
