"""pi's conversations about a workspace: found by what their headers say, and read from their ends.

Source: formats/session-triage-origin.md 1.2 and 1.4. The directory's name is never computed: it says nothing sure.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from adapters.contract import Element
from adapters.files.json_line import BadLine, decode_line
from adapters.files.lines import MAX_LINE_BYTES, read_lines, split_lines
from adapters.sessions.pi import PiParser
from adapters.sessions.pi_header import read_header
from adapters.sessions.pi_roots import default_roots, sessions_of_workspace, workspace_roots
from ingest.clock import iso
from triage.report.gather import Gatherer
from triage.report.options import Options
from triage.report.reading import rejection, take
from triage.report.tally import Tally
from triage.report.window import TailWindow, tail_window
from triage.report.words import path_text

USUAL: Final = Path(".pi") / "agent" / "sessions"
SANDBOX: Final = Path(".sandbox") / "pi-agent" / "sessions"

FolderSource = Literal["local-sandbox", "global-fallback", "local-sandbox-missing"]


@dataclass(frozen=True, slots=True)
class SessionFolders:
    """Where sessions are looked for; `source` in the origin's words, `there` whether any of it exists."""

    folder: Path
    source: FolderSource
    there: bool
    roots: list[Path]


def find_sessions(options: Options) -> SessionFolders:
    """Find where pi keeps this workspace's sessions: its sandbox, else pi's own folder; with the fallback, both."""
    local = [root for root in workspace_roots(options.workspace) if root.is_dir()]
    home = Path.home()
    own = [root for root in default_roots(os.environ, home) if root.exists()]
    if local:
        roots = local + own if options.global_fallback else local
        return SessionFolders(local[0], "local-sandbox", there=True, roots=roots)
    if own:
        usual = home / USUAL
        return SessionFolders(usual if usual in own else own[0], "global-fallback", there=True, roots=own)
    return SessionFolders(options.workspace / SANDBOX, "local-sandbox-missing", there=False, roots=[])


def read_sessions(gatherer: Gatherer, folders: SessionFolders, options: Options, since: float) -> None:
    """Read the ends of the newest sessions of the workspace that changed at `since` (Unix seconds) or later."""
    left = options.file_limit
    for path in sessions_of_workspace(folders.roots, options.workspace):  # the one written last comes first
        try:
            time = path.stat().st_mtime
            if left <= 0 or time < since:
                return
            left -= 1
            _read(gatherer, path, time, options.line_budget)
        except FileNotFoundError:
            continue  # it went away between the listing and now: it is no session any more
        except OSError as error:
            gatherer.problem(rejection(path_text(path), "unreadable", error.strerror or str(error)))


def _read(gatherer: Gatherer, path: Path, time: float, budget: int) -> None:
    header = read_header(path)
    name = path_text(path)
    tally = Tally(Path(name).name, name, iso(time), by_entry=True)
    source = gatherer.source(tally)
    with path.open("rb") as stream:
        window = tail_window(stream, budget)
        tally.lines(window.total, window.scanned)
        parser = PiParser(path, time, find_header=lambda: header)
        take(gatherer, _elements(parser, stream, window), source, name, obeys_cutoff=False)
    if header is not None:
        tally.place(header.workspace, header.session_id)


def _elements(parser: PiParser, stream: BinaryIO, window: TailWindow) -> Iterator[Element]:
    end = window.start
    for line in read_lines(stream, window.start, None, final=False):
        end = line.end
        yield from parser.feed(line)
    yield from _unfinished(parser, stream, end)


def _unfinished(parser: PiParser, stream: BinaryIO, start: int) -> Iterator[Element]:
    """Take a last line without its newline when it is whole; else pi is still writing it, and it is no fault."""
    stream.seek(start)
    for line in split_lines(stream.read(MAX_LINE_BYTES), start):
        try:
            decode_line(line.raw)
        except BadLine:
            return
        yield from parser.feed(line)
