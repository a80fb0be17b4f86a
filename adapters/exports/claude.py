"""Claude exports: `conversations.json` flat or branched, and conversations saved one by one.

Source: section 2 of the export formats; cases 17, 33 to 45.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from adapters.contract import Element, FileHead, ReadOptions
from adapters.exports.claude_conversation import Conversations
from adapters.exports.claude_messages import PROVIDER
from adapters.exports.documents import pieces, unread
from adapters.exports.shape import conversations
from adapters.files.json_stream import Slice


class ClaudeReader:
    """Reads conversations of Claude exports."""

    name = "Claude export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file's objects hold `chat_messages`."""
        return "chat_messages" in conversations(head.start).names()

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every element of the file in order, holding one conversation at a time."""
        reading = Conversations(path, options)
        for piece in pieces(stream, path):
            if isinstance(piece, Slice):
                yield from reading.elements(piece)
            else:
                yield unread(piece, path)
        yield from reading.unknown.remarks(path)
