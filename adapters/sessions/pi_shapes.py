"""What stands in the lines of a pi session file, as far as it is read; every member may hold any JSON value.

Typed decoding skips what is never read (usage, details, signatures, retained tails), which also keeps it from ever
being emitted. Source: pi session-manager.ts, messages.ts; versions 1 to 4; sections 2.2 to 2.7 of the format page.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from adapters.files.json_line import BadLine, LineDecoder


class Block(Struct, rename="camel", gc=False):
    """One block of a message's content: text, thinking, toolCall or image."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    id: Any = None
    name: Any = None
    arguments: Any = None
    data: Any = None
    mime_type: Any = None


Content = Block | list[Block | list[Any] | str | int | float | bool | None] | str | int | float | bool | None


class Accounts(Struct, rename="camel", gc=False):
    """Where extensions put the account, on the entry or in its message; pi itself writes none."""

    account: Any = None
    account_id: Any = None
    account_id_snake: Any = msgspec.field(name="account_id", default=None)
    provider_account: Any = None
    provider_account_snake: Any = msgspec.field(name="provider_account", default=None)


class Message(Accounts, rename="camel", gc=False):
    """What a `message` entry holds."""

    role: Any = None
    content: Content = None
    timestamp: Any = None
    model: Any = None
    stop_reason: Any = None
    error_message: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    is_error: Any = None
    custom_type: Any = None
    display: Any = None
    summary: Any = None
    command: Any = None
    output: Any = None
    exit_code: Any = None
    cancelled: Any = None
    truncated: Any = None
    exclude_from_context: Any = None
    sections: Any = None


class Entry(Accounts, rename="camel", gc=False):
    """One line: a header, an entry, or a `kind` line of version 4."""

    type: Any = None
    kind: Any = None
    id: Any = None
    parent_id: Any = UNSET
    timestamp: Any = None
    message: Message | list[Any] | str | int | float | bool | None = None
    custom_type: Any = None
    content: Content = None
    display: Any = None
    summary: Any = None
    provider: Any = None
    model_id: Any = None
    name: Any = None
    fact: Any = None
    version: Any = None
    v: Any = None
    cwd: Any = None
    created_at: Any = None


decoder: Final = LineDecoder[Entry](Entry)

_STANDALONE: Final = frozenset({"session", "title"})
_KINDS: Final = frozenset({"header", "lane", "fact"})


def is_header(entry: Entry) -> bool:
    """Whether the line is a session header: `type` in versions 1 to 3, `kind` in version 4."""
    return entry.type == "session" or (entry.kind == "header" and entry.type is None)


def whole_entry(raw: bytes) -> Entry | None:
    """Decode an entry that stood glued to something; None when it is only a block of one (which has no time)."""
    try:
        entry = decoder.decode(raw)
    except BadLine:
        return None
    if isinstance(entry.type, str):
        stands = entry.type in _STANDALONE or entry.timestamp is not None
    else:
        stands = isinstance(entry.kind, str) and entry.kind in _KINDS
    return entry if stands else None
