"""What an import reads: each named file, folder and archive, as members that a reader knows and the rest in words."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from adapters.catalogue import Catalogue
from adapters.contract import Reader, SourceError
from adapters.files.archive import FileMember, is_archive
from adapters.files.archive_contents import Contents
from adapters.files.archive_walk import PASSED_OVER, Found, reason, walk_archive, walk_folder


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A named file of which nothing can be read, and why."""

    path: Path
    error: str


Item = Found | Contents | Unreadable


def items_of(path: Path, catalogue: Catalogue, forced: Reader | None = None) -> Iterator[Item]:
    """Give what a named path holds; a file that no reader knows is read by `forced`, when there is one."""
    if path.is_dir():
        yield from walk_folder(path, catalogue.ask)
        return
    member = FileMember(path)
    try:
        head = member.head()
        reader = catalogue.ask(head)
        if reader is None:
            with member.open() as stream:
                if is_archive(stream):
                    yield from walk_archive(stream, path, catalogue.ask)
                    return
    except (SourceError, OSError) as error:
        yield Unreadable(path, reason(error))
        return
    if chosen := reader or forced:
        yield Found(member, chosen)
    else:
        yield Unreadable(path, "empty file" if not head.start else "not recognised as any known kind; nothing was read")


def size_of(paths: Iterable[Path]) -> int:
    """Give the bytes of files and folders, as far as they can be seen."""
    return sum(_size(path) for path in paths)


def _size(path: Path) -> int:
    try:
        if not path.is_dir():
            return path.stat().st_size
        places = [Path(place, name) for place, _, names in os.walk(path) for name in names]
        return sum(each.stat().st_size for each in places if not each.name.endswith(PASSED_OVER))
    except OSError:  # named in the report when its turn comes
        return 0
