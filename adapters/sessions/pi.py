"""pi sessions, as sources: the reader of finished files and the adapter of live ones.

The rules stand in the modules beside: lines and headers (`pi_parser`, `pi_header`, `pi_shapes`), entries and messages
(`pi_entries`, `pi_messages`, `pi_shell`, `pi_content`), identity (`pi_identity`), the tree (`pi_tree`), recognition
(`pi_marks`), folders (`pi_roots`).
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from adapters.contract import Element, FileHead, ReadOptions
from adapters.sessions.pi_header import Header, find_header
from adapters.sessions.pi_marks import looks_like_pi
from adapters.sessions.pi_parser import PROVIDER, PiParser
from adapters.sessions.pi_roots import default_roots, sessions_of_workspace, workspace_roots
from adapters.sessions.readers import SessionFiles

if TYPE_CHECKING:
    from adapters.files.parsers import LineParser
    from adapters.files.tail import Backfill, JsonlTailAdapter

__all__ = ["PiParser", "PiReader", "default_roots", "pi_adapter", "sessions_of_workspace", "workspace_roots"]


class PiReader:
    """Reads finished pi session files of all versions."""

    name = "pi session"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether one of the first lines is a pi header or entry, and none another agent's."""
        return looks_like_pi(head.start, head.size)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order, holding one line at a time."""
        return _FILES.read(stream, path, options)


def pi_adapter(
    name: str,
    roots: Iterable[Path],
    *,
    include_hidden: bool = False,
    account: str | None = None,
    backfill: "Backfill" = "start",
) -> "JsonlTailAdapter":
    """Make the live source of all session files below `roots`."""
    from adapters.files.tail import JsonlTailAdapter  # noqa: PLC0415 - asyncio and watchfiles, which no reader needs

    options = ReadOptions(account=account, include_hidden=include_hidden)

    def parser(path: Path, status: os.stat_result) -> "LineParser":
        return _FILES.live(path, status, options)

    return JsonlTailAdapter(name, roots, parser, backfill=backfill)


def _parser(path: Path, modified: float | None, options: ReadOptions, header: Callable[[], Header | None]) -> PiParser:
    return PiParser(path, modified, include_hidden=options.include_hidden, account=options.account, find_header=header)


_FILES = SessionFiles(find_header, _parser)
