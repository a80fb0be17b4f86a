"""Recognising session files by their first lines, never by their names."""

from collections.abc import Callable
from typing import Final

from adapters.files.archive_head import nature
from adapters.files.json_line import BadLine, decode_line

MAX_LINES: Final = 32
"""Lines looked at: a header stands on the first or second, and without one any entry tells."""

_LONG_LOOK: Final = 2048


def first_verdict(
    start: bytes,
    size: int,
    verdict: Callable[[dict[str, object]], bool | None],
    long_line: Callable[[bytes], bool],
) -> bool:
    """Whether a file of `size` bytes that begins with `start` is what `verdict` knows; never raises.

    The first object that tells decides; blank and broken lines tell nothing. Of a line longer than `start` only its
    beginning is there: `long_line` says whether that is enough.
    """
    if nature(start) == "archive":  # the lines of what it holds stand in it, if it does not compress
        return False
    lines = start.removeprefix(b"\xef\xbb\xbf").split(b"\n", MAX_LINES)
    whole = lines if len(start) >= size else lines[:-1]
    for line in whole[:MAX_LINES]:
        value = _object(line)
        said = None if value is None else verdict(value)
        if said is not None:
            return said
    return len(start) < size and len(whole) < MAX_LINES and long_line(lines[-1][:_LONG_LOOK])


def _object(line: bytes) -> dict[str, object] | None:
    try:
        value = decode_line(line)
    except BadLine:
        return None
    return value if isinstance(value, dict) else None
