"""Where pi sessions lie, and which of them belong to a workspace.

Which workspace a session belongs to is read in its header: the directory key in its path is not reversible, for
`/a/b-c` and `/a-b/c` share one. Source: section 2.1 of the format page; B14, E4, E7, E13 to E15.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from adapters.files.discover import Discovery
from adapters.sessions.pi_header import read_header
from adapters.sessions.readers import absolute

MAX_SETTINGS_BYTES: Final = 1024 * 1024
"""Settings are a page of JSON; what is larger is something else."""

# Forks of pi put their own name before these: PI_CODING_AGENT_DIR, TAU_CODING_AGENT_DIR.
_AGENT_DIR: Final = re.compile(r"[A-Z][A-Z0-9_]*_CODING_AGENT_DIR")
_SESSION_DIR: Final = re.compile(r"[A-Z][A-Z0-9_]*_CODING_AGENT_SESSION_DIR")


def default_roots(environ: Mapping[str, str] | None = None, home: Path | None = None) -> list[Path]:
    """Give the folders (and stray files) in which a user's sessions may lie, whether they exist yet or not.

    pi's and Oh My Pi's own, those the environment names, and the `sessionDir` in each agent folder's settings. pi 0.30
    wrote into the agent folder itself: session files found there are given one by one, never the folder.
    """
    environ = os.environ if environ is None else environ
    home = Path.home() if home is None else home
    agents = [home / ".pi" / "agent", *_named(_AGENT_DIR, environ, home)]
    roots = [home / ".omp" / "agent" / "sessions", *_named(_SESSION_DIR, environ, home)]
    for agent in agents:
        roots += [agent / "sessions", *_session_dir(agent / "settings.json", home), *_stray_files(agent)]
    return list(dict.fromkeys(roots))


def workspace_roots(workspace: Path) -> list[Path]:
    """Give the folders inside a workspace in which its sandbox keeps sessions."""
    return [workspace / ".sandbox" / "pi-agent" / "sessions"]


def sessions_of_workspace(roots: Iterable[Path], workspace: Path) -> list[Path]:
    """Give the session files of a workspace, the one written last first.

    Reads headers only, each within `pi_header.MAX_HEADER_BYTES`. Files that cannot be read, and those whose header is
    missing or names no directory, belong to no workspace.
    """
    wanted = _places(str(workspace))
    found = []
    for path, status in Discovery(roots).scan().files.items():
        if _places(_workspace_of(Path(path))) & wanted:
            found.append((-status.st_mtime_ns, path))
    return [Path(path) for _, path in sorted(found)]


def _workspace_of(path: Path) -> str:
    try:
        header = read_header(path)
    except OSError:  # vanished or not ours to read: not to be listed, and no reason to fail the others
        return ""
    return header.workspace or "" if header is not None else ""


def _places(directory: str) -> set[str]:
    """Give a directory as written and as it is without symbolic links; nothing for none."""
    if not directory or "\0" in directory:
        return set()
    return {os.path.normpath(directory), os.path.realpath(directory)}


def _named(pattern: re.Pattern[str], environ: Mapping[str, str], home: Path) -> list[Path]:
    values = [environ[name] for name in sorted(environ) if pattern.fullmatch(name)]
    return [path for value in values if (path := absolute(value, home)) is not None]


def _session_dir(settings: Path, home: Path) -> list[Path]:
    try:
        with settings.open("rb") as stream:
            value = json.loads(stream.read(MAX_SETTINGS_BYTES))
    except (OSError, ValueError, RecursionError):  # absent or broken: pi itself then uses its default
        return []
    configured = value.get("sessionDir") if isinstance(value, dict) else None
    path = absolute(configured, home) if isinstance(configured, str) and "\0" not in configured else None
    return [] if path is None else [path]


def _stray_files(agent: Path) -> list[Path]:
    try:
        return sorted(path for path in agent.glob("*.jsonl") if path.is_file())
    except OSError:  # the tailer names folders it cannot search
        return []
