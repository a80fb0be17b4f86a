"""Open WebUI's chat export: an array of chats, each a tree of messages with its live leaf.

Reasoning and tool traffic stand in `output` items of newer versions, in `<details>` blocks of the text of older ones.
Source: section 4 of the export formats; the members as public importers' fixtures have them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachments, sources, tool_call, tool_result
from adapters.exports.fields import Object, array, first_word, identifier, obj, objects, text, times, word
from adapters.exports.records import Record, records
from adapters.exports.shape import conversations
from adapters.exports.spans import cut_spans
from adapters.exports.tree import Item, grow, time_rank, weave
from schemas.captured import CapturedEvent
from schemas.event import Citation
from schemas.ids import event_id

PROVIDER: Final = "open-webui"

_REASONING: Final = ('<details type="reasoning"', "</details>")
_MACHINERY: Final = (('<details type="tool_calls"', "</details>"), ('<details type="code_interpreter"', "</details>"))
_SUMMARY: Final = re.compile(r"^[^>]*>|<summary>[^<]*</summary>")


class OpenWebUiReader:
    """Reads chats exported from Open WebUI."""

    name = "Open WebUI export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file holds chats with a history of messages, or with a list of them."""
        found = conversations(head.start)
        return "chat" in found.names(0) and bool({"history", "messages"} & found.names(1))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every chat, holding one at a time."""
        for record in records(stream, path):
            if isinstance(record, Record):
                yield from _chat(record, options)
            else:
                yield record


def _chat(record: Record, options: ReadOptions) -> Iterator[Element]:
    inner = record.value.get("chat")
    if not isinstance(inner, dict):
        yield Rejected(record.where, "not-a-conversation", "no chat is there")
        return
    nodes, leaf = _nodes(inner)
    if not nodes:
        yield Skipped("empty", "conversation without messages")
        return
    title = first_word(record.value.get("title"), inner.get("title"))
    thread_id = identifier(record.value.get("id")) or identifier(inner.get("id"))
    chat = Chat(
        PROVIDER,
        thread_id or event_id(PROVIDER, "thread", title, next(iter(nodes))),
        options,
        title=title,
        nearby=times(record.value.get("created_at"), inner.get("timestamp"), record.value.get("updated_at")),
    )
    if system := first_word(inner.get("system"), obj(inner.get("params")).get("system")):
        event = CapturedEvent(id="", type="status", role="system", text=system, raw_type="system")
        yield chat.heard(chat.hidden(event, "system prompt", "system"))
    parents = {node: identifier(obj(value).get("parentId")) for node, value in nodes.items()}
    tree = grow(parents, leaf, lambda node: time_rank(obj(nodes[node]).get("timestamp")))
    yield from weave(tree, lambda node: _items(chat, node, nodes[node], record.where), chat.thread, chat.nearby)


def _nodes(inner: Object) -> tuple[dict[str, object], object]:
    """Give the messages by id, and the live leaf; a bare list is one line."""
    history = obj(inner.get("history"))
    messages = history.get("messages")
    if isinstance(messages, dict) and messages:
        return dict(messages), history.get("currentId")
    nodes: dict[str, object] = {}
    last: str | None = None
    for message in array(inner.get("messages")):
        value = dict(message) if isinstance(message, dict) else message
        key = identifier(obj(value).get("id"))
        if key is None or key in nodes:
            key = event_id(PROVIDER, "node", last, text(obj(value).get("content")))
        if isinstance(value, dict):
            value.setdefault("parentId", last)
        nodes[key] = value
        last = key
    return nodes, last


def _items(chat: Chat, node: str, value: object, where: str) -> list[Item]:
    if not isinstance(value, dict):
        return [Rejected(f"{where}: {chat.thread.thread_id}/{node}", "not-a-message", f"a {type(value).__name__}")]
    output = objects(value.get("output"))
    items: list[Item] = [item for place, part in enumerate(output) for item in _output(chat, node, value, part, place)]
    written = _content(value.get("content"))
    said, thoughts = _without_details(written)
    if thoughts and not any(part.get("type") == "reasoning" for part in output):
        items.append(chat.reasoning(_event(node, value, "assistant", "\n\n".join(thoughts))))
    answers = [words for part in output if part.get("type") == "message" and (words := _content(part.get("content")))]
    event = _event(node, value, text(value.get("role")), "\n\n".join(answers) or said)
    event.attachments = attachments(value.get("files"))
    event.citations = _citations(value)
    error = first_word(
        value.get("error"), obj(value.get("error")).get("content"), obj(value.get("error")).get("message")
    )
    if error:
        failed = _event(node, value, "assistant", error)
        failed.type, failed.labels = "status", ["error"]
        items.append(chat.finish(failed, "error"))
    if event.role == "system":
        items.append(chat.hidden(event, "system message"))
    elif not error or word(event.text):
        items.append(chat.message(event))
    return items


def _content(content: object) -> str:
    """Give the words of a message: a text, or the texts among its parts."""
    if isinstance(content, str):
        return content
    return "\n".join(words for part in objects(content) if (words := text(part.get("text"))))


def _without_details(written: str) -> tuple[str, list[str]]:
    if "<details" not in written:
        return written, []
    cut = cut_spans(written, *_REASONING)
    rest = cut.rest
    for opening, closing in _MACHINERY:
        rest = cut_spans(rest, opening, closing).rest
    thoughts = [_SUMMARY.sub("", inner).replace("&gt;", ">").strip() for inner in cut.inside]
    return rest.strip(), [thought for thought in thoughts if thought]


def _output(chat: Chat, node: str, value: Object, part: Object, place: int) -> Iterator[Item]:
    kind = part.get("type")
    if kind == "reasoning":
        words = _content(part.get("content")) or _content(part.get("summary"))
        yield chat.reasoning(_event(node, value, "assistant", words), place)
        return
    if kind == "function_call":
        draft = tool_call(part.get("name"), part.get("arguments"))
    elif kind == "function_call_output":
        draft = tool_result(None, _content(part.get("output")) or part.get("output"))
    else:
        return
    draft.times, draft.message_id = times(value.get("timestamp")), node
    draft.tool_call_id, draft.raw_type = identifier(part.get("call_id")), word(kind)
    yield chat.finish(draft, place)


def _event(node: str, value: Object, role: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="",
        type="message",
        role=role,
        text=words,
        times=times(value.get("timestamp")),
        message_id=node,
        model=first_word(value.get("model"), value.get("modelName")) if role != "user" else None,
        raw_type="message",
    )


def _citations(value: Object) -> list[Citation]:
    found: list[object] = []
    for item in [*objects(value.get("sources")), *objects(value.get("citations"))]:
        source = obj(item.get("source"))
        found.append({"url": first_word(source.get("url"), item.get("url")), "title": source.get("name")})
        found += [{"url": meta.get("source"), "title": meta.get("title")} for meta in objects(item.get("metadata"))]
    return [citation for citation in sources(found) if citation.url and "://" in citation.url]
