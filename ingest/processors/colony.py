"""COLONY_SIGNAL: the one grammar of what ant colonies say about their runs.

    [COLONY_SIGNAL:STATE] ICON? ([RUN])? rest        all on one line
    ICON = 🐜 | [ant]      RUN = PRIMARY (| STABLE)?

Source: section 1.5 of the origin's notes (who writes which shape) and cases E39 to E42, B39. Texts must be clean
(`text.clean`): terminal sequences before a tag hide it.
"""

import re
from collections import Counter
from typing import Final, Literal

from msgspec import Struct

from ingest.processors.fences import fenced_spans, inside
from schemas.event import EventType, Role

Outcome = Literal["success", "failed", "running", "unknown"]

MENTION_LABEL: Final = "colony-mention"
UNKNOWN_STATE_LABEL: Final = "unknown-state"
TASK_FAILED_LABEL: Final = "task-failed"
STATE_LABEL: Final = "colony:"
OUTCOME_LABEL: Final = "outcome:"

RUNNING: Final = frozenset(
    {"LAUNCHED", "SCOUTING", "PLANNING_RECOVERY", "WORKING", "RUNNING", "REVIEWING", "TASK_DONE"}
)
SUCCESS: Final = frozenset({"DONE", "COMPLETE", "COMPLETED"})
FAILED: Final = frozenset({"FAILED", "BUDGET_EXCEEDED", "ABORTED"})

_RUN_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._:…-]{0,127}"
_SIGNAL: Final = re.compile(
    r"\[COLONY_SIGNAL:([A-Z][A-Z_]*)\]"
    r"[ \t]*(?:(?:🐜\ufe0f?|\[ant\])[ \t]*)?"
    # With plain icons `[ok]` and `[x]` stand for the check and the cross behind the icon, never for a run.
    rf"(?:\[(?!(?:ok|x|ant)\])({_RUN_ID}(?:\|{_RUN_ID})?)\])?"
    r"([^\n]*)"
)
_MENTION: Final = re.compile(r"\[COLONY_SIGNAL:([A-Z_]+)\]")

_PLACEHOLDER: Final = re.compile(r"[ \t]*\[[^\]\n]{0,200}?(?:[{}]|<\w)")
"""A bracket in the place of the run id that is no id: source code or documentation is being shown."""

_CROSS: Final = re.compile(r"[ \t]*(?:[✗✘❌✖]|\[x\])")
_STATUS: Final = re.compile(r"^[ \t>*-]*\*\*Status:?\*\*:?[ \t]*([^\n]*)", re.MULTILINE | re.IGNORECASE)
_NEWS: Final = re.compile(
    r"(?P<bad>[❌✗✘✖⚠]|\b(?:fail\w*|crash\w*|error\w*|abort\w*|cancel\w*|budget|exceeded|incomplete|not|partial\w*)\b)"
    r"|(?P<good>[✅✓✔]|\b(?:done|completed?|success\w*|ok)\b)",
    re.IGNORECASE,
)
"""The first of these words in a status line says how the run ended."""

_CARRYING_ROLES: Final = frozenset({"assistant", "agent", "bot"})


class ColonySignal(Struct, frozen=True):
    """One signal as said: its state, its run id as written, how it stands with the run."""

    state: str
    run: str | None
    outcome: Outcome
    task_failed: bool = False

    @property
    def known(self) -> bool:
        """Whether the state is one that some producer is known to use."""
        return self.state in RUNNING or self.state in SUCCESS or self.state in FAILED

    def labels(self) -> list[str]:
        """Labels of the event: `colony:STATE`, `outcome:…`, and `unknown-state` or `task-failed` where it applies."""
        labels = [STATE_LABEL + self.state, OUTCOME_LABEL + self.outcome]
        if not self.known:
            labels.append(UNKNOWN_STATE_LABEL)
        if self.task_failed:
            labels.append(TASK_FAILED_LABEL)
        return labels


def mentions(text: str) -> Counter[str]:
    """Count every tag in a text by state, wherever it stands: what the origin's `colonySignals` counts."""
    return Counter(_MENTION.findall(text)) if "[COLONY_SIGNAL:" in text else Counter()


def has_mention(text: str) -> bool:
    """Whether a text holds a tag."""
    return "[COLONY_SIGNAL:" in text and _MENTION.search(text) is not None


def first_signal(text: str) -> ColonySignal | None:
    """Give the first signal of a text that is neither in a code fence nor a template; it decides for the text."""
    fences = fenced_spans(text)
    for match in _SIGNAL.finditer(text):
        signal = None if inside(match.start(), fences) else _signal(match)
        if signal:
            return signal
    return None


def carried_signal(
    text: str, *, event_type: EventType, role: Role, raw_type: str | None, tool_name: str | None
) -> ColonySignal | None:
    """Give the signal that an event carries, or None when its tags are mentions.

    Carriers are (a) custom messages whose type begins with `ant-colony-`, (b) results of the tool `ant_colony`, and
    (c) messages of an assistant, agent or bot whose first line with words begins with the tag.
    """
    if "[COLONY_SIGNAL:" not in text:
        return None
    by_colony = raw_type is not None and raw_type.rpartition("/")[2].startswith("ant-colony-")
    if by_colony or event_type == "signal" or (event_type == "tool_result" and tool_name == "ant_colony"):
        return first_signal(text)
    if event_type == "message" and role in _CARRYING_ROLES:
        return _signal(_SIGNAL.match(text, _beginning(text)))
    return None


def _beginning(text: str) -> int:
    # Four blanks would be a block of code in Markdown.
    start = len(text) - len(text.lstrip())
    line = text.rfind("\n", 0, start) + 1
    return start if text[line:start] in {"", " ", "  ", "   "} else len(text)


def _signal(match: re.Match[str] | None) -> ColonySignal | None:
    if match is None:
        return None
    state, run, rest = match[1], match[2], match[3]
    if run is None and _PLACEHOLDER.match(rest):
        return None
    task_failed = state == "TASK_DONE" and _CROSS.match(rest) is not None
    return ColonySignal(state, run, _outcome(state, match.string, match.end()), task_failed)


def _outcome(state: str, text: str, position: int) -> Outcome:
    # A report says COMPLETE even when its colony failed; its status line knows better (E40).
    if state in RUNNING:
        return "running"
    status = _STATUS.search(text, position)
    news = _NEWS.search(status[1]) if status else None
    if news:
        return "failed" if news["bad"] else "success"
    if state in SUCCESS:
        return "success"
    return "failed" if state in FAILED else "unknown"
