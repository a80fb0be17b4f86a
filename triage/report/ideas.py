"""Ideas written down in notes and conversations, as proposals: nothing of them reaches the board by itself.

Source: formats/session-triage-origin.md 1.4. Ids are those of the origin (`IDEA-` and a djb2 hash in base 36), so that
its users find the same idea under the same id; one title, whatever its case, is one idea.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from triage.report.model_parts import Idea, IdeaInbox, IdeaSource, TaskDraft
from triage.report.words import one_line

MAX_TITLE: Final = 180
"""Characters of a title, as in the origin."""

MAX_IDEAS_A_TEXT: Final = 200
"""Ideas taken from one text: a list of more is a document to read, not an inbox."""

CRITERIA: Final = (
    "An operator has confirmed priority and scope before anything runs by itself.",
    "The promoted task keeps the reference to where the idea was written.",
    "Nothing closes it, and nothing raises its priority, without an operator.",
)

_WORD: Final = r"(?:💡\s*)?(?:idea|ideia|inbox)"
_LINE: Final = re.compile(
    rf"(?:[-*]\s+(?:\[[ xX]\]\s*)?|#{{1,6}}\s+)?{_WORD}\s*[:\u2013-]\s+(?P<title>.+)"
    r"|>\s*\[!(?:idea|ideia|inbox)\]\s*(?P<callout>.*)",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"[`*_#>\[\]]")
_FIRST_ASTRAL: Final = 0x10000
_DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def ideas_in(text: str, kind: str, ref: str, role: str | None = None) -> Iterator[Idea]:
    """Give the ideas of a text in order; `ref` says where the text stands."""
    lowered = text.lower()
    if "idea" not in lowered and "ideia" not in lowered and "inbox" not in lowered:
        return
    lines = text.splitlines()
    found = 0
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line.strip()) if len(line) < MAX_TITLE * 20 else None
        if match is None or found == MAX_IDEAS_A_TEXT:
            continue
        callout = match["callout"] or (lines[number + 1] if number + 1 < len(lines) else "")
        if title := _title(match["title"] or callout):
            found += 1
            yield _idea(title, IdeaSource(kind=kind, ref=ref, role=role, line=number + 1))


def inbox(ideas: Iterable[Idea]) -> IdeaInbox:
    """Put ideas together, each title once, in order of their ids."""
    by_title: dict[str, Idea] = {}
    for idea in ideas:
        by_title.setdefault(idea.title.lower(), idea)
    proposals = sorted(by_title.values(), key=lambda idea: idea.id)
    return IdeaInbox(proposal_count=len(proposals), review_required=bool(proposals), proposals=proposals)


def idea_id(text: str) -> str:
    """Hash text as the origin does: lower case, white space collapsed, 32 bits, base 36."""
    value = 5381
    for character in " ".join(text.lower().split()):
        code = ord(character)
        if code >= _FIRST_ASTRAL:  # the origin takes the first UTF-16 unit of a character
            code = 0xD800 + ((code - _FIRST_ASTRAL) >> 10)
        value = (value * 33 ^ code) & 0xFFFFFFFF
    digits = ""
    while value or not digits:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return f"IDEA-{digits}"


def _title(text: str) -> str:
    return _MARKUP.sub("", one_line(text)).strip()[:MAX_TITLE]


def _idea(title: str, source: IdeaSource) -> Idea:
    draft = TaskDraft("planned", title, list(CRITERIA), [source.ref])
    return Idea(id=idea_id(f"{source.kind}:{source.ref}:{title}"), title=title, source=source, task_draft=draft)
