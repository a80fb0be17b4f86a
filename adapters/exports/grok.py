"""Grok's account data: `prod-grok-backend.json` with conversations, each a tree of responses wrapped twice.

Source: section 4 of the export formats, 4.6 of the PAM page, case 55.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachment, sources
from adapters.exports.fields import Object, array, first_word, identifier, obj, same, text, times, word
from adapters.exports.records import Record, records
from adapters.exports.shape import conversations
from adapters.exports.spans import cut_spans
from adapters.exports.tree import Item, grow, time_rank, weave
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import event_id

PROVIDER: Final = "grok"

# Machinery inside words: cards that the web page draws.
_RENDER: Final = ("<grok:render", "</grok:render>")
_TOOL_CARD: Final = ("<xai:tool_usage_card>", "</xai:tool_usage_card>")


class GrokReader:
    """Reads the conversations of Grok's account data."""

    name = "Grok export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file's conversations hold responses, wrapped or flat."""
        found = conversations(head.start)
        wrapped = {"conversation", "responses"} <= found.names(0)
        flat = "responses" in found.names(0) and bool({"sender", "response"} & found.names(1))
        return wrapped or flat

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every conversation, holding one at a time."""
        for record in records(stream, path):
            if isinstance(record, Record):
                yield from _conversation(record, options)
            else:
                yield record


def _conversation(record: Record, options: ReadOptions) -> Iterator[Element]:
    about = obj(record.value.get("conversation")) or record.value
    responses = record.value.get("responses")
    if not isinstance(responses, list):
        yield Rejected(record.where, "not-a-conversation", "no list of responses is there")
        return
    if not responses:
        yield Skipped("empty", "conversation without messages")
        return
    nodes, copies = _nodes(responses)
    if copies:
        yield Skipped("duplicate", "response that is there twice", copies)
    thread_id = first_word(identifier(about.get("id")), identifier(about.get("conversation_id")))
    chat = Chat(
        PROVIDER,
        thread_id or event_id(PROVIDER, "thread", word(about.get("title")), next(iter(nodes))),
        options,
        title=about.get("title"),
        nearby=times(about.get("create_time"), about.get("modify_time")),
    )
    parents = {node: identifier(obj(value).get("parent_response_id")) for node, value in nodes.items()}
    tree = grow(
        parents,
        identifier(about.get("leaf_response_id")),
        lambda node: time_rank(next(iter(times(obj(nodes[node]).get("create_time"))), None)),
    )
    yield from weave(tree, lambda node: _items(chat, node, nodes[node], record.where), chat.thread, chat.nearby)


def _nodes(responses: list[object]) -> tuple[dict[str, object], int]:
    """Give the responses by id, and how many are there twice.

    One without an id, or with an id that another has, gets one from its words and what stands before it.
    """
    nodes: dict[str, object] = {}
    copies = 0
    last: str | None = None
    for wrapped in responses:
        value = wrapped.get("response", wrapped) if isinstance(wrapped, dict) else wrapped
        response = obj(value)
        key = identifier(response.get("_id")) or identifier(response.get("response_id"))
        if key in nodes and same(nodes[key], value):
            copies += 1
            continue
        if key is None or key in nodes:
            key = event_id(PROVIDER, "node", last, text(response.get("message")))
        nodes[key] = value
        last = key
    return nodes, copies


def _items(chat: Chat, node: str, value: object, where: str) -> list[Item]:
    if not isinstance(value, dict):
        return [Rejected(f"{where}: {chat.thread.thread_id}/{node}", "not-a-message", f"a {type(value).__name__}")]
    reasoning = cut_spans(text(value.get("thinking_trace")), *_TOOL_CARD).rest.strip()
    items: list[Item] = []
    if reasoning:
        items.append(chat.reasoning(_event(node, value, "assistant", reasoning)))
    role = _role(value)
    message = _event(node, value, role, cut_spans(text(value.get("message")), *_RENDER).rest)
    message.attachments = _attachments(value)
    message.citations = sources(value.get("cited_web_search_results"))
    error = first_word(value.get("error"), obj(value.get("error")).get("message"))
    if error and not word(message.text) and not message.attachments:
        message.type, message.text, message.labels = "status", error, ["error"]
        items.append(chat.finish(message, "error"))
    else:
        items.append(chat.message(message))
    return items


def _role(value: Object) -> str:
    """Give the sender's word; a model's name, too, is the assistant's."""
    sender = text(value.get("sender")).strip()
    return sender if not sender or sender.lower() == "human" else "assistant"


def _event(node: str, value: Object, role: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="",
        type="message",
        role=role,
        text=words,
        times=times(value.get("create_time")),
        message_id=node,
        model=word(value.get("model")),
        raw_type=word(value.get("query_type")) or "response",
    )


def _attachments(value: Object) -> list[Attachment]:
    pictures = [Attachment(kind="image", url=url) for url in array(value.get("generated_image_urls")) if word(url)]
    files = [
        attachment(item) if isinstance(item, dict) else Attachment(kind="file", name=item)
        for item in array(value.get("file_attachments"))
        if isinstance(item, dict) or word(item)
    ]
    return [*pictures, *files]
