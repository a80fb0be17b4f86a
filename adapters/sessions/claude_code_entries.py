"""Entries of a Claude Code session by type, of all versions.

Source: section 3.1 of the format page; B30, B32. The format is internal to its vendor and changes: a type that is not
listed here is counted as unknown, so that drift shows.
"""

from collections.abc import Callable, Mapping
from typing import Final

from adapters.sessions import drafts
from adapters.sessions.claude_code_messages import read_assistant, read_user, said_by_user, typed_by_person
from adapters.sessions.claude_code_shapes import Attached, Entry, Message
from adapters.sessions.drafts import Reading
from adapters.sessions.values import blank, name
from schemas.captured import CapturedEvent

UNKNOWN_TYPE: Final = "unknown line type"
UNKNOWN_SUBTYPE: Final = "unknown system subtype"
TITLE: Final = "title"

MAX_ERROR_DEPTH: Final = 6
"""How deep an error's own words are looked for; real ones stand two or three objects deep."""

# Kept for the program's own use, nobody said anything; a queued message comes again when it is sent.
_BOOKKEEPING: Final = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "last-prompt",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "result",
        "saved_hook_context",
        "speculation-accept",
        "started",
        "tag",
        "task-summary",
        "worktree-state",
    }
)
_SUBTYPES: Final = frozenset(
    {
        "agents_killed",
        "away_summary",
        "bridge_status",
        "compact_boundary",
        "file_snapshot",
        "informational",
        "init",
        "memory_saved",
        "microcompact_boundary",
        "model_refusal_fallback",
        "permission_retry",
        "scheduled_task_fire",
        "stop_hook_summary",
        "thinking",
        "turn_duration",
    }
)


def read_entry(entry: Entry) -> Reading:
    """Read one entry; an unknown type gives nothing and is counted, never an error.

    Raises `RecursionError` for arguments nested deeper than the stack.
    """
    kind = entry.type
    if not isinstance(kind, str):
        if isinstance(entry.display, str) and isinstance(entry.project, str):
            return Reading("prompt history")
        return Reading("line without a type", fault="no entry: it has no type")
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(entry)
    return Reading(kind if kind in _BOOKKEEPING else UNKNOWN_TYPE)


def _user(entry: Entry) -> Reading:
    if not isinstance(entry.message, Message):
        return Reading("user", fault="a user line whose message is no object")
    return read_user(entry, entry.message)


def _assistant(entry: Entry) -> Reading:
    if not isinstance(entry.message, Message):
        return Reading("assistant", fault="an assistant line whose message is no object")
    return read_assistant(entry, entry.message)


def _attachment(entry: Entry) -> Reading:
    """Read what a person typed while the model worked; other attachments are context for the model."""
    attached = entry.attachment
    if not isinstance(attached, Attached) or attached.type != "queued_command":
        return Reading("attachment")
    text = _prompt(attached.prompt)
    typed = attached.command_mode != "task-notification" and typed_by_person(attached.origin) and not entry.is_meta
    if not typed:
        return drafts.hidden("queued_command", text, ("hidden", None, text))
    return Reading("queued_command") if blank(text) else said_by_user(text, "queued_command")


def _prompt(prompt: object) -> str:
    blocks = prompt if isinstance(prompt, list) else [prompt]
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _system(entry: Entry) -> Reading:
    text = entry.content if isinstance(entry.content, str) else ""
    if entry.subtype == "api_error":
        said = text if not blank(text) else error_words(entry.error)
        event = drafts.failed("error", said, "system/api_error", None)
        return Reading("system/api_error", [(event, ("error", None, said))])
    if entry.subtype == "local_command":
        return said_by_user(text, "system/local_command") if text else Reading("system/local_command")
    known = isinstance(entry.subtype, str) and entry.subtype in _SUBTYPES
    return Reading("system" if known or entry.subtype is None else UNKNOWN_SUBTYPE)


def error_words(error: object) -> str:
    """Give the words of an error, which stand at no fixed depth, after its status. Source: B32."""
    status, words = "", ""
    for _ in range(MAX_ERROR_DEPTH):
        if isinstance(error, str):
            words = words or error
        if not isinstance(error, dict):
            break
        if not status and type(error.get("status")) is int:
            status = str(error["status"])[:8]
        words = next((w for key in ("message", "code") if isinstance(w := error.get(key), str) and w), words)
        error = error.get("error") or error.get("cause")
    return f"{status} {words}".strip()


def _custom_title(entry: Entry) -> Reading:
    return _title("session-name", "session name", entry.custom_title)


def _ai_title(entry: Entry) -> Reading:
    return _title("session-name", "session name", entry.ai_title)


def _summary(entry: Entry) -> Reading:
    """Read the title of another branch or session, which is no part of what is said in this one."""
    reading = _title("other-session-name", "name of another session", entry.summary)
    return Reading(TITLE, [(event, (*identity, name(entry.leaf_uuid))) for event, identity in reading.drafts])


def _title(label: str, what: str, given: object) -> Reading:
    if not isinstance(given, str) or blank(given):
        return Reading(TITLE)
    event = CapturedEvent(id="", type="status", role="system", text=f"{what}: {given}", labels=[label], raw_type=TITLE)
    return Reading(TITLE, [(event, (label, None, given))])


_READERS: Final[Mapping[str, Callable[[Entry], Reading]]] = {
    "user": _user,
    "assistant": _assistant,
    "attachment": _attachment,
    "system": _system,
    "summary": _summary,
    "custom-title": _custom_title,
    "ai-title": _ai_title,
}
