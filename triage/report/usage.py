"""Checks what a person asked for before anything is read: what cannot work is told in one line."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from triage.report.event_files import STDIN
from triage.report.options import Options, SharedLog
from triage.report.words import one_line, path_text


class UsageError(Exception):
    """Wrong usage; the message says what to do."""


_IMPORT: Final = "session-ingest import DIR --output - | session-triage --events -"


def absolute(path: Path) -> Path:
    """Make a path absolute without following links; `-` stays what it is."""
    return path if path == STDIN else Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def log_place(given: str) -> Path | SharedLog:
    """Give the log to read: the one named, or the daemon's own, on this machine or on Kafka."""
    if given:
        path = absolute(Path(given))
        return path / "log.db" if path.is_dir() else path
    from ingest.log.open import place_of_log  # noqa: PLC0415 - pydantic costs more than a small report
    from ingest.settings import load  # noqa: PLC0415
    from ingest.settings_errors import SettingsError  # noqa: PLC0415

    try:
        settings = load()
    except SettingsError as error:
        raise UsageError(f"--log: {error}; name the log: --log PATH") from error
    return SharedLog(settings, place_of_log(settings)) if settings.engine == "kafka" else settings.log_path


def checked(options: Options) -> Options:
    """Give the options back, each event file once; raises `UsageError`."""
    events = tuple(dict.fromkeys(options.events))
    for path in events:
        if path != STDIN:
            _check_file("--events", path, f"for a folder: {_IMPORT}")
    if isinstance(options.log, Path):
        _check_file("--log", options.log, "it is made by: session-ingest run")
    for path in options.ideas:
        if not path.exists():
            raise UsageError(f"--ideas {_shown(path)}: there is no such file or folder")
    if options.summary_store is not None and options.summary_store.is_dir():
        raise UsageError(f"--summary-store {_shown(options.summary_store)} is a folder; name a file in it")
    return replace(options, events=events)


def _check_file(option: str, path: Path, advice: str) -> None:
    hint = f"; {advice}" if option == "--log" else ""
    if path.is_dir():
        raise UsageError(f"{option} {_shown(path)} is a folder, not a file; {advice}")
    if not path.exists():
        raise UsageError(f"{option} {_shown(path)}: there is no such file{hint}")
    if not os.access(path, os.R_OK):
        raise UsageError(f"{option} {_shown(path)}: no permission to read it")


def _shown(path: Path) -> str:
    return one_line(path_text(path))
