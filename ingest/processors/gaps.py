"""Tooling gaps: what an agent lacked, with the line that proves it. One table for signals and for triage's claims.

Source: section 1.4 of the origin's notes, which counts these codes per event; the patterns are this project's. Prose
about an error is no error: a gap needs the words of a machine in the output of a tool or in an error, or an assistant
saying so of itself. What a tool merely shows (a file, a search) counts only where the tool itself failed.
"""

import re
from typing import Final

from msgspec import Struct

from ingest.processors.fences import without_fences
from schemas.event import CanonicalEvent

SHELLS: Final = frozenset(
    ("bash", "shell", "sh", "zsh", "cmd", "powershell", "pwsh", "exec", "exec_command", "execute_command", "terminal",
     "local_shell", "run_command", "run_terminal_cmd", "container.exec", "ant_colony")
)  # fmt: skip
"""Tools whose output is a program's own words even when they succeed; others show what somebody wrote."""

SHOWN_CHARS: Final = 65_536
"""Looked at, from the beginning and from the end of longer texts: errors stand at the edges of an output."""

_CANDIDATES: Final = 50
"""Lines looked at for one rule: what is said fifty times without proof is no proof the next time."""
_LINE_CHARS: Final = 300
"""Of a line, looked at on each side of the hint."""

_PLACEHOLDER: Final = re.compile(r"\$\{|\{\{|<[a-z_-]+>")
_CODE_SPAN: Final = re.compile(r"`[^`\n]*`")


class Pattern(Struct, frozen=True):
    """Words that prove something: a line that holds one of `hints` (lower case) and matches `expression`."""

    hints: tuple[str, ...]
    expression: re.Pattern[str]


class GapRule(Struct, frozen=True):
    """One kind of gap: its code, what to do, what machines say of it, and what assistants say of themselves.

    With `errors_only` a machine's words count only where its call failed: what a shell prints when all is well may
    speak of instructions and capabilities.
    """

    code: str
    recommendation: str
    output: Pattern
    said: Pattern | None = None
    errors_only: bool = False


class Evidence(Struct, frozen=True):
    """A code and the line of the event that shows it."""

    code: str
    line: str


def pattern(hints: tuple[str, ...], *expressions: str) -> Pattern:
    """Make a pattern of several expressions, without regard to case."""
    return Pattern(hints, re.compile("|".join(expressions), re.IGNORECASE))


GAPS: Final = (
    GapRule(
        "command-not-found",
        "Install the command, or tell the agent which one to use instead.",
        output=pattern(
            ("not found", "is not recognized as", "unknown command: "),
            r"[\w./+-]: command not found\b",
            r"\bcommand not found: [\w./+-]",
            r"sh: (?:(?:line )?\d{1,6}: )?[\w./+-]{1,100}: not found\b",
            r"['\"] is not recognized as an internal or external command",
            r"\bThe term '[^'\n]{1,200}' is not recognized as",
            r"\bunknown command: [\w./+-]",
        ),
        said=pattern(("command not found",), r"[\w./+-]: command not found\b"),
    ),
    GapRule(
        "spawn-enoent",
        "Install the program that was to be started, or mend the PATH of the process that starts it.",
        output=pattern(
            ("enoent",), r"\bspawn(?:Sync)? [^\n]{1,200}? ENOENT\b", r"\bENOENT\b[^\n]{0,200}\bsyscall: '?spawn"
        ),
    ),
    GapRule(
        "missing-capability",
        "Enable the tool or extension that brings the capability, or take the task off this agent.",
        output=pattern(
            ("capabilit", "unknown tool", "no such tool", "tool "),
            r"\b(?:missing|lacks?|lacking|unsupported) (?:the )?(?:required )?capabilit(?:y|ies)\b",
            r"\bcapability (?:\S{1,80} )?(?:is )?(?:missing|unavailable|not (?:available|supported|enabled|found))\b",
            r"\b(?:unknown|no such) tool\b",
            r"\btool \S{1,80} (?:is )?(?:not (?:found|available|registered|enabled)|unavailable|does not exist)\b",
        ),
        said=pattern(
            ("tool", "capability", "permission", "access"),
            r"\bI (?:do not|don't|don\u2019t) have (?:a |the |any )?(?:tools?|capability|permissions?|access)\b"
            r"[^\n]{0,60}\b(?:to|for)\b",
            r"\bmissing[ -]capability:? \S",
        ),
        errors_only=True,
    ),
    GapRule(
        "missing-executable",
        "Install the executable, or mend the path under which it is looked for.",
        output=pattern(
            ("executable", "/env: ", "bad interpreter: "),
            r"\bexecutable (?:file )?not found\b",
            r"\b(?:no such|missing|(?:cannot|can't|could not) find(?: the)?) executable\b",
            r"/env: [\u2018'\"]?[\w./+-]{1,100}[\u2019'\"]?: No such file or directory",
            r"\bbad interpreter: ",
            r"\bexecutable doesn't exist at\b",
        ),
    ),
    GapRule(
        "instructions-required",
        "Write down the steps or the decision the agent asked for.",
        output=pattern(
            ("instruction", "require", "needs "),
            r"\binstructions? (?:is |are )?required\b",
            r"\b(?:requires?|needs?) (?:manual|human|operator) "
            r"(?:setup|installation|configuration|instructions?|login)\b",
            r"\bno instructions (?:were )?(?:given|found|provided)\b",
        ),
        said=pattern(
            ("instruction", "instruções"),
            r"\bI need (?:further |more |your |explicit |clear )?instructions\b",
            r"\binstructions? (?:are|is) required (?:before|to)\b",
            r"\bpreciso de (?:mais )?instruções\b",
        ),
        errors_only=True,
    ),
)

