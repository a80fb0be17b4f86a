"""Recognising pi session files by their first lines, never by their names.

Claude Code, Codex and canonical events are JSON Lines with a `type` or a `message` too, and are told apart by their
own members. Source: sections 2.2, 2.7, 3.1, 3.2 of the format page; B9, B10, B12, E3, E4, E9.
"""

import re
from typing import Final

from adapters.sessions.marks import first_verdict

_OTHERS: Final = frozenset(
    {"uuid", "parentUuid", "sessionId", "leafUuid", "payload", "schemaVersion", "source", "event"}
)
_ENTRY_TYPES: Final = frozenset(
    {
        "active_tools_change",
        "branch_summary",
        "compaction",
        "context_edit",
        "custom",
        "custom_message",
        "label",
        "leaf",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)
# The beginning of a line longer than the head: a header with much metadata, a message with an image.
_LONG_START: Final = re.compile(
    rb'\s*\{\s*"(?:type"\s*:\s*"(?:session|custom_message|compaction)"|kind"\s*:\s*"(?:header|entry)"'
    rb'|type"\s*:\s*"message"\s*,(?s:.{0,400}?)"message"\s*:\s*\{)'
)
_OTHER_MARK: Final = re.compile(rb'"(?:uuid|parentUuid|sessionId|payload|schemaVersion)"\s*:')


def looks_like_pi(start: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `start` is a pi session; never raises."""
    return first_verdict(start, size, _verdict, _is_long)


def _is_long(start: bytes) -> bool:
    return bool(_LONG_START.match(start)) and not _OTHER_MARK.search(start)


def _verdict(value: dict[str, object]) -> bool | None:
    """Whether a line is one of pi's; None when it does not tell (a title, a type nobody knows)."""
    if _OTHERS & value.keys():
        return False
    if "type" not in value and "kind" not in value:
        return None
    return _is_ours(value) or None


def _is_ours(value: dict[str, object]) -> bool:
    kind = value.get("type")
    if kind == "session" or value.get("kind") == "header":
        return True
    if "timestamp" not in value or not isinstance(kind, str):
        return False
    if kind == "message":
        message = value.get("message")
        return isinstance(message, dict) and "role" in message
    return kind in _ENTRY_TYPES
