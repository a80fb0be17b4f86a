"""Spans of markup inside words, found by their delimiters alone."""

from typing import NamedTuple


class Cut(NamedTuple):
    """A text without its spans, and what stood inside each of them."""

    rest: str
    inside: list[str]


def cut_spans(text: str, opening: str, closing: str) -> Cut:
    """Cut every span from `opening` to the next `closing` out of a text; one that never closes stays.

    Linear in the text: a closing mark that is missing once is not looked for again.
    """
    if opening not in text:
        return Cut(text, [])
    rest: list[str] = []
    inside: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        rest.append(text[position:start])
        inside.append(text[start + len(opening) : end])
        position = end + len(closing)
    rest.append(text[position:])
    return Cut("".join(rest), inside)
