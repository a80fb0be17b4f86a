"""An archive read as one file, for who keeps one checkpoint and one report for it: the drop folder.

Its elements are those of its members in the order of `archive_walk`, the same each time, so that a number of elements
is a place in it.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from adapters.contract import (
    Element,
    FileHead,
    Heard,
    PermanentSourceError,
    ReadOptions,
    Rejected,
    SourceError,
    TransientSourceError,
    Warned,
)
from adapters.files.archive_contents import Contents
from adapters.files.archive_head import nature
from adapters.files.archive_walk import Ask, Found, reason, walk_archive

_logger = logging.getLogger(__name__)


class ArchiveReader:
    """Reads what is known inside of a ZIP archive."""

    name = "ZIP archive"
    provider = "archive"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def recognises(self, head: FileHead) -> bool:
        """Whether the file begins like an archive."""
        return nature(head.start) == "archive"

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of every member that a reader knows.

        What fails in a member is a `Rejected` and costs that member. Raises `SourceError` when nothing in the archive
        can be read.
        """
        for item in walk_archive(stream, path, self._ask):
            if isinstance(item, Found):
                yield from _member(item, options)
            else:
                yield from _contents(item, outermost=item.path == path)


def _member(found: Found, options: ReadOptions) -> Iterator[Element]:
    path = found.member.path
    try:
        with found.member.open() as stream:
            for element in found.reader.read(stream, path, options):
                found.heard = found.heard or isinstance(element, Heard)
                yield element
    except TransientSourceError:
        raise
    except (SourceError, OSError) as error:
        yield Rejected(str(path), "unreadable-member", reason(error))
    except Exception as error:
        # A reader's fault must cost its member only; it is counted, named and logged.
        _logger.exception("archive-member-failed")
        yield Rejected(str(path), "reader-failed", f"{found.reader.name}: {type(error).__name__}: {error}")


def _contents(contents: Contents, *, outermost: bool) -> Iterator[Element]:
    if outermost and contents.error and not contents.recognised:
        raise PermanentSourceError(contents.error)
    for warning in contents.warnings:
        yield Warned(str(contents.path), warning)
    if contents.error:
        yield Rejected(str(contents.path), "unreadable-member", contents.error)
