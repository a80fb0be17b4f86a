"""What stands in the lines of a Codex rollout file, as far as it is read; every member may hold any JSON value.

Typed decoding skips what is never read: base and user instructions, replacement histories, encrypted reasoning, token
counts. Source: section 3.2 of the format page.
"""

import re
from typing import Any, Final

from msgspec import Struct

from adapters.files.json_line import BadLine, LineDecoder
from adapters.sessions.values import name

UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
"""Ids that are unique wherever they were made; others, such as `t-9` or `0`, are so in their file only."""


class Item(Struct, gc=False):
    """A payload, or a line of 2025 without its envelope: an item of the model's, or an event of the program's."""

    type: Any = None
    id: Any = None
    role: Any = None
    content: Any = None
    name: Any = None
    arguments: Any = None
    input: Any = None
    call_id: Any = None
    output: Any = None
    action: Any = None
    revised_prompt: Any = None
    summary: Any = None
    message: Any = None
    text: Any = None
    kind: Any = None
    images: Any = None
    local_images: Any = None
    item: Any = None
    turn_id: Any = None
    reason: Any = None
    num_turns: Any = None
    author: Any = None
    model: Any = None
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    source: Any = None
    thread_source: Any = None
    parent_thread_id: Any = None
    forked_from_id: Any = None


class Line(Item, gc=False):
    """One line."""

    payload: Item | list[Any] | str | int | float | bool | None = None
    record_type: Any = None
    instructions: Any = None
    git: Any = None


decoder: Final = LineDecoder[Line](Line)

BARE_ITEMS: Final = frozenset(
    {
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "local_shell_call",
        "message",
        "reasoning",
        "web_search_call",
    }
)


def whole_line(raw: bytes) -> Line | None:
    """Decode a line that stood glued to something; None when it is only a part of one."""
    try:
        line = decoder.decode(raw)
    except BadLine:
        return None
    return line if isinstance(line.payload, Item) and isinstance(line.type, str) else None


def is_bare_meta(line: Line) -> bool:
    """Whether a line is the first of a file of 2025, which says no type: a session's id and time."""
    return line.type is None and line.payload is None and name(line.id) is not None and line.timestamp is not None


def meta_of(line: Line) -> Item | None:
    """Give what a line says of the session, if it is a `session_meta` of any age."""
    if line.type == "session_meta" and isinstance(line.payload, Item):
        return line.payload
    return line if is_bare_meta(line) else None


def is_sub_agent(meta: Item) -> bool:
    """Whether a model began the session, not a person."""
    return meta.thread_source == "subagent" or (isinstance(meta.source, dict) and "subagent" in meta.source)


def parent_thread(meta: Item) -> str | None:
    """Give the session that a sub-agent's works for."""
    source = meta.source.get("subagent") if isinstance(meta.source, dict) else None
    spawn = source.get("thread_spawn") if isinstance(source, dict) else None
    spawned = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    known = (name(found) for found in (spawned, meta.parent_thread_id, meta.session_id))
    return next((found for found in known if found is not None and found != meta.id), None)
