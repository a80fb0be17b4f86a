"""LibreChat's export of one conversation: a list of messages with parents, or nested in one another.

Source: section 4 of the export formats; the members as its own import fixtures have them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachments, sources, tool_call, tool_result
from adapters.exports.fields import Object, array, first_word, identifier, obj, objects, same, text, times, word
from adapters.exports.records import Record, elements_of_whole
from adapters.exports.shape import outline
from adapters.exports.tree import Item, grow, time_rank, weave
from schemas.captured import CapturedEvent
from schemas.ids import event_id

PROVIDER: Final = "librechat"

_MESSAGE_NAMES: Final = frozenset({"messageId", "parentMessageId", "isCreatedByUser"})
_LISTS: Final = ("messagesTree", "messages")


class LibreChatReader:
    """Reads a conversation exported from LibreChat as JSON."""

    name = "LibreChat export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a conversation whose messages name their parents as LibreChat does."""
        found = outline(head.start)
        names = found.names(0)
        inside = bool(_MESSAGE_NAMES & (found.names(1) | found.names(2)))
        return found.top == "{" and "conversationId" in names and bool(set(_LISTS) & names) and inside

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the conversation's messages: the newest line first, then what was left behind."""
        return elements_of_whole(stream, path, lambda record: _conversation(record, options))


def _conversation(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    messages = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if messages is None:
        yield Rejected(record.where, "not-a-conversation", "no list of messages is there")
        return
    nodes, parents, copies = _flat(messages)
    if copies:
        yield Skipped("duplicate", "message that is there twice", copies)
    if not nodes:
        yield Skipped("empty", "conversation without messages")
        return
    thread_id = identifier(value.get("conversationId")) or event_id(PROVIDER, "thread", next(iter(nodes)))
    chat = Chat(PROVIDER, thread_id, options, title=value.get("title"), nearby=times(value.get("createdAt")))
    tree = grow(parents, None, lambda node: time_rank(obj(nodes[node]).get("createdAt")))
    yield from weave(tree, lambda node: _items(chat, node, nodes[node], record.where), chat.thread, chat.nearby)


def _flat(messages: list[object]) -> tuple[dict[str, object], dict[str, str | None], int]:
    """Give messages and parents by id, of a list or of nested ones, in the order of the file; and how many are copies.

    Messages of which none names a parent are one line.
    """
    nodes: dict[str, object] = {}
    parents: dict[str, str | None] = {}
    copies = 0
    pending: list[tuple[object, str | None]] = [(message, None) for message in reversed(messages)]
    last: str | None = None
    linear = not any("parentMessageId" in obj(message) or obj(message).get("children") for message in messages)
    while pending:
        message, above = pending.pop()
        value = (
            {name: inner for name, inner in message.items() if name != "children"}
            if isinstance(message, dict)
            else message
        )
        key = identifier(obj(value).get("messageId"))
        if key in nodes and same(nodes[key], value):
            copies += 1
            continue
        if key is None or key in nodes:
            key = event_id(PROVIDER, "node", last, text(obj(value).get("text")))
        nodes[key] = value
        parents[key] = above or identifier(obj(value).get("parentMessageId")) or (last if linear else None)
        last = key
        pending.extend((child, key) for child in reversed(array(obj(message).get("children"))))
    return nodes, parents, copies


def _items(chat: Chat, node: str, value: object, where: str) -> list[Item]:
    if not isinstance(value, dict):
        return [Rejected(f"{where}: {chat.thread.thread_id}/{node}", "not-a-message", f"a {type(value).__name__}")]
    role = _role(value)
    parts = array(value.get("content"))
    items: list[Item] = [item for place, part in enumerate(parts) for item in _part(chat, node, value, part, place)]
    said = [words for part in parts if (words := _words(part))]
    event = _event(node, value, role, "\n\n".join(said) or text(value.get("text")))
    event.attachments = attachments(value.get("files")) + attachments(value.get("attachments"))
    if value.get("error") is True:
        event.type, event.labels = "status", ["error"]
        items.append(chat.finish(event, "error"))
    else:
        event.labels = ["unfinished"] if value.get("unfinished") is True else []
        items.append(chat.message(event))
    return items


def _role(value: Object) -> str:
    mine = value.get("isCreatedByUser")
    if isinstance(mine, bool):
        return "user" if mine else "assistant"
    sender = text(value.get("sender")).strip().lower()
    return sender if sender in {"user", "system", ""} else "assistant"


def _words(part: object) -> str:
    """Give the words of a part: a text, or an object that holds one."""
    if isinstance(part, str):
        return part
    inner = obj(part).get("text")
    kind = obj(part).get("type")
    return text(obj(inner).get("value", inner)) if kind is None or kind == "text" else ""


def _part(chat: Chat, node: str, value: Object, part: object, place: int) -> Iterator[Item]:
    """Give what a part holds beside the message's words: reasoning, a call and its result, an error."""
    kind = obj(part).get("type")
    inner = obj(part)
    if kind == "think":
        thought = first_word(inner.get("think"), obj(inner.get("think")).get("value"))
        yield chat.reasoning(_event(node, value, "assistant", thought or ""), place)
    elif kind == "error":
        failed = _event(node, value, "assistant", first_word(inner.get("error"), inner.get("text")) or "error")
        failed.type, failed.labels = "status", ["error"]
        yield chat.finish(failed, place)
    elif kind == "tool_call":
        call = obj(inner.get("tool_call"))
        drafts = [tool_call(call.get("name"), call.get("args"))]
        if word(call.get("output")):
            drafts.append(tool_result(call.get("name"), call.get("output")))
        for draft in drafts:
            draft.times, draft.message_id, draft.raw_type = times(value.get("createdAt")), node, "tool_call"
            draft.tool_call_id = identifier(call.get("id"))
            yield chat.finish(draft, place)


def _event(node: str, value: Object, role: str, words: str) -> CapturedEvent:
    return CapturedEvent(
        id="",
        type="message",
        role=role,
        text=words,
        times=times(value.get("createdAt")),
        message_id=node,
        model=word(value.get("model")) if role != "user" else None,
        raw_type="message",
        citations=sources(objects(value.get("citations"))),
    )
