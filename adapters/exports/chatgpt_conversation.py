"""One ChatGPT conversation: from the bytes of its object to its elements.

Source: sections 1.2 and 1.3 of the export formats; cases 5, 7, 13, 15, 23, 61.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapters.contract import MAX_SAMPLE_BYTES, Element, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.chatgpt_messages import PROVIDER, Messages
from adapters.exports.chatgpt_shapes import Children, Conversation, Message, Node, decoder, lineage_decoder
from adapters.exports.citations import may_be_marked
from adapters.exports.fields import identifier, times, word
from adapters.exports.tree import grow, time_rank, weave
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
        named = identifier(conversation.conversation_id) or identifier(conversation.id)
        if not isinstance(conversation.mapping, dict):
            detail = f"conversation {named} has no mapping of messages"
            return (Rejected(where, "no-messages", detail, piece.raw[:MAX_SAMPLE_BYTES], len(piece.raw)),)
        return self._messages(conversation, piece.raw, named or _derived_id(conversation), where)

    def _messages(self, conversation: Conversation, raw: bytes, thread_id: str, where: str) -> Sequence[Element]:
        thread = Thread(
            provider=PROVIDER,
            thread_id=thread_id,
            account=self._options.account,
            channel_id=identifier(conversation.gizmo_id) or identifier(conversation.conversation_template_id),
            title=word(conversation.title),
        )
        where = f"{where}, conversation {thread_id}"
        messages = Messages(
            conversation,
            thread_id,
            where,
            self.unknown,
            include_hidden=self._options.include_hidden,
            marked=may_be_marked(raw),
        )
        nodes = messages.nodes
        tree = grow(_parents(nodes, raw), _leaf(conversation, nodes), lambda key: time_rank(_time(nodes[key])))
        nearby = tuple(times(conversation.create_time, conversation.update_time))
        found = weave(tree, messages.items, thread, nearby)
        if not messages.seen:
            found.append(Skipped("empty", "conversation without messages"))
        if tree.cyclic:
            ring = f"cycle in {thread_id}: parents of its messages form a ring; each was read once"
            return (Warned(where, ring), *found)
        return found


Nodes = dict[str, Node | list[object] | str | int | float | bool | None]


def _time(node: object) -> object:
    message = node.message if isinstance(node, Node) else None
    return message.create_time if isinstance(message, Message) else None


def _parents(nodes: Nodes, raw: bytes) -> dict[str, str | None]:
    """Give each node's parent; children tell it only where a node does not, since newer exports have none."""
    parents = {  # `_parent` of each, which costs twice as much as a call
        key: parent if type(node) is Node and type(parent := node.parent) is str else None
        for key, node in nodes.items()
    }
    if len(parents) - sum(map(nodes.__contains__, parents.values())) > 1:
        for child, parent in _told_by_children(raw):
            if child in parents and parents[child] not in nodes and child != parent:
                parents[child] = parent
    return parents


def _parent(node: object) -> str | None:
    return node.parent if type(node) is Node and type(node.parent) is str else None


def _told_by_children(raw: bytes) -> Iterator[tuple[str, str]]:
    mapping = lineage_decoder.decode(raw).mapping
    for parent, node in mapping.items() if isinstance(mapping, dict) else ():
        if isinstance(node, Children) and isinstance(node.children, list):
            yield from ((child, parent) for child in node.children if isinstance(child, str))


def _leaf(conversation: Conversation, nodes: Nodes) -> object:
    """Give the live leaf that the export names, unless no message stands on the way up from it."""
    leaf = conversation.current_node
    seen: set[object] = set()
    key = leaf
    while isinstance(key, str) and key in nodes and key not in seen:
        node = nodes[key]
        if isinstance(node, Node) and node.message is not None:
            return leaf
        seen.add(key)
        key = _parent(node)
    return None


def _derived_id(conversation: Conversation) -> str:
    """Name a conversation without an id after its first message, which it keeps when it grows."""
    nodes = conversation.mapping if isinstance(conversation.mapping, dict) else {}
    said = [key for key, node in nodes.items() if isinstance(node, Node) and node.message is not None]
    dated = [key for key in said if time_rank(_time(nodes[key])) > -math.inf]
    first = min(dated or said or nodes, key=lambda key: (time_rank(_time(nodes[key])), key), default=None)
    return event_id(PROVIDER, "conversation", first)