_SAID_STEMS: Final = tuple({
    max(hint.split(), key=len): None for rule in GAPS if rule.said is not None for hint in rule.said.hints
})  # fmt: skip
"""Of each hint its longest word: what `spoken` leaves out may part words, but makes no new ones."""

_RULES: Final = {rule.code: rule for rule in GAPS}


def recommendation(code: str) -> str:
    """What to do about a gap; an empty text for a code that is none of `GAPS`."""
    rule = _RULES.get(code)
    return rule.recommendation if rule else ""


def gap_codes(event: CanonicalEvent) -> list[str]:
    """Give the codes of the gaps that an event shows, each once."""
    return [found.code for found in gaps(event)]


def gaps(event: CanonicalEvent) -> list[Evidence]:
    """Give the gaps that an event shows, each code once with its first line."""
    machine = is_machine_output(event)
    if not machine and not is_said(event):
        return []
    text = edges(event.event.text) if machine else spoken(event.event.text)
    lowered = text.lower()
    found = []
    failed = "error" in event.event.labels
    for rule in GAPS:
        output = rule.output if failed or not rule.errors_only else None
        words = output if machine else rule.said
        line = first_line(words, text, lowered) if words else None
        if line:
            found.append(Evidence(rule.code, line))
    return found


def may_be_said(lowered: str) -> bool:
    """Whether `gaps` may find anything in words that are said, by the whole text in small letters: a quick no."""
    return any(stem in lowered for stem in _SAID_STEMS)


def is_machine_output(event: CanonicalEvent) -> bool:
    """Whether an event's words are a program's own: an error, a tool's failure, the output of a shell."""
    body = event.event
    if body.type == "status":
        return "error" in body.labels
    if body.type != "tool_result":
        return False
    return "error" in body.labels or "operator-shell" in body.labels or (event.meta.tool_name or "").lower() in SHELLS


def is_said(event: CanonicalEvent) -> bool:
    """Whether an event is what an assistant, agent or bot says."""
    return event.event.type == "message" and event.event.role in {"assistant", "agent", "bot"}


def edges(text: str) -> str:
    """Give a text, or the two ends of one that is very long."""
    return text if len(text) <= 2 * SHOWN_CHARS else f"{text[:SHOWN_CHARS]}\n{text[-SHOWN_CHARS:]}"


def spoken(text: str) -> str:
    """Give what a Markdown text says itself: without code fences, code in lines, and quoted lines."""
    words = without_fences(edges(text))
    if "`" in words:
        words = _CODE_SPAN.sub(" ", words)
    return "\n".join(line for line in words.split("\n") if not line.lstrip().startswith(">")) if ">" in words else words


def first_line(words: Pattern, text: str, lowered: str | None = None) -> str | None:
    """Give the first line, or the part of it around the words, that matches and is no template."""
    lowered = text.lower() if lowered is None else lowered
    if len(lowered) != len(text):  # a few letters have longer small ones, and places would no longer agree
        text = lowered
    for hint in words.hints:
        place = -1
        for _ in range(_CANDIDATES):
            place = lowered.find(hint, place + 1)
            if place < 0:
                break
            line = _line_around(text, place)
            if words.expression.search(line) and not _PLACEHOLDER.search(line):
                return line.strip()
            # On to the next line: this one was looked at as far as it will be.
            place = min(place + _LINE_CHARS, max(place, text.find("\n", place)))
    return None


def _line_around(text: str, place: int) -> str:
    start = max(text.rfind("\n", 0, place) + 1, place - _LINE_CHARS)
    end = text.find("\n", place, place + _LINE_CHARS)
    return text[start : end if end >= 0 else place + _LINE_CHARS]
