"""What stands in a Claude conversation, as far as it is read; every member may hold any JSON value.

Source: section 2.2 of the export formats.
"""

from typing import Any, Final

from msgspec import Struct

from adapters.files.json_line import BadLine, LineDecoder

Scalar = str | int | float | bool | None

ROOT: Final = "00000000-0000-4000-8000-000000000000"
"""The parent that first messages name: there is no such message."""


class Block(Struct, gc=False):
    """One block of a message's content; which members it has depends on its type."""

    type: Any = None
    text: Any = None
    title: Any = None
    thinking: Any = None
    summaries: Any = None
    prompt: Any = None
    id: Any = None
    tool_use_id: Any = None
    name: Any = None
    input: Any = None
    content: Any = None
    is_error: Any = None
    citations: Any = None
    file_uuid: Any = None
    file_name: Any = None
    source: Any = None
    start_timestamp: Any = None


Blocks = list[Block | list[Any] | Scalar]


class Message(Struct, gc=False):
    """One message; `text` is a flattened copy of `content` that may hold what nobody said."""

    uuid: Any = None
    sender: Any = None
    text: Any = None
    content: Blocks | Block | Scalar = None
    created_at: Any = None
    updated_at: Any = None
    attachments: Any = None
    files: Any = None
    files_v2: Any = None
    parent_message_uuid: Any = None
    model: Any = None


class Conversation(Struct, gc=False):
    """One conversation, without what is only its settings."""

    uuid: Any = None
    name: Any = None
    model: Any = None
    created_at: Any = None
    updated_at: Any = None
    project_uuid: Any = None
    current_leaf_message_uuid: Any = None
    chat_messages: list[Message | list[Any] | Scalar] | dict[str, Any] | Scalar = 0


decoder: Final = LineDecoder[Conversation](Conversation)
_blocks: Final = LineDecoder[Blocks](Blocks)


def blocks_of(message: Message) -> Blocks:
    """Give the blocks of a message: its content may also be missing, a text, or the list written as JSON in a text."""
    content = message.content
    if isinstance(content, list):
        return content
    if isinstance(content, Block):
        return [content]
    if not isinstance(content, str) or not content.strip():
        return []
    if content.lstrip().startswith("[{"):
        try:
            return _blocks.decode(content.encode())
        except BadLine:  # words that only begin like a list
            pass
    return [Block(type="text", text=content)]
