"""ChatGPT exports: `conversations.json`, its numbered shards, wrapped forms, and a single saved conversation.

Source: section 1 of the export formats; cases 1 to 29, 61.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions
from adapters.exports.chatgpt_conversation import Conversations
from adapters.exports.chatgpt_messages import PROVIDER
from adapters.exports.documents import pieces, unread
from adapters.exports.shape import conversations
from adapters.files.json_stream import Piece, Slice

_MESSAGE: Final = 3
"""Depth of a message's members: conversation, mapping, node, message."""

_MARKS: Final = frozenset({"create_time", "update_time", "current_node", "conversation_id", "default_model_slug"})
_MESSAGE_MARKS: Final = frozenset({"author", "content"})


class ChatGPTReader:
    """Reads conversations of ChatGPT exports."""

    name = "ChatGPT export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds trees of ChatGPT messages; DeepSeek's look alike, and are told by their fragments."""
        found = conversations(head.start)
        conversation, message = found.names(), found.names(_MESSAGE)
        if "mapping" not in found.objects or "inserted_at" in conversation | message or "fragments" in message:
            return False
        return bool(conversation & _MARKS or message & _MESSAGE_MARKS)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order, holding one conversation at a time."""
        yield from read_pieces(pieces(stream, path), path, options)


def read_pieces(found: Iterator[Piece], path: Path, options: ReadOptions) -> Iterator[Element]:
    """Yield the elements of conversations, and last what was not known in them."""
    reading = Conversations(path, options)
    for piece in found:
        if isinstance(piece, Slice):
            yield from reading.elements(piece)
        else:
            yield unread(piece, path)
    yield from reading.unknown.remarks(path)
