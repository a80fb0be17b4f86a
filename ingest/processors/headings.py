"""What a summary leaves open: the bullets under its headings Next Steps, In Progress and Blocked.

Source: section 1.4 of the origin's notes (its two defects) and case E49: headings of any level, with a colon, in bold
or in Portuguese; a section ends at a heading of its own level or a higher one, and at any of these three headings.
"""

import re
from typing import Final, Literal

from msgspec import Struct

from ingest.processors.fences import without_fences
from ingest.processors.text import shorten

Section = Literal["next_steps", "in_progress", "blocked"]

MAX_ITEMS: Final = 50
"""Items kept of a section: more than that is a plan, and nobody reads it in a report."""
MAX_ITEM_CHARS: Final = 300

_TITLES: Final[dict[str, Section]] = {
    "next steps": "next_steps",
    "next step": "next_steps",
    "next actions": "next_steps",
    "próximos passos": "next_steps",
    "proximos passos": "next_steps",
    "próximas etapas": "next_steps",
    "próximas ações": "next_steps",
    "in progress": "in_progress",
    "in-progress": "in_progress",
    "em andamento": "in_progress",
    "em progresso": "in_progress",
    "em curso": "in_progress",
    "blocked": "blocked",
    "blockers": "blocked",
    "blocked by": "blocked",
    "bloqueado": "blocked",
    "bloqueados": "blocked",
    "bloqueios": "blocked",
    "bloqueadores": "blocked",
    "impedimentos": "blocked",
}

_NOTHING: Final = frozenset(
    ("", "none", "none yet", "nothing", "n/a", "na", "nenhum", "nenhuma", "nada", "nil", "-", "\u2013", "\u2014", "tbd")
)  # fmt: skip

_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S[^\n]*)")
_BOLD_HEADING: Final = re.compile(r" {0,3}(?:\*\*|__)(\w[^*_\n]{1,60})(?:\*\*|__)[ \t]*:?[ \t]*")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(\S[^\n]*)")
_BOX: Final = re.compile(r"\[([ xX~-]?)\][ \t]*")
_DONE: Final = frozenset("xX")
_PLAIN_HEADING: Final = re.compile(r" {0,3}(\w[\w -]{2,40}):[ \t]*")
_TAG: Final = re.compile(r"<(/?)summary>", re.IGNORECASE)
_ORNAMENT: Final = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_EMPHASIS: Final = " \t*_`:#.()[]"

_BOLD_LEVEL: Final = 7
"""A bold line stands below every heading."""


class SummaryItems(Struct, frozen=True):
    """Open items of a summary, each list in order, without doubles that differ in case only."""

    next_steps: list[str] = []
    in_progress: list[str] = []
    blocked: list[str] = []

    def __bool__(self) -> bool:
        """Whether anything is open."""
        return bool(self.next_steps or self.in_progress or self.blocked)


def summary_items(text: str) -> SummaryItems:
    """Find the open items of a summary; where it has `<summary>` tags, what is between them is the summary."""
    found: dict[Section, dict[str, str]] = {"next_steps": {}, "in_progress": {}, "blocked": {}}
    section: Section | None = None
    level = 0
    for line in without_fences(_summary_text(text)).split("\n"):
        heading = _heading(line)
        if heading:
            named = _section(heading[1])
            if named or heading[0] <= level:
                section, level = named, heading[0]
            elif section:
                # A heading below a section that is none of the three: its bullets belong to the section.
                continue
        elif section:
            _collect(line, found[section])
    return SummaryItems(**{name: list(items.values()) for name, items in found.items()})


def _summary_text(text: str) -> str:
    """Give what stands between `<summary>` tags, or the whole text where none are closed."""
    parts: list[str] = []
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            opened = opened or tag
        elif opened:
            parts.append(text[opened.end() : tag.start()])
            opened = None
    return "\n".join(parts) if parts else text


def _section(title: str) -> Section | None:
    return _TITLES.get(_ORNAMENT.sub("", title).lower())


def _heading(line: str) -> tuple[int, str] | None:
    """Level and title of a heading; a line with a colon is one only where its title is known."""
    heading = _HEADING.match(line)
    if heading:
        return len(heading[1]), heading[2]
    bold = _BOLD_HEADING.fullmatch(line)
    if bold:
        return _BOLD_LEVEL, bold[1]
    plain = _PLAIN_HEADING.fullmatch(line)
    return (_BOLD_LEVEL, plain[1]) if plain and _section(plain[1]) else None


def _collect(line: str, items: dict[str, str]) -> None:
    bullet = _BULLET.match(line)
    if not bullet or len(items) >= MAX_ITEMS:
        return
    words = bullet[1]
    box = _BOX.match(words)
    if box:
        words = words[box.end() :]
        if box[1] in _DONE:
            return
    item = shorten(words, MAX_ITEM_CHARS)
    if item.strip(_EMPHASIS).lower() not in _NOTHING:
        items.setdefault(item.lower(), item)
