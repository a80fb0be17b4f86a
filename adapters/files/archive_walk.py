"""Goes through a file, a folder or an archive, and gives what a reader knows, in an order that is always the same.

Members come by base name: session files begin with their time, so that a session comes before its forks wherever the
two lie. Archives inside come behind, each as a whole. Fallback readers (`Reader.fallback`) come last, and only where
no other reader of their provider has heard anything.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import FileHead, Reader, SourceError
from adapters.files.archive import FileMember, Member
from adapters.files.archive_contents import Contents
from adapters.files.archive_head import TELLING, is_document, is_sidecar, nature
from adapters.files.zip_archive import Budget, ZipArchive, ZipMember

MAX_DEPTH: Final = 3
"""Archives inside archives: exports were seen with one."""

PASSED_OVER: Final = (".tmp", ".bak", ".corrupt", ".part", ".crdownload", ".report.json")
"""Endings of half-written files, of safety copies, and of our own reports, in a folder."""

Ask = Callable[[FileHead], Reader | None]
"""Finds the reader of a file by its shape."""


@dataclass(slots=True)
class Found:
    """A member that a reader knows. Who reads it says in `heard` whether it held conversations."""

    member: Member
    reader: Reader
    heard: bool = False


Item = Found | Contents


def walk_archive(stream: BinaryIO, path: Path, ask: Ask) -> Iterator[Item]:
    """Go through a ZIP archive; never raises `SourceError`: what is wrong is in its `Contents`."""
    return _archive(stream, path, _Walk(ask))


def walk_folder(path: Path, ask: Ask) -> Iterator[Item]:
    """Go through a folder and the folders in it; links to folders are not followed, which keeps the walk finite."""
    contents = Contents(path, "folder")
    return _members(_files(path, contents), contents, _Walk(ask), depth=0)


@dataclass(slots=True)
class _Walk:
    ask: Ask
    budget: Budget = field(default_factory=Budget)


def _files(folder: Path, contents: Contents) -> list[FileMember]:
    found: list[Path] = []

    def unreadable(error: OSError) -> None:
        contents.cannot_read(Path(error.filename), f"cannot be opened: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in names if not name.startswith(".") and not name.endswith(PASSED_OVER)]
    regular = [path for path in found if path.is_file()]
    if len(regular) < len(found):
        contents.passed_over["links to nowhere, pipes and devices"] += len(found) - len(regular)
    return [FileMember(path) for path in sorted(regular, key=_by_name)]


def _by_name(path: Path) -> tuple[str, str]:
    return path.name, str(path)


def _archive(stream: BinaryIO, path: Path, walk: _Walk, depth: int = 1) -> Iterator[Item]:
    contents = Contents(path, "ZIP archive")
    try:
        members = list(ZipArchive(stream, path, walk.budget).members())
    except SourceError as error:
        contents.failure = str(error)
        yield contents
        return
    usable = [member for member in members if _is_usable(member, contents)]
    yield from _members(sorted(usable, key=lambda member: _by_name(member.path)), contents, walk, depth)


def _is_usable(member: ZipMember, contents: Contents) -> bool:
    contents.see(member.path)
    if member.is_link:
        contents.passed_over["links"] += 1
        return False
    if member.obstacle:
        contents.cannot_read(member.path, member.obstacle)
        return False
    return True


def _members(members: Iterable[Member], contents: Contents, walk: _Walk, depth: int) -> Iterator[Item]:
    archives: list[Member] = []
    fallbacks: list[Found] = []
    heard: set[str] = set()
    for member in members:
        found = _look(member, contents, walk.ask, archives)
        if found and getattr(found.reader, "fallback", False):
            fallbacks.append(found)
        elif found:
            yield from _give(found, contents, heard)
    for archive in archives:
        yield from _inner(archive, contents, walk, depth, heard)
    for found in fallbacks:
        if found.reader.provider in heard:
            name = contents.name_of(found.member.path)
            contents.remarks.append(f"{name}: not read, since the same conversations were found in a better form")
            contents.recognised += 1
        else:
            yield from _give(found, contents, set())
    yield contents


def _give(found: Found, contents: Contents, heard: set[str]) -> Iterator[Item]:
    contents.recognised += 1
    yield found
    if found.heard:
        heard.add(found.reader.provider)


def _look(member: Member, contents: Contents, ask: Ask, archives: list[Member]) -> Found | None:
    try:
        head = member.head()
    except (SourceError, OSError) as error:
        contents.cannot_read(member.path, reason(error))
        return None
    kind = nature(head.start)
    reader = ask(head) if kind in TELLING else None
    if reader:
        return Found(member, reader)
    if kind == "archive" and not is_document(head.start):
        archives.append(member)
    elif kind == "text":
        (contents.sidecars if is_sidecar(head.start) else contents.unknown).add(contents.name_of(member.path))
    else:
        contents.passed_over["empty files" if kind == "empty" else "media and other binary files"] += 1
    return None


def _inner(member: Member, contents: Contents, walk: _Walk, depth: int, heard: set[str]) -> Iterator[Item]:
    """Go through an archive inside: one in which nothing is known, as people attach them, is no failure."""
    if depth >= MAX_DEPTH:
        contents.put_aside(member.path, f"archives inside of archives are opened {MAX_DEPTH} deep; unpack it")
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(member.open())
        except (SourceError, OSError) as error:
            contents.put_aside(member.path, reason(error))
            return
        for item in _archive(stream, member.path, walk, depth + 1):
            if isinstance(item, Found):
                yield item
                heard |= {item.reader.provider} if item.heard else set()
            elif item.recognised or item.path != member.path:
                yield item
                contents.recognised += bool(item.path == member.path)
            else:
                contents.put_aside(member.path, item.error or "")


def reason(error: Exception) -> str:
    """Say in words why something cannot be read."""
    return f"cannot be opened: {error.strerror or error}" if isinstance(error, OSError) else str(error)
