"""Code fences of Markdown: which part of a text is shown, not said.

Source: CommonMark 4.5, with one leniency: a fence may be indented and quoted to any depth, as in lists.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter
from typing import Final

Span = tuple[int, int]

_MARK: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)", re.MULTILINE)


def fenced_spans(text: str) -> list[Span]:
    """Start and end of each fenced block, marks included, in order; one that is never closed runs to the end."""
    if "```" not in text and "~~~" not in text:
        return []
    return list(_spans(text))


def _spans(text: str) -> Iterator[Span]:
    opened: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if opened is None:
            # Back-ticks in the info string mean code within a line: ```like this```.
            if mark[1][0] == "~" or "`" not in mark[2]:
                opened = mark
        elif mark[1].startswith(opened[1]) and not mark[2].strip():
            yield opened.start(), mark.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def inside(position: int, spans: list[Span]) -> bool:
    """Whether a position lies in one of the spans."""
    after = bisect_right(spans, position, key=itemgetter(0))
    return after > 0 and position < spans[after - 1][1]


def without_fences(text: str) -> str:
    """Give the text without its fenced blocks; each leaves an empty line behind."""
    spans = fenced_spans(text)
    if not spans:
        return text
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position:start])
        position = end
    return "".join([*kept, text[position:]])
