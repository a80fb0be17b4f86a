"""Recognising Claude Code session files by their first lines, never by their names.

Source: section 3.1 of the format page. `history.jsonl` beside the sessions is a list of prompts, and what
`claude --output-format stream-json` prints names its session otherwise; neither is a session file.
"""

import re
from typing import Final

from adapters.sessions.marks import first_verdict

_OTHERS: Final = frozenset({"payload", "schemaVersion", "display"})
_OWN: Final = frozenset({"parentUuid", "sessionId", "leafUuid", "isSidechain"})
_MESSAGES: Final = frozenset({"user", "assistant"})
_SNAPSHOT: Final = "file-history-snapshot"
"""Type of lines that name no session; a resumed file may begin with any number of them."""
# The beginning of a line longer than the head: words with an image, a large result.
_LONG_START: Final = re.compile(
    rb'\s*\{(?s:.{0,1500}?)"(?:parentUuid|isSidechain|sessionId)"\s*:'
    rb'|\s*\{\s*"type"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:\s*\{'
    rb'|\s*\{\s*"type"\s*:\s*"file-history-snapshot"'
)
_OTHER_MARK: Final = re.compile(rb'"(?:payload|schemaVersion|session_id|messages)"\s*:')


def looks_like_claude_code(start: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `start` is a Claude Code session; never raises."""
    return first_verdict(start, size, _verdict, _is_long)


def _is_long(start: bytes) -> bool:
    return bool(_LONG_START.match(start)) and not _OTHER_MARK.search(start)


def _verdict(value: dict[str, object]) -> bool | None:
    """Whether a line is one of Claude Code's; None when it does not tell."""
    kind, message = value.get("type"), value.get("message")
    if _OTHERS & value.keys() or (isinstance(message, dict) and "parts" in message):  # the latter is a fork's
        return False
    if not isinstance(kind, str):
        return None
    if _OWN & value.keys() or (kind == _SNAPSHOT and "messageId" in value):
        return True
    # Agents that write these types under other names for the rest are not ours.
    return (kind in _MESSAGES and "uuid" in value and "session_id" not in value and isinstance(message, dict)) or None
