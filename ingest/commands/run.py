"""`session-ingest run`: starts the daemon, tells people where everything is, or only checks that it could start."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog

from ingest.daemon import PARTS, StartError, run
from ingest.endpoints import PortInUseError, listen
from ingest.log.contract import LogError
from ingest.log.open import open_log, place_of_log
from ingest.logs import configure
from ingest.parts import part_names
from ingest.settings import Settings
from ingest.sources import adapters_of, places_of
from ingest.status import running

_LATER: Final = ("web",)

_log = structlog.get_logger(__name__)


class UnknownPartError(ValueError):
    """`--only` names a part that is not there; the message lists those there are."""


def run_daemon(settings: Settings, only: Sequence[str] = ()) -> int:
    """Run until a signal; gives the exit status. Raises `UnknownPartError` and `StartError`."""
    _known(only)
    for_people = configure(settings.log.level, settings.log.format)

    def on_start(url: str | None) -> None:
        if for_people:
            sys.stderr.write(_announcement(settings, url))
            sys.stderr.flush()
        else:
            _log.info("started", pid=os.getpid(), log=place_of_log(settings), sources=places_of(settings), http=url)

    return run(settings, only, adapters_of, on_start)


def check(settings: Settings, only: Sequence[str] = ()) -> int:
    """Do all that a start does but start, and print what would be read (B16); gives the exit status.

    Raises `UnknownPartError`, and `StartError` for what would keep the daemon from starting.
    """
    _known(only)
    by = running(settings)
    try:
        state = _check_log(settings, read_only=by is not None)
        if settings.http.enabled and by is None:
            listen(settings.http.host, settings.http.port).close()
    except (LogError, PortInUseError) as error:
        raise StartError(str(error)) from error
    lines = [f"log        {place_of_log(settings)}: {state}"]
    lines += [f"{name:<10} {_place(place)}" for name, places in places_of(settings).items() for place in places]
    lines += [f"running    process {by.pid} since {by.since}; a second one would not start"] if by else []
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _known(only: Sequence[str]) -> None:
    there = [*PARTS, *part_names()]
    for part in only:
        if part not in there:
            yet = "this version has no such part yet" if part in _LATER else "there is no such part"
            raise UnknownPartError(f"--only {part}: {yet}; there are: {', '.join(there)}")


def _check_log(settings: Settings, *, read_only: bool) -> str:
    """Open the log as the start would, where there is one; else see that it could be made."""
    if settings.engine == "embedded" and not settings.log_path.exists():
        _check_creatable(settings.log_path.parent)
        return "will be made at the first start"
    with open_log(settings, read_only=read_only) as log:
        if problems := log.problems():
            raise LogError("\n".join(problems))
        return f"{sum(topic.records for topic in log.status().topics):,} records"


def _check_creatable(folder: Path) -> None:
    existing = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    if not existing.is_dir():
        raise LogError(f"{existing} is no folder; set state_dir to one that can be made")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise LogError(f"{existing} is not writable; set state_dir to a place that is")


def _place(place: str) -> str:
    """A place with what is wrong with it, where it is a path."""
    path = Path(place)
    if not path.is_absolute():
        return place
    if not path.exists():
        return f"{place} (not there yet)"
    return place if os.access(path, os.R_OK) else f"{place} (not readable)"


def _announcement(settings: Settings, url: str | None) -> str:
    """Where the log is, what is watched, where metrics are, and how to see the report."""
    rows = [("log", place_of_log(settings))]
    rows += [(name, place) for name, places in places_of(settings).items() for place in places]
    rows += [("metrics", f"{url}/metrics")] if url else []
    rows += [("report", "session-triage --log"), ("status", "session-ingest status")]
    table = "".join(f"  {name:<8} {value}\n" for name, value in rows)
    return f"session-ingest runs as process {os.getpid()}; stop it with Ctrl-C.\n{table}"
