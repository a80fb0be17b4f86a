"""ChatGPT's `chat.html`: a viewer that carries the same conversations in a script; read where nothing better is there.

Source: section 1.1 of the export formats. `var jsonData = [...]` is JSON as in `conversations.json`, and gives the same
ids; `var assetsJson` is not read.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from adapters.contract import Element, FileHead, PermanentSourceError, ReadOptions
from adapters.exports.chatgpt import read_pieces
from adapters.exports.chatgpt_messages import PROVIDER
from adapters.files.json_brackets import Brackets
from adapters.files.json_stream import array_elements

CHUNK_BYTES: Final = 1024 * 1024
_OVERLAP: Final = 256
"""Bytes of a chunk that are looked at again with the next: longer than any form of the assignment."""

_DATA: Final = re.compile(rb"\bjsonData\s*=\s*(?=\[)")
_SCRIPT: Final = re.compile(rb"\b(?:var|let|const)\s+(?:jsonData|assetsJson)\s*=")
_PAGE: Final = re.compile(rb"\s*<(?:!doctype\s+html|html|head|meta|style|script)\b", re.IGNORECASE)


class ChatGPTPageReader:
    """Reads the conversations inside a `chat.html`."""

    name = "ChatGPT export page"
    provider = PROVIDER
    fallback = True

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a page whose script holds conversations."""
        start = head.start.removeprefix(b"\xef\xbb\xbf")
        return bool(_PAGE.match(start)) and bool(_SCRIPT.search(start))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the page's data; raises `PermanentSourceError` when there is none."""
        start = _find_data(stream)
        if start is None:
            raise PermanentSourceError(
                f"{path}: the page holds no jsonData; import conversations.json of the same export"
            )
        end = _end_of_data(stream, start)
        data = stream if end is None else cast("BinaryIO", _Beginning(stream, end))
        yield from read_pieces(array_elements(data, start), path, options)


class _Beginning(io.RawIOBase):
    """A stream as far as the byte before `end`: what stands behind the data is a program, not damaged data."""

    def __init__(self, stream: BinaryIO, end: int) -> None:
        super().__init__()
        self._stream = stream
        self._end = end

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(max(0, min(len(buffer), self._end - self._stream.tell())))
        buffer[: len(data)] = data
        return len(data)


def _find_data(stream: BinaryIO) -> int | None:
    """Give where the array of conversations begins, reading a chunk at a time."""
    position, kept = 0, b""
    stream.seek(0)
    while chunk := stream.read(CHUNK_BYTES):
        data = kept + chunk
        if found := _DATA.search(data):
            return position - len(kept) + found.end()
        position += len(chunk)
        kept = data[-_OVERLAP:]
    return None


def _end_of_data(stream: BinaryIO, start: int) -> int | None:
    """Give the place behind the array that begins at `start`; None when its brackets do not match."""
    inside = Brackets(ends=b"]")
    position = start + 1
    stream.seek(position)
    while chunk := stream.read(CHUNK_BYTES):
        end = inside.feed(chunk, 0, len(chunk))
        if end is not None:
            return position + end + 1
        position += len(chunk)
    return None
