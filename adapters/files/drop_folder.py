"""The drop folder on disk: which files are complete, and where they go when they were read.

A file counts as complete when two looks some time apart find the same size and time of change; names of unfinished
downloads are left alone. Nothing in `done/` or `rejected/` is overwritten, and no name leads out of the folder.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from adapters.contract import PermanentSourceError, Warned
from schemas.report import FileReport, to_json

Place = Literal["done", "rejected"]
PLACES: Final = ("done", "rejected")

SETTLE_SECONDS: Final = 2.0
"""Between the two looks: a copy that stalls for longer is read too early, noticed at its end, and read again."""

EMPTY_SECONDS: Final = 60.0
"""Browsers make an empty file first and fill it at the end of a download; after this time it stays empty."""

_UNFINISHED: Final = (".part", ".crdownload", ".partial", ".download", ".filepart", ".tmp", ".temp", ".opdownload", "~")
_REPORT: Final = ".report.json"
_MAX_NAME_BYTES: Final = 255
"""NAME_MAX of the common file systems."""


@dataclass(frozen=True, slots=True)
class Look:
    """What tells that a file has changed; `regular` is false for links, pipes and devices."""

    inode: int
    size: int
    mtime_ns: int
    regular: bool = True

    @classmethod
    def of(cls, found: os.stat_result) -> "Look":
        """Take it from a stat."""
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, stat.S_ISREG(found.st_mode))


@dataclass(slots=True)
class DropFolder:
    """One drop folder; every method blocks."""

    path: Path
    settle_seconds: float = SETTLE_SECONDS
    empty_seconds: float = EMPTY_SECONDS
    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, tuple[Look, float]] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def prepare(self) -> None:
        """Make the folder and its places; raises `PermanentSourceError` when that is impossible."""
        try:
            for place in PLACES:
                (self.path / place).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise PermanentSourceError(f"drop folder {self.path}: {error.strerror}") from error

    def look(self) -> tuple[list[str], list[Warned]]:
        """Names of the files that are complete, in order, and what else a person should know; at most one look each."""
        now = self.clock()
        found = dict(self._candidates())
        self._seen = {
            name: self._seen[name] if name in self._seen and self._seen[name][0] == look else (look, now)
            for name, look in found.items()
        }
        complete = [name for name in sorted(found) if now - self._seen[name][1] >= self._wait(found[name])]
        return complete, list(self._folders())

    @property
    def waiting(self) -> bool:
        """Whether the last look saw files at all."""
        return bool(self._seen)

    def forget(self, name: str) -> None:
        """Look at a file anew, as if it had just come."""
        self._seen.pop(name, None)

    def put(self, name: str, place: Place, report: FileReport) -> Path:
        """Move a file, with its report beside it; gives where it lies now.

        The report is written first: a crash in between leaves the file where it is read again, not one without report.
        Raises `PermanentSourceError`.
        """
        try:
            target = self._free(self.path / place, name)
            _write(target.with_name(target.name + _REPORT), to_json(report))
            (self.path / name).rename(target)
        except OSError as error:
            message = f"drop folder {self.path}: {printable(name)} cannot be moved to {place}/: {error.strerror}"
            raise PermanentSourceError(message) from error
        self.forget(name)
        return target

    def _wait(self, look: Look) -> float:
        return self.empty_seconds if look.regular and look.size == 0 else self.settle_seconds

    def _candidates(self) -> Iterator[tuple[str, Look]]:
        with os.scandir(self.path) as entries:
            names = {entry.name: entry for entry in entries}
        for name, entry in names.items():
            if _ignored(name) or any(name + suffix in names for suffix in _UNFINISHED):
                continue
            if entry.is_dir(follow_symlinks=False):
                continue
            try:
                yield name, Look.of(entry.stat(follow_symlinks=False))
            except FileNotFoundError:  # taken away since the scan: nothing to read
                continue

    def _folders(self) -> Iterator[Warned]:
        with os.scandir(self.path) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for name in sorted(set(names) - self._told - set(PLACES)):
            if not _ignored(name):
                yield Warned(printable(name), "folders in the drop folder are not read; put the files there themselves")
        self._told = set(names)

    def _free(self, folder: Path, name: str) -> Path:
        """A name in `folder` that is not taken, neither for the file nor for its report."""
        number = 1
        while True:
            target = folder / _numbered(name, number)
            if not os.path.lexists(target) and not os.path.lexists(target.with_name(target.name + _REPORT)):
                return target
            number += 1


def printable(name: str) -> str:
    """A file's name as text; bytes that are no UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _ignored(name: str) -> bool:
    return name.startswith(".") or name.lower().endswith(_UNFINISHED)


def _numbered(name: str, number: int) -> str:
    """`name-2.json` for the second of a name, cut so that its report's name still fits."""
    suffix = Path(name).suffix if number > 1 else ""
    tail = f"-{number}{suffix}" if number > 1 else ""
    stem = name.removesuffix(suffix) if number > 1 else name
    room = _MAX_NAME_BYTES - len(_REPORT) - len(os.fsencode(tail))
    while len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + tail


def _write(path: Path, content: bytes) -> None:
    # Readable by its owner alone: it names what was said where.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
