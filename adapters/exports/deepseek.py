"""DeepSeek's export: conversations as trees whose messages are fragments, without roles and without a live leaf.

An answer can be stamped before its question, so order is that of the tree. Source: section 4 of the export formats.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachments, sources, tool_result
from adapters.exports.fields import Object, first_word, identifier, obj, objects, text, times, word
from adapters.exports.records import Record, records
from adapters.exports.shape import conversations
from adapters.exports.tree import Item, grow, time_rank, weave
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import event_id

PROVIDER: Final = "deepseek"

_REQUEST: Final = "REQUEST"
_RESPONSE: Final = "RESPONSE"
_MESSAGE_LEVEL: Final = 3
"""Depth of a message: below conversation, mapping and node."""


class DeepSeekReader:
    """Reads DeepSeek's `conversations.json`."""

    name = "DeepSeek export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds trees of fragments, or of messages with DeepSeek's time member."""
        found = conversations(head.start)
        if "mapping" not in found.names(0):
            return False
        message = found.names(_MESSAGE_LEVEL)
        return bool({"fragments", "thinking_content"} & message) or "inserted_at" in found.names(0)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every conversation, holding one at a time."""
        for record in records(stream, path):
            if isinstance(record, Record):
                yield from _conversation(record, options)
            else:
                yield record


def _conversation(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    nodes = value.get("mapping")
    if not isinstance(nodes, dict):
        yield Rejected(record.where, "not-a-conversation", "no mapping is there")
        return
    said = [node for node, inner in nodes.items() if not isinstance(inner, dict) or inner.get("message") is not None]
    if not said:
        yield Skipped("empty", "conversation without messages")
        return
    thread_id = identifier(value.get("id")) or event_id(PROVIDER, "thread", word(value.get("title")), *sorted(said)[:1])
    chat = Chat(
        PROVIDER,
        thread_id,
        options,
        title=value.get("title"),
        nearby=times(value.get("inserted_at"), value.get("updated_at")),
    )
    parents = {node: identifier(obj(inner).get("parent")) for node, inner in nodes.items()}
    tree = grow(parents, value.get("current_node"), lambda node: time_rank(_message(nodes[node]).get("inserted_at")))
    depths = _depths(nodes, parents)
    yield from weave(
        tree, lambda node: _items(chat, node, nodes[node], depths[node], record.where), chat.thread, chat.nearby
    )


def _message(node: object) -> Object:
    return obj(obj(node).get("message"))


def _items(chat: Chat, node: str, inner: object, depth: int, where: str) -> list[Item]:
    message = inner.get("message") if isinstance(inner, dict) else inner
    if message is None:
        return []  # the root
    if not isinstance(message, dict):
        return [Rejected(f"{where}: {chat.thread.thread_id}/{node}", "not-a-message", f"a {type(message).__name__}")]
    fragments = message.get("fragments")
    if not isinstance(fragments, list):
        return _old_items(chat, node, message, depth)
    if not fragments:
        return [Skipped("empty", "message without words")]
    files = [*attachments(message.get("files")), *_file_fragments(fragments)]
    items: list[Item] = []
    for place, fragment in enumerate(fragments):
        if not isinstance(fragment, dict):
            items.append(
                Rejected(f"{where}: {chat.thread.thread_id}/{node}", "not-a-fragment", type(fragment).__name__)
            )
            continue
        item = _fragment(chat, node, message, fragment, place, files)
        if item is not None:
            items.append(item)
    if files:  # no fragment of words was there to bear them
        event = _event(node, message, _REQUEST, "")
        event.attachments = files
        items.append(chat.message(event, "files"))
    return items


def _fragment(
    chat: Chat, node: str, message: Object, fragment: Object, place: int, files: list[Attachment]
) -> CapturedEvent | Skipped | None:
    kind = text(fragment.get("type")).upper()
    event = _event(node, message, kind, text(fragment.get("content")))
    if kind == "FILE":
        return None  # borne by the words beside it
    if kind == "THINK":
        return chat.reasoning(event, place)
    if "SEARCH" in kind or kind.startswith("TOOL"):
        return _searched(chat, event, fragment, place)
    if kind == _REQUEST:
        event.attachments = files[:]
        files.clear()
    return chat.message(event, place)


def _searched(chat: Chat, event: CapturedEvent, fragment: Object, place: int) -> CapturedEvent:
    found = fragment.get("results") or fragment.get("result")
    shown = tool_result(event.raw_type, word(event.text) or found)
    event.type, event.text, event.tool_name = "tool_result", shown.text, shown.tool_name
    event.citations = sources(found)
    return chat.finish(event, place)


def _event(node: str, message: Object, kind: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="",
        type="message",
        role=kind,
        text=words,
        times=times(message.get("inserted_at")),
        message_id=node,
        model=word(message.get("model")) if kind != _REQUEST else None,
        raw_type=kind or "fragment",
    )


def _file_fragments(fragments: list[object]) -> list[Attachment]:
    found = [fragment for fragment in objects(fragments) if text(fragment.get("type")).upper() == "FILE"]
    return [
        Attachment(kind="file", name=first_word(item.get("file_name"), item.get("name"), item.get("content")))
        for item in found
    ]


def _old_items(chat: Chat, node: str, message: Object, depth: int) -> list[Item]:
    """Read a message from before fragments: its words in `content`, reasoning in `thinking_content`.

    One without a role is an answer when it has reasoning, or an odd number of messages above it.
    """
    thought = text(message.get("thinking_content"))
    role = word(message.get("role")) or (_RESPONSE if word(thought) or depth % 2 else _REQUEST)
    items: list[Item] = []
    if word(thought):
        items.append(chat.reasoning(_event(node, message, _RESPONSE, thought)))
    event = _event(node, message, role, text(message.get("content")))
    event.attachments = attachments(message.get("files"))
    items.append(chat.message(event))
    return items


def _depths(nodes: Object, parents: dict[str, str | None]) -> dict[str, int]:
    """Give for each node how many messages stand above it; a ring of parents begins anywhere."""
    depths: dict[str, int] = {}
    for start in nodes:
        path: list[str] = []
        node: str | None = start
        on_path: set[str] = set()
        while node is not None and node in nodes and node not in depths and node not in on_path:
            path.append(node)
            on_path.add(node)
            node = parents[node]
        depth = depths[node] + bool(_message(nodes[node])) if node is not None and node in depths else 0
        for node in reversed(path):
            depths[node] = depth
            depth += bool(_message(nodes[node]))
    return depths
