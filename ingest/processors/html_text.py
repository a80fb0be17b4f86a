"""HTML to plain text, for sources that deliver HTML (Matrix's formatted bodies, Takeout's answers).

Never raises, never recurses, and reads each character once: what is no tag is words. Links keep their words, images
their alternative text; scripts, styles and comments are dropped.
"""

import re
from html import unescape
from typing import Final

_LINES: Final = frozenset(
    (
        "address", "article", "aside", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
        "figure", "footer", "form", "header", "hr", "html", "li", "main", "nav", "section", "summary", "tbody", "tfoot",
        "thead", "tr",
    )
)  # fmt: skip
_PARAGRAPHS: Final = frozenset(
    ("blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul")
)  # fmt: skip
_SILENT: Final = frozenset({"script", "style", "template", "title"})
_CELLS: Final = frozenset({"td", "th"})

_TAG: Final = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9:-]*)|[!?]")
_ALT: Final = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")
_MOST_BREAKS: Final = 2
"""A line end and one empty line."""


def html_to_text(html: str) -> str:
    """Give the words of an HTML fragment, with lines and paragraphs where a browser would break them."""
    writer = _Writer()
    position = 0
    while (bracket := html.find("<", position)) >= 0:
        writer.words(unescape(html[position:bracket]))
        position = _after_tag(html, bracket, writer)
    writer.words(unescape(html[position:]))
    return writer.text()


def _after_tag(html: str, bracket: int, writer: "_Writer") -> int:
    """Hand the tag at a bracket to the writer and give the position after it."""
    tag = _TAG.match(html, bracket + 1)
    mark = "-->" if html.startswith("<!--", bracket) else ">"
    end = writer.find(html, mark, bracket) if tag else -1
    if tag is None or end < 0:
        writer.words("<")
        return bracket + 1
    if tag[2]:
        writer.tag(tag[2].lower(), html[tag.end() : end], closing=bool(tag[1]))
    return end + len(mark)


class _Writer:
    """Collects words and the breaks due before the next of them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._breaks = 0
        self._pre = 0
        self._silent = ""
        self._missing: set[str] = set()

    def find(self, html: str, mark: str, start: int) -> int:
        """Find a mark; one that is missing once is missing ever after, and is not looked for again."""
        if mark in self._missing:
            return -1
        end = html.find(mark, start)
        if end < 0:
            self._missing.add(mark)
        return end

    def words(self, text: str) -> None:
        """Add what stands between tags; white space counts within `pre` only."""
        if self._silent:
            return
        if not self._pre:
            text = _BLANKS.sub(" ", text)
            if self._breaks or not self._parts or self._parts[-1][-1] in " \n":
                text = text.removeprefix(" ")
        if text:
            self._break()
            self._parts.append(text)

    def _break(self) -> None:
        if self._breaks and self._parts:
            self._parts[-1] = self._parts[-1].rstrip(" ")
            self._parts.append("\n" * self._breaks)
        self._breaks = 0

    def tag(self, name: str, attributes: str, *, closing: bool) -> None:
        """Act on a tag."""
        if self._silent:
            self._silent = "" if closing and name == self._silent else self._silent
        elif name in _SILENT:
            self._silent = "" if closing else name
        elif name == "br":
            self._breaks = min(self._breaks + 1, _MOST_BREAKS)
        elif name == "img":
            alt = _ALT.search(attributes)
            self.words(unescape(alt[1] or alt[2] or alt[3] or "") if alt else "")
        else:
            self._element(name, closing=closing)

    def _element(self, name: str, *, closing: bool) -> None:
        if name in _PARAGRAPHS or name in _LINES:
            self._breaks = max(self._breaks, _MOST_BREAKS if name in _PARAGRAPHS else 1)
        if name in _CELLS and closing:
            self.words(" ")
        if name == "li" and not closing:
            self.words("- ")
        if name == "pre":
            self._pre = max(0, self._pre + (-1 if closing else 1))

    def text(self) -> str:
        """Give all words."""
        return "".join(self._parts).strip()
