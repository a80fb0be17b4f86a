"""Lines of a terminal: styled spans of text that never pass a width, whatever characters they hold.

Widths are upper bounds: where terminals disagree (emoji, joined characters, flags) the widest one is taken, so that a
line fits all of them.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

Style = Literal["plain", "title", "heading", "dim", "quote", "alarm", "ask", "good", "key"]

MAX_COLUMNS: Final = 80
MIN_COLUMNS: Final = 40
"""Below this nothing readable fits; a narrower terminal wraps."""

SEPARATOR: Final = " · "

_EMOJI_PRESENTATION: Final = "\ufe0f"
_FIRST_PICTOGRAM: Final = 0x1F000
"""From here on are pictures, drawn in two columns by some terminals whatever the tables say."""


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one style, without line ends."""

    text: str
    style: Style = "plain"


Line = tuple[Span, ...]


@lru_cache(maxsize=4096)
def char_width(character: str) -> int:
    """Columns that a character may take."""
    if character == _EMOJI_PRESENTATION:
        return 1  # it widens the character before it
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    wide = unicodedata.east_asian_width(character) in {"W", "F"} or ord(character) >= _FIRST_PICTOGRAM
    return 2 if wide else 1


def width(text: str) -> int:
    """Columns that text may take."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def fit(text: str, columns: int) -> str:
    """Cut text to some columns, with an ellipsis where something was cut."""
    if width(text) <= columns:
        return text
    head, _ = split_at(text, columns - 1)
    return head.rstrip() + "…"


def split_at(text: str, columns: int) -> tuple[str, str]:
    """Split text after as many characters as fit some columns; what joins to a character stays with it."""
    used = 0
    for number, character in enumerate(text):
        used += char_width(character)
        if used > columns:
            return text[:number], text[number:]
    return text, ""


def wrap(text: str, columns: int, lines: int) -> list[str]:
    """Break text into at most `lines` lines at white space, in words only where a word is longer than a line."""
    wrapped: list[str] = []
    current = ""
    for piece in _pieces(text, columns):
        joined = f"{current} {piece}" if current else piece
        if width(joined) <= columns:
            current = joined
        else:
            wrapped.append(current)
            current = piece
    wrapped.append(current)
    if len(wrapped) > lines:
        kept = wrapped[:lines]
        kept[-1] = fit(kept[-1] + " " + wrapped[lines], columns)
        return kept
    return wrapped


def _pieces(text: str, columns: int) -> Iterator[str]:
    for word in text.split():
        rest = word
        while width(rest) > columns:
            piece, rest = split_at(rest, columns)
            yield piece
        if rest:
            yield rest


def joined(parts: Sequence[str], columns: int) -> list[str]:
    """Join parts by a middle dot into as few lines as they need; a part longer than a line is cut."""
    lines: list[str] = []
    for part in (fit(p, columns) for p in parts if p):
        if lines and width(lines[-1]) + width(SEPARATOR) + width(part) <= columns:
            lines[-1] += SEPARATOR + part
        else:
            lines.append(part)
    return lines


def indented(lines: Iterable[str], indent: int, style: Style) -> list[Line]:
    """Give lines a style and put them some columns to the right."""
    return [(Span(" " * indent), Span(line, style)) for line in lines]


def clamp(line: Line, columns: int) -> Line:
    """Cut a line to some columns: fixed words may be longer than a narrow terminal."""
    if sum(width(span.text) for span in line) <= columns:
        return line
    kept: list[Span] = []
    left = columns
    for span in line:
        text = fit(span.text, left) if left > 1 else ""
        kept.append(Span(text, span.style))
        left -= width(text)
    return tuple(kept)
