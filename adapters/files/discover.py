"""Finding the files of a source: folders searched recursively, and files named one by one.

In folders only names that fit a pattern count; a file named explicitly is read whatever it is called. A file that
several names lead to (hard link, symbolic link, overlapping roots) is given once, and so is a folder, which ends loops.
Sources: E12, E13, E14, E15; `*.tmp`, `*.bak`, `*.corrupt` and dot names are what agents leave beside their sessions
(2.1).
"""

import fnmatch
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

IGNORED_SUFFIXES: Final = (".tmp", ".bak", ".corrupt")


def reading_order(path: str) -> tuple[str, str]:
    """Sort key of files: session names begin with a time, so that a parent comes before what was forked from it."""
    return os.path.basename(path), path  # noqa: PTH119 - called for every file of a sweep; Path costs 10 times as much


@dataclass(slots=True)
class Scan:
    """What a search found: files by path, and the places that could not be searched, each with what is wrong there.

    Nothing can be said of files below an `unread` place: they may still be there.
    """

    files: dict[str, os.stat_result] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)

    def covers(self, path: str) -> bool:
        """Whether the search would have found `path`, were it there."""
        return not any(path == place or path.startswith(place.rstrip("/") + "/") for place in self.unread)


@dataclass(slots=True)
class _Visit:
    """What one search has seen already."""

    scan: Scan
    folders: set[tuple[int, int]] = field(default_factory=set)
    inodes: set[tuple[int, int]] = field(default_factory=set)
    # Of several names of one file the same must win in every search, whatever order the system lists them in.
    aliases: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def add(self, path: str, status: os.stat_result) -> None:
        inode = (status.st_dev, status.st_ino)
        if inode not in self.inodes:
            self.inodes.add(inode)
            self.scan.files[path] = status

    def enter(self, status: os.stat_result) -> bool:
        folder = (status.st_dev, status.st_ino)
        known = folder in self.folders
        self.folders.add(folder)
        return not known

    def unreadable(self, path: str, error: OSError) -> None:
        self.scan.unread.add(path)
        self.scan.problems[path] = f"cannot be read: {error.strerror}"


class Discovery:
    """Searches the roots of a source; `roots` may be folders or files, there now or later."""

    def __init__(self, roots: Iterable[Path | str], patterns: Sequence[str] = ("*.jsonl",)) -> None:
        self.roots = list(dict.fromkeys(os.path.abspath(root) for root in roots))  # noqa: PTH100 - keeps symbolic links
        fits = "|".join(fnmatch.translate(pattern) for pattern in patterns)
        ignored = "|".join(map(re.escape, IGNORED_SUFFIXES))
        self._fits = re.compile(rf"(?!\.)(?!.*(?:{ignored})\Z)(?:{fits})", re.DOTALL).match

    def scan(self) -> Scan:
        """Search all roots; never raises for what is on the disk."""
        visit = _Visit(Scan())
        for root in self.roots:
            try:
                status = os.stat(root)  # noqa: PTH116 - a plain string all the way
            except FileNotFoundError:
                visit.scan.unread.add(root)
            except OSError as error:
                visit.unreadable(root, error)
            else:
                self._root(root, status, visit)
        while visit.aliases:
            aliases, visit.aliases = sorted(visit.aliases, key=reading_order), []
            for path in aliases:
                self._alias(path, visit)
            self._walk(visit)
        return visit.scan

    def wants(self, path: str) -> bool:
        """Whether a path would be read, were it a file: for names that the operating system reports."""
        if path in self.roots:
            return True
        for root in self.roots:
            inner = path.removeprefix(root.rstrip("/") + "/")
            if inner != path:
                *folders, name = inner.split("/")
                return self._fits(name) is not None and not any(folder.startswith(".") for folder in folders)
        return False

    def _root(self, root: str, status: os.stat_result, visit: _Visit) -> None:
        if stat.S_ISREG(status.st_mode):
            visit.add(root, status)
        elif not stat.S_ISDIR(status.st_mode):
            visit.scan.problems[root] = "is neither a folder nor a regular file"
        elif visit.enter(status):
            visit.waiting.append(root)
            self._walk(visit)

    def _walk(self, visit: _Visit) -> None:
        while visit.waiting:
            folder = visit.waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        self._entry(entry, visit)
            except FileNotFoundError:
                continue
            except OSError as error:
                visit.unreadable(folder, error)

    def _entry(self, entry: os.DirEntry[str], visit: _Visit) -> None:
        try:
            if self._fits(entry.name) and entry.is_file(follow_symlinks=False):
                # The path of nearly every entry of a sweep: as few calls as can be.
                status = entry.stat()
                if status.st_nlink == 1:
                    visit.add(entry.path, status)
                else:
                    visit.aliases.append(entry.path)
            elif entry.name[0] != ".":
                self._other(entry, visit)
        except FileNotFoundError:
            return
        except OSError as error:
            visit.scan.problems[entry.path] = f"cannot be looked at: {error.strerror}"

    def _other(self, entry: os.DirEntry[str], visit: _Visit) -> None:
        if entry.is_symlink():
            visit.aliases.append(entry.path)
        elif entry.is_dir():
            if visit.enter(entry.stat()):
                visit.waiting.append(entry.path)
        elif self._fits(entry.name):
            visit.scan.problems[entry.path] = "is no regular file; it is not opened"

    def _alias(self, path: str, visit: _Visit) -> None:
        """Take a further name of a file or folder, once everything with a single name is known."""
        try:
            status = os.stat(path)  # noqa: PTH116 - a plain string all the way
        except FileNotFoundError:
            return
        except OSError as error:
            visit.scan.problems[path] = f"cannot be looked at: {error.strerror}"
            return
        if stat.S_ISDIR(status.st_mode):
            if visit.enter(status):
                visit.waiting.append(path)
        elif stat.S_ISREG(status.st_mode) and self._fits(os.path.basename(path)):  # noqa: PTH119
            visit.add(path, status)

    def existing(self) -> Iterator[str]:
        """Those roots that are there now."""
        return (root for root in self.roots if os.path.exists(root))  # noqa: PTH110 - a plain string all the way
