"""What stands in a PAM conversation, as far as it is read; every member may hold any JSON value.

Source: section 1 of the PAM page. Unknown members of a later 1.x are passed over.
"""

from typing import Any, Final

from msgspec import Struct

from adapters.files.json_line import LineDecoder


class Header(Struct, gc=False):
    """The members of a conversation but its messages."""

    schema: Any = None
    schema_version: Any = None
    id: Any = None
    provider: Any = None
    temporal: Any = None
    title: Any = None
    model: Any = None
    system_instruction: Any = None
    is_archived: Any = None
    raw_metadata: Any = None


class Message(Struct, gc=False):
    """The members of a message that are read."""

    id: Any = None
    role: Any = None
    created_at: Any = None
    provider_message_id: Any = None
    content: Any = None
    parent_id: Any = None
    model: Any = None
    is_thought: Any = None
    attachments: Any = None
    citations: Any = None
    tool_calls: Any = None
    raw_metadata: Any = None


class Link(Struct, gc=False):
    """Where a message stands among the others."""

    id: Any = None
    created_at: Any = None
    parent_id: Any = None
    children_ids: Any = None


messages: Final = LineDecoder[Message](Message)
links: Final = LineDecoder[Link](Link)
