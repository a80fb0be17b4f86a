"""What stands in the lines of a Claude Code session file, as far as it is read; every member may hold any JSON value.

Typed decoding skips what is never read: `toolUseResult` with its paths of persisted outputs, usage, signatures,
progress and hook data. Source: section 3.1 of the format page.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from adapters.files.json_line import BadLine, LineDecoder
from adapters.sessions.values import name


class Block(Struct, gc=False):
    """One block of a message's content: text, thinking, tool_use, tool_result, image, …."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    tool_use_id: Any = None
    content: Any = None
    is_error: Any = None
    source: Any = None


Content = Block | list[Block | list[Any] | str | int | float | bool | None] | str | int | float | bool | None


class Message(Struct, gc=False):
    """What a `user` or `assistant` line holds."""

    id: Any = None
    content: Content = None
    model: Any = None


class Attached(Struct, rename="camel", gc=False):
    """What an `attachment` line holds; a queued command is what a person typed while the model worked."""

    type: Any = None
    prompt: Any = None
    command_mode: Any = None
    origin: Any = None
    timestamp: Any = None


class Entry(Struct, rename="camel", gc=False):
    """One line."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = UNSET
    logical_parent_uuid: Any = None
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    message: Message | list[Any] | str | int | float | bool | None = None
    attachment: Attached | list[Any] | str | int | float | bool | None = None
    is_sidechain: Any = None
    agent_id: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_visible_in_transcript_only: Any = None
    is_api_error_message: Any = None
    origin: Any = None
    subtype: Any = None
    content: Any = None
    error: Any = None
    summary: Any = None
    leaf_uuid: Any = None
    custom_title: Any = None
    ai_title: Any = None
    display: Any = None
    project: Any = None


decoder: Final = LineDecoder[Entry](Entry)

# A nested object may have a type and a text too; only an entry has one of these beside its type.
_MARKS: Final = ("uuid", "session_id", "leaf_uuid", "agent_id")


def whole_entry(raw: bytes) -> Entry | None:
    """Decode an entry that stood glued to something; None when it is only a part of one."""
    try:
        entry = decoder.decode(raw)
    except BadLine:
        return None
    stands = isinstance(entry.type, str) and any(name(getattr(entry, mark)) for mark in _MARKS)
    return entry if stands or isinstance(entry.attachment, Attached) else None


def parent_of(entry: Entry) -> object:
    """Give the parent's uuid, None for a root, UNSET where there is none.

    After a compaction the chain begins anew; the logical parent says where it goes on.
    """
    if entry.parent_uuid is None and isinstance(entry.logical_parent_uuid, str):
        return entry.logical_parent_uuid
    return entry.parent_uuid


def blocks_of(content: Content) -> list[Block | str | None]:
    """Give the blocks of a content, text alone as one of them; None stands for what is no block."""
    if isinstance(content, list):
        return [block if isinstance(block, Block | str) else None for block in content]
    return [content] if isinstance(content, Block | str) else []


def nested_blocks(content: object) -> Content:
    """Give the content that a tool's result holds; what has another shape holds nothing."""
    if content is None or isinstance(content, str):  # nearly always; the rest of the work is for blocks
        return content
    try:
        converted: Content = msgspec.convert(content, Content)
    except (msgspec.ValidationError, RecursionError):
        return None
    return converted
