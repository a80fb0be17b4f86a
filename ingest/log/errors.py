"""SQLite's errors in words that a person can act on."""

import sqlite3
from pathlib import Path
from typing import Final

from ingest.log.contract import LogBusyError, LogDamagedError, LogError, LogFullError

_PRIMARY_CODE: Final = 0xFF
"""The low byte of an extended result code is the primary one. Source: sqlite.org/rescode.html."""

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_ACCESS: Final = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}
_SUSPECT: Final = {sqlite3.SQLITE_IOERR, *_DAMAGED, *_NO_ACCESS}


def primary_code(error: sqlite3.Error) -> int:
    """The primary result code; 0 for an error of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def spoils_connection(error: sqlite3.Error) -> bool:
    """Whether to open anew after this error: what the connection holds in memory may not be what is on disk."""
    return primary_code(error) in _SUSPECT


def damaged(path: Path, why: str) -> LogDamagedError:
    """The error for a file that cannot be trusted."""
    return LogDamagedError(
        f"{path} is damaged ({why}); nothing was deleted. Stop session-ingest, copy {path.name}* to a safe place, then"
        f" either recover it with `sqlite3 {path.name} .recover` or move the files away to begin a new log"
    )


def translate(error: sqlite3.Error, path: Path) -> LogError:
    """The `LogError` for what SQLite said about the log at `path`."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return LogFullError(f"no space left for {path}; nothing was written, free some and it goes on by itself")
    if code in _BUSY:
        return LogBusyError(f"{path} is held by another process for too long; see which one writes to it")
    if code in _DAMAGED:
        return damaged(path, str(error))
    if code in _NO_ACCESS:
        return LogError(f"{path} cannot be opened or written ({error}); check its owner and permissions")
    if code == sqlite3.SQLITE_IOERR:
        return LogError(f"reading or writing {path} failed ({error}); check the disk it lies on")
    return LogError(f"{path}: {error}")
