"""One Claude conversation: from the bytes of its object to its elements.

Source: section 2.2 of the export formats; cases 17, 33 to 45. Without `parent_message_uuid` the array's order is the
conversation; with it edits and retries are branches.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from adapters.contract import MAX_SAMPLE_BYTES, Element, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.claude_messages import PROVIDER, Messages
from adapters.exports.claude_shapes import ROOT, Block, Conversation, Message, decoder
from adapters.exports.fields import identifier, times, word
from adapters.exports.tree import Item, Line, Tree, grow, time_rank, weave
from adapters.exports.unknown import Unknown
from adapters.files.json_line import BadLine
from adapters.files.json_stream import Slice
from schemas.captured import Thread
from schemas.ids import event_id


class Conversations:
    """Reads the conversations of one file; `unknown` counts what nobody described yet, over all of them."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._options = options
        self.unknown = Unknown()

    def elements(self, piece: Slice) -> Sequence[Element]:
        """Give the elements of one conversation; what is none is one rejection."""
        where = f"{self._path}: byte {piece.start}"
        try:
            conversation = decoder.decode(piece.raw)
        except BadLine as error:
            return (Rejected(where, error.reason, str(error), piece.raw[:MAX_SAMPLE_BYTES], len(piece.raw)),)
        messages = conversation.chat_messages
        if isinstance(messages, list) and messages:
            return self._messages(conversation, messages, where)
        if messages is None or isinstance(messages, list):
            return (Skipped("empty", "conversation without messages"),)
        detail = f"conversation {identifier(conversation.uuid)} has no list of chat_messages"
        return (Rejected(where, "no-messages", detail, piece.raw[:MAX_SAMPLE_BYTES], len(piece.raw)),)

    def _messages(self, conversation: Conversation, found: Sequence[object], where: str) -> Sequence[Element]:
        thread_id = identifier(conversation.uuid) or _derived_id(conversation, found)
        thread = Thread(
            provider=PROVIDER,
            thread_id=thread_id,
            account=self._options.account,
            channel_id=identifier(conversation.project_uuid),
            title=word(conversation.name),
        )
        where = f"{where}, conversation {thread_id}"
        messages, rejected = _keyed(found, where)
        reading = Messages(
            thread_id, word(conversation.model), self.unknown, include_hidden=self._options.include_hidden
        )

        def items(key: str) -> Sequence[Item]:
            message = messages[key]
            return reading.items(message, key if message.uuid == key else identifier(message.uuid) or key)

        tree = _tree(messages, conversation.current_leaf_message_uuid)
        before: list[Element] = [*rejected]
        if tree.cyclic:
            ring = f"cycle in {thread_id}: parents of its messages form a ring; each was read once"
            before.insert(0, Warned(where, ring))
        nearby = tuple(times(conversation.created_at, conversation.updated_at))
        return before + weave(tree, items, thread, nearby)


def _keyed(found: Sequence[object], where: str) -> tuple[dict[str, Message], list[Rejected]]:
    """Give messages by their uuids, in order; one that has none, or another's, gets a name of its own."""
    messages: dict[str, Message] = {}
    rejected: list[Rejected] = []
    for place, message in enumerate(found):
        if type(message) is not Message:
            detail = f"an object is expected, got {type(message).__name__}"
            rejected.append(Rejected(f"{where}, message {place + 1}", "not-a-message", detail))
            continue
        name = key = identifier(message.uuid) or _named_by_content(message)
        again = 1
        while key in messages:
            again += 1
            key = f"{name}#{again}"
        messages[key] = message
    return messages, rejected


def _named_by_content(message: Message) -> str:
    content = message.content
    first = content[0] if isinstance(content, list) and content else content
    said = [word(message.sender), word(message.created_at), word(message.text)]
    said.append(word(first.text) if isinstance(first, Block) else word(first))
    return event_id(PROVIDER, "message", *said)


def _tree(messages: dict[str, Message], leaf: object) -> Tree:
    """Arrange messages: what names no known parent follows the one before it."""
    if not any(message.parent_message_uuid for message in messages.values()):
        return Tree([Line(list(messages))]) if messages else Tree()
    parents: dict[str, str | None] = {}
    ranks: dict[str, float] = {}
    before: str | None = None
    for key, message in messages.items():
        told = identifier(message.parent_message_uuid)
        parents[key] = told if told in messages and told != key else None if told == ROOT else before
        own = time_rank(message.created_at)
        ranks[key] = own if own > -math.inf or before is None else ranks[before]
        before = key
    return grow(parents, identifier(leaf), ranks.__getitem__)


def _derived_id(conversation: Conversation, found: Sequence[object]) -> str:
    """Name a conversation without an id after its beginning, which it keeps when it grows."""
    first = next((message for message in found if isinstance(message, Message)), None)
    started = word(conversation.created_at)
    opening = None if first is None else identifier(first.uuid) or _named_by_content(first)
    return event_id(PROVIDER, "conversation", started, opening)
