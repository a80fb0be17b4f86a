"""What a file is by its first bytes: text that a reader may know, an archive, or something to pass over."""

import re
from typing import Final, Literal

from adapters.files.zst import MAGIC as ZST_MAGIC

PEEK_BYTES: Final = 512
"""Enough to tell pictures, sound and films from text; more is read of text only."""

Nature = Literal["text", "archive", "packed", "binary", "empty"]
"""`packed` is a single compressed file."""

TELLING: Final[tuple[Nature, ...]] = ("text", "archive", "packed")
"""What readers are asked about."""

_ARCHIVES: Final = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK")
_DOCUMENTS: Final = (b"[Content_Types].xml", b"_rels/", b"mimetype", b"META-INF/", b"AndroidManifest.xml")
_BINARY: Final = (
    b"%PDF-", b"GIF8", b"RIFF", b"OggS", b"ID3", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"{\\rtf",
)  # fmt: skip
_SAID: Final = re.compile(
    rb'"[\w-]*(?:messages?|content|parts|mapping|text|body|role|author|sender|from|turns?|entries|prompt|quer(?:y|ies)'
    rb'|questions?|answers?|requests?|responses?|chats?|conversations?|threads?|transcripts?)"\s*:(?!\s*(?:\[\s*\]|\{\s*\}))',
    re.IGNORECASE,
)
"""A member by which programs name what was said, unless nothing is in it: better one too many than one too few."""

_WIDE_TEXT: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL: Final = 50
"""One control character in so many bytes: text has none, random bytes have one in nine."""


def nature(start: bytes) -> Nature:
    """Tell by a file's first `PEEK_BYTES`."""
    start = start[:PEEK_BYTES]
    if not start:
        return "empty"
    if start.startswith(_ARCHIVES):
        return "archive"
    if start.startswith(ZST_MAGIC):
        return "packed"
    if start.startswith(_WIDE_TEXT):
        return "text"
    if start.startswith(_BINARY) or b"\0" in start:
        return "binary"
    return "binary" if len(_CONTROL.findall(start)) * _MOST_CONTROL > len(start) else "text"


def is_sidecar(start: bytes) -> bool:
    """Whether a text that no reader knows is JSON without anything that somebody may have said in it.

    Settings, devices, orders and the like lie beside the conversations of every export, more of them each year.
    """
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith((b"{", b"[")) and _SAID.search(start) is None


def is_document(start: bytes) -> bool:
    """Whether an archive is a document of an office program, a book or a program: nothing that holds exports."""
    return start[30:80].startswith(_DOCUMENTS)
