"""Recognising Codex rollout files, and what `codex exec --json` prints, by their first lines, never by their names.

Source: section 3.2 of the format page; files of 2025 have items without the envelope.
"""

import re
from typing import Final

from adapters.files.zst import SUFFIX
from adapters.sessions.codex_shapes import BARE_ITEMS
from adapters.sessions.marks import first_verdict

COMPRESSED: Final = ".jsonl" + SUFFIX
"""How the names of compressed rollouts end."""

_OTHERS: Final = frozenset({"uuid", "parentUuid", "sessionId", "leafUuid", "schemaVersion", "event", "parentId"})
_TYPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ITEM_MARKS: Final = frozenset({"content", "call_id", "encrypted_content", "action"})
# The beginning of a line longer than the head: base instructions, an image, a large result.
_LONG_START: Final = re.compile(
    rb'\s*\{(?s:.{0,200}?)"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted)"'
)
_EXEC: Final = re.compile(r"(?:thread|turn)\.[a-z_]+|item\.(?:started|updated|completed)")


def looks_like_rollout(start: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `start` is a Codex rollout; never raises."""
    return first_verdict(start, size, _rollout, lambda line: bool(_LONG_START.match(line)))


def looks_like_exec_output(start: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `start` is what `codex exec --json` printed; never raises."""
    return first_verdict(start, size, _exec_output, lambda _: False)


def _rollout(value: dict[str, object]) -> bool | None:
    """Whether a line is a rollout's; None when it does not tell."""
    if _OTHERS & value.keys():
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        if "payload" in value:
            return (kind in _TYPES and isinstance(value["payload"], dict)) or None
        if _EXEC.fullmatch(kind):
            return False
        return (kind in BARE_ITEMS and bool(_ITEM_MARKS & value.keys()) and "message" not in value) or None
    is_meta = isinstance(value.get("id"), str) and "timestamp" in value and {"instructions", "git"} & value.keys()
    return True if is_meta and kind is None else None


def _exec_output(value: dict[str, object]) -> bool | None:
    kind = value.get("type")
    return isinstance(kind, str) and bool(_EXEC.fullmatch(kind)) and "payload" not in value
