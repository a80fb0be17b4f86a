"""Portable AI Memory (PAM): conversations, one a file, or several in an array or one behind the other.

Source: the PAM page, sections 1 and 6. A bundle is a folder or archive of such files beside its `memory-store.json`;
each of its files is read on its own, and no reference in a file is ever followed.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, ReadOptions, Rejected
from adapters.exports import pam_foreign, pam_written
from adapters.exports.documents import unread
from adapters.exports.pam_conversation import Document
from adapters.exports.pam_head import schema_of
from adapters.files.json_stream import Slice, array_elements, top_level
from adapters.files.json_values import SEPARATOR, Window, pass_over
from schemas.pam import CONVERSATION

PROVIDER: Final = "pam"


class PamReader:
    """Reads PAM conversations, of this program and of others."""

    name = "PAM conversation"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file's first object says by its `schema` that it is a PAM conversation."""
        return schema_of(head.start) == CONVERSATION

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file; raises `PermanentSourceError` for a time zone that is not known."""
        top = top_level(stream)
        if top.kind == "array":
            yield from _array(stream, top.start, path, options)
        else:
            yield from _objects(stream, top.start, path, options)


def _array(stream: BinaryIO, start: int, path: Path, options: ReadOptions) -> Iterator[Element]:
    for piece in array_elements(stream, start):
        if isinstance(piece, Slice):
            yield from _conversation(Document(io.BytesIO(piece.raw), 0, path, piece.start), options)
        else:
            yield unread(piece, path)


def _objects(stream: BinaryIO, start: int, path: Path, options: ReadOptions) -> Iterator[Element]:
    place: int | None = start
    while place is not None:
        window = Window(stream, place)
        place, first = window.skip(place, SEPARATOR)
        if not first:
            return
        if first != b"{":
            stream.seek(place)
            sample = stream.read(MAX_SAMPLE_BYTES)
            yield Rejected(f"{path}: byte {place}", "not-an-object", "no conversation begins here", sample)
            return
        yield from _conversation(Document(stream, place, path), options)
        place = pass_over(window, place)


def _conversation(document: Document, options: ReadOptions) -> Iterator[Element]:
    fault = document.open()
    if fault is not None:
        yield fault
    elif document.is_ours:
        yield from pam_written.elements(document, options)
    else:
        yield from pam_foreign.elements(document, options)
