"""Words and bytes from outside, fit for a terminal: nothing in them moves the cursor, hides or reorders."""

from unicodedata import category

_KEPT = "\n\t"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters, lone surrogates, and separators that some terminals take for new lines."""


def visible(text: str) -> str:
    """Give text with each character that is not seen, but for newline and tab, written as its escape."""
    if text.isprintable():
        return text
    return "".join(_escape(char) if category(char) in _UNSEEN and char not in _KEPT else char for char in text)


def visible_line(text: str, limit: int | None = None) -> str:
    """Give text as one visible line, with an ellipsis where it has more than `limit` characters."""
    line = visible(" ".join(text.split()))
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def visible_bytes(data: bytes) -> str:
    """Give bytes as visible text; those that are no UTF-8 are written as escapes."""
    return visible(data.decode("utf-8", "backslashreplace"))


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
