"""Claude Code sessions, as sources: the reader of finished files and the adapter of live ones.

The rules stand in the modules beside: lines (`claude_code_parser`, `claude_code_shapes`), entries and messages
(`claude_code_entries`, `claude_code_messages`, `claude_code_words`), identity (`claude_code_identity`), threads and
branches (`claude_code_session`), recognition (`claude_code_marks`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from adapters.contract import Element, FileHead, ReadOptions
from adapters.sessions.claude_code_identity import PROVIDER
from adapters.sessions.claude_code_marks import looks_like_claude_code
from adapters.sessions.claude_code_parser import ClaudeCodeParser, Head, find_head
from adapters.sessions.readers import SessionFiles, absolute

if TYPE_CHECKING:
    from adapters.files.parsers import LineParser
    from adapters.files.tail import Backfill, JsonlTailAdapter

__all__ = ["ClaudeCodeParser", "ClaudeCodeReader", "claude_code_adapter", "default_roots"]


class ClaudeCodeReader:
    """Reads finished Claude Code session files, those of sub-agents too."""

    name = "Claude Code session"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether one of the first lines is Claude Code's, and none another agent's before it."""
        return looks_like_claude_code(head.start, head.size)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order, holding one line at a time."""
        return _FILES.read(stream, path, options)


def default_roots(environ: Mapping[str, str] | None = None, home: Path | None = None) -> list[Path]:
    """Give the folder in which a user's sessions lie, whether it exists yet or not.

    The prompt history beside it is no session, and so is not in it.
    """
    environ = os.environ if environ is None else environ
    home = Path.home() if home is None else home
    configured = absolute(environ.get("CLAUDE_CONFIG_DIR", ""), home)
    return [(home / ".claude" if configured is None else configured) / "projects"]


def claude_code_adapter(
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


def _parser(
    path: Path, modified: float | None, options: ReadOptions, head: Callable[[], Head | None]
) -> ClaudeCodeParser:
    return ClaudeCodeParser(
        path, modified, include_hidden=options.include_hidden, account=options.account, find_head=head
    )


_FILES = SessionFiles(find_head, _parser)
