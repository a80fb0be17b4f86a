"""Codex sessions, as sources: the readers of finished files and the adapter of live ones.

The rules stand in the modules beside: lines and headers (`codex_parser`, `codex_shapes`), items and events
(`codex_items`, `codex_events`, `codex_words`), messages in several forms (`codex_forms`), identity (`codex_session`),
recognition (`codex_marks`), compressed files (`adapters.files.zst`).
"""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from adapters.contract import HEAD_BYTES, Element, FileHead, ReadOptions, Rejected, Warned
from adapters.files.zst import MAGIC, SUFFIX, ZstStream, available, expanded_head
from adapters.sessions.codex_marks import COMPRESSED, looks_like_exec_output, looks_like_rollout
from adapters.sessions.codex_parser import CodexParser, find_meta
from adapters.sessions.codex_session import PROVIDER
from adapters.sessions.codex_shapes import Line
from adapters.sessions.readers import SessionFiles, absolute, modified, read_all

if TYPE_CHECKING:
    from adapters.files.parsers import LineParser
    from adapters.files.tail import Backfill
    from adapters.sessions.codex_live import CodexAdapter

__all__ = ["CodexExecReader", "CodexParser", "CodexReader", "codex_adapter", "default_roots"]


class CodexReader:
    """Reads finished Codex rollouts, compressed ones too."""

    name = "Codex session"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether one of the first lines is a rollout's, and none another agent's before it."""
        if not head.start.startswith(MAGIC):
            return looks_like_rollout(head.start, head.size)
        if not available():
            # Its shape cannot be seen: taken by its name, so that reading says what to install.
            return head.path.name.startswith("rollout-") and head.path.name.endswith(COMPRESSED)
        start = expanded_head(head.start, HEAD_BYTES)
        return looks_like_rollout(start, len(start) + (head.size > len(head.start) or len(start) == HEAD_BYTES))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order, holding one line at a time.

        Raises `SourceError` for a compressed file without the codec.
        """
        if _is_compressed(stream, path):
            return _compressed(stream, path, options)
        return _FILES.read(stream, path, options)


class CodexExecReader:
    """Names what `codex exec --json` prints: a report of a run, without times and without its prompt."""

    name = "Codex exec output"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the first object of the file is a line of that output."""
        return looks_like_exec_output(head.start, head.size)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:  # noqa: ARG002
        """Say what to import in its place; nothing is read."""
        yield Warned(
            str(path), "the output of codex exec --json, not a session; import the run's rollout file in CODEX_HOME"
        )


def _is_compressed(stream: BinaryIO, path: Path) -> bool:
    if not stream.seekable():
        return path.name.endswith(SUFFIX)
    stream.seek(0)
    magic = stream.read(len(MAGIC))
    stream.seek(0)
    return magic == MAGIC


def _compressed(stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
    meta: Line | None = None
    if stream.seekable():
        meta = find_meta(io.BufferedReader(ZstStream(stream)))
        stream.seek(0)
    expanded = ZstStream(stream)
    yield from read_all(io.BufferedReader(expanded), _parser(path, modified(path), options, lambda: meta))
    if expanded.problem:
        yield Rejected(str(path), expanded.problem, "the compressed file ends before its content does")


def _parser(path: Path, modified: float | None, options: ReadOptions, meta: Callable[[], Line | None]) -> CodexParser:
    # A compressed file is named like the plain one that it was, and will be again: the id in the name is the same.
    plain = path.with_suffix("") if path.name.endswith(SUFFIX) else path
    return CodexParser(plain, modified, include_hidden=options.include_hidden, account=options.account, find_meta=meta)


_FILES: Final = SessionFiles(find_meta, _parser)
"""Rollouts that are not compressed."""


def default_roots(environ: Mapping[str, str] | None = None, home: Path | None = None) -> list[Path]:
    """Give the folders in which a user's sessions lie, whether they exist yet or not."""
    environ = os.environ if environ is None else environ
    home = Path.home() if home is None else home
    configured = absolute(environ.get("CODEX_HOME", ""), home)
    base = home / ".codex" if configured is None else configured
    return [base / "sessions", base / "archived_sessions"]


def codex_adapter(
    name: str,
    roots: Iterable[Path],
    *,
    include_hidden: bool = False,
    account: str | None = None,
    backfill: "Backfill" = "start",
) -> "CodexAdapter":
    """Make the live source of all rollouts below `roots`, growing and compressed ones."""
    from adapters.sessions.codex_live import CodexAdapter  # noqa: PLC0415 - asyncio and watchfiles, for no reader

    options = ReadOptions(account=account, include_hidden=include_hidden)

    def parser(path: Path, status: os.stat_result) -> "LineParser":
        return _FILES.live(path, status, options)

    def read(path: Path) -> Iterator[Element]:
        with path.open("rb") as stream:
            yield from CodexReader().read(stream, path, options)

    return CodexAdapter(name, roots, parser, read, backfill)
