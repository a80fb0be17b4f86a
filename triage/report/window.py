"""The end of a large file: its last lines, and how many there are in all, in bounded memory.

Blank lines do not count (the origin's rule), and a line ends at byte 0x0A only. Source: B37 of the session formats, a
window that begins at the start of the file holds its first line.
"""

import os
import re
from dataclasses import dataclass
from typing import BinaryIO, Final

BLOCK_BYTES: Final = 1024 * 1024
"""One read, forwards or backwards; larger blocks are no faster."""

_BLANK_LINE: Final = re.compile(rb"^[ \t\r\f\v]*\n", re.MULTILINE)
_MAY_HOLD_BLANKS: Final = re.compile(rb"\n[ \t\r\f\v]*\n")


@dataclass(frozen=True, slots=True)
class TailWindow:
    """Where the last lines begin (a byte offset), and how many lines there are in all and from there on."""

    start: int
    total: int
    scanned: int


def tail_window(stream: BinaryIO, lines: int) -> TailWindow:
    """Find the last `lines` lines of a seekable stream."""
    total = count_lines(stream)
    if total <= lines:
        return TailWindow(0, total, total)
    return TailWindow(start_of_last(stream, lines), total, lines)


def count_lines(stream: BinaryIO) -> int:
    """Count the lines that are not blank; the last one may lack its newline."""
    stream.seek(0)
    count, rest = 0, b""
    while block := stream.read(BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        if cut:
            whole = rest + block[:cut]
            count += whole.count(b"\n") - _blanks(whole)
            rest = b""
        # What a line holds does not matter, only whether it holds something.
        rest = b"x" if rest or block[cut:].strip() else b""
    return count + len(rest)


def start_of_last(stream: BinaryIO, lines: int) -> int:
    """Give the offset at which the last `lines` lines that are not blank begin; 0 when there are no more than those."""
    position = stream.seek(0, os.SEEK_END)
    found, filled = 0, False
    while position > 0:
        size = min(BLOCK_BYTES, position)
        position -= size
        stream.seek(position)
        block = stream.read(size)
        end = len(block)
        while (newline := block.rfind(b"\n", 0, end)) >= 0:
            if filled or block[newline + 1 : end].strip():
                found += 1
                if found == lines:
                    return position + newline + 1
            filled, end = False, newline
        filled = filled or bool(block[:end].strip())
    return 0


def _blanks(whole: bytes) -> int:
    if whole[:1].isspace() or _MAY_HOLD_BLANKS.search(whole):
        return len(_BLANK_LINE.findall(whole))
    return 0
