"""Words from conversations made fit to quote: one line, no control characters, bounded.

What somebody wrote is data. It is quoted, never interpreted: no escape sequence, no markup, no order in it is followed.
"""

import os
import re
from pathlib import Path
from typing import Final

from ingest.processors.text import clean

MAX_QUOTE: Final = 280
"""Characters of a quotation: two to four lines of a terminal, enough to recognise what was said."""

_HIDING: Final = re.compile(
    r"[\x80-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
"""Characters that only reorder or hide what is beside them: in a conversation they stay, in a report they may not."""


def one_line(text: str) -> str:
    """Give text as one clean line: white space collapsed, control and hiding characters removed."""
    text = clean(text)
    return " ".join((text if text.isascii() else _HIDING.sub("", text)).split())


def path_text(path: Path) -> str:
    """Give a path as text that can be written anywhere; bytes that are no UTF-8 are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def quote(text: str, limit: int = MAX_QUOTE) -> str:
    """Give the beginning of text as one clean line of at most `limit` characters, cut at a word where one is near."""
    line = one_line(text[: limit * 8])  # white space may shrink it; what lies further is never shown
    if len(line) <= limit:
        return line
    return cut(line, limit)


def cut(line: str, limit: int) -> str:
    """Shorten a clean line to `limit` characters with an ellipsis, at a word where one ends in the last fifth."""
    head = line[: limit - 1]
    space = head.rfind(" ", limit * 4 // 5)
    return (head[:space] if space > 0 else head).rstrip() + "…"


def around(text: str, start: int, end: int, limit: int = MAX_QUOTE) -> str:
    """Quote the line of text that holds `text[start:end]`, or as much on both sides of it as fits."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    if last - first <= limit:
        return quote(text[first:last], limit)
    room = max(0, limit - (end - start)) // 2
    begin, stop = max(first, start - room), min(last, end + room)
    return ("…" if begin > first else "") + quote(text[begin:stop], limit - 2) + ("…" if stop < last else "")
