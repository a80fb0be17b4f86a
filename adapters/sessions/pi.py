"""pi sessions, as sources: the reader of finished files and the adapter of live ones.

The rules stand in the modules beside: lines and headers (`pi_parser`, `pi_header`, `pi_shapes`), entries and messages
(`pi_entries`, `pi_messages`, `pi_shell`, `pi_content`), identity (`pi_identity`), the tree (`pi_tree`), recognition
(`pi_marks`), folders (`pi_roots`).
"""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from adapters.contract import Element, FileHead, ReadOptions
from adapters.sessions.pi_header import Header, find_header, read_header
from adapters.sessions.pi_marks import looks_like_pi
from adapters.sessions.pi_parser import PROVIDER, PiParser
from adapters.sessions.pi_roots import default_roots, sessions_of_workspace, workspace_roots
from adapters.sessions.readers import modified, read_all

if TYPE_CHECKING:
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
        header: Header | None = None
        if stream.seekable():
            stream.seek(0)
            header = find_header(stream)
            stream.seek(0)
        parser = PiParser(
            path,
            modified(path),
            include_hidden=options.include_hidden,
            account=options.account,
            find_header=lambda: header,
        )
        yield from read_all(stream, parser)


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

    def parser(path: Path, status: os.stat_result) -> PiParser:
        return PiParser(
            path,
            status.st_mtime,
            include_hidden=include_hidden,
            account=account,
            find_header=partial(_header_of, path),
        )

    return JsonlTailAdapter(name, roots, parser, backfill=backfill)


def _header_of(path: Path) -> Header | None:
    try:
        return read_header(path)
    except OSError:  # gone since its lines were read; the tailer names files it cannot read
        return None
