"""What `session-ingest sources check` tells of sources on disk: what is there, what is not, what cannot be read."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adapters.contract import Finding
from adapters.files.discover import Discovery

MAX_NAMED: Final = 5
"""Places named one by one; more are counted."""

_MIB: Final = 1024 * 1024
_DAY: Final = 86_400


def tail_findings(discovery: Discovery, now: float | None = None) -> list[Finding]:
    """Look at every file that a tailer of these roots would follow; opens none."""
    scan = discovery.scan()
    missing = [root for root in discovery.roots if not os.path.lexists(root)]
    found = [
        Finding("warning", f"{root} is not there", "nothing is wrong if the agent has not run yet; else set paths")
        for root in missing
    ]
    if scan.files or not missing:
        found.append(Finding("ok", _summary(scan.files, time.time() if now is None else now)))
    denied = [path for path in scan.files if not os.access(path, os.R_OK)]
    problems = {**scan.problems, **dict.fromkeys(denied, "cannot be read: Permission denied")}
    return [*found, *_named(problems)]


def drop_findings(folder: Path) -> list[Finding]:
    """Look whether a drop folder is there, or can be made, and whether files can be moved inside it."""
    if not folder.exists():
        above = next((parent for parent in folder.parents if parent.exists()), folder)
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return [Finding("ok", f"{folder} will be made at the next start")]
        return [Finding("problem", f"{folder} cannot be made: {above} is not writable", "set sources.drop.path")]
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        what = "is no folder" if not folder.is_dir() else "cannot be read and written"
        return [Finding("problem", f"{folder} {what}", "mend its permissions, or set sources.drop.path")]
    waiting = sum(entry.is_file(follow_symlinks=False) for entry in os.scandir(folder) if entry.name[0] != ".")
    return [Finding("ok", f"{folder} is ready; {waiting} files wait in it")]


def _summary(files: dict[str, os.stat_result], now: float) -> str:
    if not files:
        return "no session files yet"
    size = sum(status.st_size for status in files.values())
    age = max(0.0, now - max(status.st_mtime for status in files.values()))
    when = "today" if age < _DAY else f"{age / _DAY:.0f} days ago"
    return f"{len(files):,} session files, {size / _MIB:,.1f} MiB; the newest was last changed {when}"


def _named(problems: dict[str, str]) -> Iterator[Finding]:
    for path, what in sorted(problems.items())[:MAX_NAMED]:
        yield Finding("problem", f"{path!a} {what}", "give the user that runs the daemon the right to read it")
    if len(problems) > MAX_NAMED:
        yield Finding("problem", f"and {len(problems) - MAX_NAMED} more such places")
