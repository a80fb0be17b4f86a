"""Events of the program's in a Codex session, and the lines that are neither items nor events.

Source: section 3.2 of the format page; B33, E31.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from adapters.sessions import drafts
from adapters.sessions.codex_forms import COMPLETED_ITEM, EVENT, RESPONSE_ITEM
from adapters.sessions.codex_items import Reading, hidden, read_item, run_by_user, said, thoughts
from adapters.sessions.codex_shapes import BARE_ITEMS, Item, Line
from adapters.sessions.codex_words import Parts, images, is_injected, parts_of
from adapters.sessions.values import blank, name
from schemas.captured import CapturedEvent

UNKNOWN_TYPE: Final = "unknown line type"
UNKNOWN_EVENT: Final = "unknown event type"
UNKNOWN_COMPLETED: Final = "unknown completed item"

_SILENT_LINES: Final = frozenset(
    {
        "inter_agent_communication_metadata",
        "realtime_item",
        "security_risk_score",
        "token_usage_record",
        "turn_context",
        "world_state",
    }
)
# Counts, states, and the course of what an item says: calls and their results stand in the items.
_SILENT_EVENTS: Final = frozenset(
    {
        "agent_reasoning_section_break",
        "background_event",
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_resume_end",
        "collab_waiting_end",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "entered_review_mode",
        "exec_command_begin",
        "exec_command_end",
        "exited_review_mode",
        "guardian_assessment",
        "guardian_warning",
        "image_generation_end",
        "item_started",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_end",
        "plan_update",
        "session_configured",
        "shutdown_complete",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_settings_applied",
        "token_count",
        "turn_complete",
        "turn_diff",
        "turn_moderation_metadata",
        "turn_started",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
_SILENT_COMPLETED: Final = frozenset(
    {
        "CollabAgentToolCall",
        "CommandExecution",
        "ContextCompaction",
        "DynamicToolCall",
        "FileChange",
        "HookPrompt",
        "ImageGeneration",
        "ImageView",
        "McpToolCall",
        "Sleep",
        "SubAgentActivity",
        "WebSearch",
    }
)


def read_line(line: Line) -> Reading:
    """Read a line that is no `session_meta`; an unknown type gives nothing and is counted, never an error.

    Raises `RecursionError` for arguments nested deeper than the stack.
    """
    kind, payload = line.type, line.payload
    if not isinstance(kind, str):
        known = line.record_type is not None  # of 2025: the program's own state
        return Reading("state" if known else "line", fault="" if known else "no line of a rollout: it has no type")
    if payload is None and kind in BARE_ITEMS:
        return read_item(line)
    reader = _LINES.get(kind)
    if reader is None:
        return Reading(kind if kind in _SILENT_LINES else UNKNOWN_TYPE)
    if not isinstance(payload, Item):
        return Reading(kind, fault=f"a {kind} whose payload is no object")
    return reader(payload)


def _event(event: Item) -> Reading:
    if not isinstance(event.type, str):
        return Reading("event_msg", fault="an event without a type")
    reader = _EVENTS.get(event.type)
    if reader is not None:
        return reader(event)
    return Reading(event.type if event.type in _SILENT_EVENTS else UNKNOWN_EVENT)


def _user_message(event: Item) -> Reading:
    text = event.message if isinstance(event.message, str) else ""
    given = list(images(event.images, event.local_images))
    if event.kind not in (None, "plain") or is_injected(text):
        return hidden("user_message", text)
    return run_by_user(text, "user_message", EVENT) or said("user", Parts([text], [], given, 0), "user_message", EVENT)


def _agent_message(event: Item) -> Reading:
    text = event.message if isinstance(event.message, str) else ""
    return said("assistant", Parts([text], [], [], 0), "agent_message", EVENT)


def _agent_reasoning(event: Item) -> Reading:
    return thoughts([event.text] if isinstance(event.text, str) else [], "agent_reasoning", EVENT)


def _turn_aborted(event: Item) -> Reading:
    why = name(event.reason) or ""
    made = drafts.failed("aborted", why, "turn_aborted", None)
    return Reading("turn_aborted", [(made, ("aborted", None, why))])


def _error(event: Item) -> Reading:
    text = event.message if isinstance(event.message, str) else ""
    made = drafts.failed("error", text, "error", None)
    return Reading("error", [(made, ("error", None, text))])


def _thread_rolled_back(event: Item) -> Reading:
    """Read that the person took back turns; what was told of them stays told."""
    turns = event.num_turns if type(event.num_turns) is int and 0 < event.num_turns < 1 << 32 else None
    text = "rolled back" if turns is None else f"rolled back {turns} turn{'s' if turns > 1 else ''}"
    return _status("thread_rolled_back", "rolled-back", text)


def _context_compacted(_: Item) -> Reading:
    reading = _status("context_compacted", "compaction", "context compacted")
    reading.form = EVENT
    return reading


def _compacted(payload: Item) -> Reading:
    """Read a compaction's summary; the history that replaces the old one is never looked at. Source: E31."""
    if not isinstance(payload.message, str) or blank(payload.message):
        reading = _status("compacted", "compaction", "context compacted")
        reading.form = RESPONSE_ITEM
        return reading
    event = CapturedEvent(
        id="", type="summary", role="system", text=payload.message, labels=["compaction"], raw_type="compacted"
    )
    return Reading("compacted", [(event, ("summary", None, payload.message))])


def _item_completed(event: Item) -> Reading:
    item: dict[str, Any] = event.item if isinstance(event.item, dict) else {}
    kind = item.get("type")
    if not isinstance(kind, str):
        return Reading("item_completed", fault="a completed item without a type")
    if kind == "UserMessage":
        parts = parts_of(item.get("content"), by_user=True)
        run = run_by_user(parts.text, "item_completed", COMPLETED_ITEM)
        return run or said("user", parts, "item_completed", COMPLETED_ITEM)
    if kind == "AgentMessage":
        return said("assistant", parts_of(item.get("content")), "item_completed", COMPLETED_ITEM)
    if kind == "Reasoning":
        texts = [*parts_of(item.get("summary_text")).texts, *parts_of(item.get("raw_content")).texts]
        return thoughts(texts, "item_completed", COMPLETED_ITEM)
    if kind == "Plan" and isinstance(item.get("text"), str):
        return _status("item_completed", "plan", item["text"])
    return Reading("item_completed" if kind in _SILENT_COMPLETED else UNKNOWN_COMPLETED)


def _inter_agent(payload: Item) -> Reading:
    reading = said("agent", parts_of(payload.content), "inter_agent_communication", EVENT)
    for event, _ in reading.drafts:
        event.author_id = name(payload.author)
    return reading


def _status(what: str, label: str, text: str) -> Reading:
    if blank(text):
        return Reading(what)
    event = CapturedEvent(id="", type="status", role="system", text=text, labels=[label], raw_type=what)
    return Reading(what, [(event, (label, None, text))])


_EVENTS: Final[Mapping[str, Callable[[Item], Reading]]] = {
    "user_message": _user_message,
    "agent_message": _agent_message,
    "agent_reasoning": _agent_reasoning,
    "agent_reasoning_raw_content": _agent_reasoning,
    "turn_aborted": _turn_aborted,
    "error": _error,
    "stream_error": _error,
    "thread_rolled_back": _thread_rolled_back,
    "context_compacted": _context_compacted,
    "item_completed": _item_completed,
}
_LINES: Final[Mapping[str, Callable[[Item], Reading]]] = {
    "response_item": read_item,
    "event_msg": _event,
    "compacted": _compacted,
    "inter_agent_communication": _inter_agent,
}
