"""LM Studio's `*.conversation.json`: messages in order, each with versions of which one is selected.

No message has a time or an id; the conversation has the time it was made. Versions that are not selected are branches
of one message. Source: section 4 of the export formats; the members as public converters read them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, Heard, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachment, tool_call, tool_result
from adapters.exports.fields import Object, first_word, identifier, number, obj, objects, text, times, word
from adapters.exports.records import Record, elements_of_whole
from adapters.exports.shape import outline
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import event_id

PROVIDER: Final = "lm-studio"

_SYSTEM_PROMPT: Final = "llm.prediction.systemPrompt"


class LmStudioReader:
    """Reads a conversation file of LM Studio."""

    name = "LM Studio conversation"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a conversation whose messages have versions."""
        found = outline(head.start)
        return found.top == "{" and "messages" in found.names(0) and {"versions", "currentlySelected"} <= found.names(1)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the conversation's messages in order, versions that are not selected after the one that is."""
        return elements_of_whole(stream, path, lambda record: _conversation(record, options))


def _conversation(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    messages = value.get("messages")
    if not isinstance(messages, list):
        yield Rejected(record.where, "not-a-conversation", "no list of messages is there")
        return
    if not messages:
        yield Skipped("empty", "conversation without messages")
        return
    made = times(value.get("createdAt"))
    thread_id = identifier(value.get("createdAt")) or event_id(PROVIDER, "thread", word(value.get("name")))
    chat = Chat(PROVIDER, thread_id, options, title=value.get("name"), nearby=made)
    if system := _system(value):
        event = CapturedEvent(id="", type="status", role="system", text=system, raw_type="systemPrompt")
        yield chat.heard(chat.hidden(event, "system prompt", "system"))
    model = first_word(obj(value.get("lastUsedModel")).get("identifier"))
    for place, message in enumerate(messages):
        where = f"{record.where}: message {place + 1}"
        yield from _message(chat, message, model, where)


def _system(value: Object) -> str | None:
    fields = objects(obj(value.get("perChatPredictionConfig")).get("fields"))
    configured = next((field.get("value") for field in fields if field.get("key") == _SYSTEM_PROMPT), None)
    return first_word(value.get("systemPrompt"), configured)


def _message(chat: Chat, message: object, model: str | None, where: str) -> Iterator[Element]:
    versions = obj(message).get("versions")
    if not isinstance(versions, list) or not versions:
        yield Rejected(where, "not-a-message", "no versions are there")
        return
    selected = number(obj(message).get("currentlySelected")) or 0
    order = sorted(range(len(versions)), key=lambda place: (place != selected, place))
    for rank, place in enumerate(order):
        version = versions[place]
        if not isinstance(version, dict):
            yield Rejected(f"{where}, version {place + 1}", "not-a-message", f"a {type(version).__name__}")
            continue
        yield from _version(chat, version, model, abandoned=rank > 0)


def _version(chat: Chat, version: Object, model: str | None, *, abandoned: bool) -> Iterator[Element]:
    items = [chat.heard(item) for item in _items(chat, version, model)]
    heard = [item for item in items if isinstance(item, Heard)]
    for item in heard:
        item.event.branch_id = heard[0].event.id if abandoned else None
    yield from items


def _items(chat: Chat, version: Object, model: str | None) -> Iterator[CapturedEvent | Skipped]:
    role = text(version.get("role"))
    steps = objects(version.get("steps"))
    if not steps:
        yield _words(chat, role, version, model)
        return
    said = 0
    for step in steps:
        if step.get("type") == "contentBlock":
            said += 1
            yield from _block(chat, role or "assistant", step, model)
    if not said:
        yield Skipped("empty", "message without words")


def _words(chat: Chat, role: str, block: Object, model: str | None) -> CapturedEvent | Skipped:
    content = block.get("content")
    parts = objects(content)
    words = (
        content
        if isinstance(content, str)
        else "\n".join(text(p.get("text")) for p in parts if p.get("type") == "text")
    )
    event = CapturedEvent(id="", type="message", role=role, text=words, raw_type="message")
    event.model = _model(block, model) if role != "user" else None
    event.attachments = [_file(part) for part in parts if part.get("type") == "file"]
    if obj(block.get("style")).get("type") == "thinking":
        return chat.reasoning(event)
    if role == "system":
        return chat.hidden(event, "system message")
    return chat.message(event)


def _file(part: Object) -> Attachment:
    found = attachment(part, word(part.get("fileType")) or "file")
    found.name = found.name or word(part.get("fileIdentifier"))
    found.size_bytes = number(part.get("sizeBytes"))
    return found


def _model(block: Object, last: str | None) -> str | None:
    made = obj(block.get("genInfo"))
    return first_word(made.get("identifier"), made.get("indexedModelIdentifier"), last)


def _block(chat: Chat, role: str, step: Object, model: str | None) -> Iterator[CapturedEvent | Skipped]:
    """Give what one step holds: words or reasoning, or calls and their results."""
    calls = [part for part in objects(step.get("content")) if text(part.get("type")).startswith("toolCall")]
    for part in calls:
        if part.get("type") == "toolCallRequest":
            draft = tool_call(part.get("name"), part.get("parameters"))
        else:
            draft = tool_result(part.get("name"), part.get("content"))
        draft.tool_call_id = identifier(part.get("toolCallRequestId")) or identifier(part.get("toolCallId"))
        draft.tool_call_id = draft.tool_call_id or identifier(part.get("callId"))
        draft.raw_type = text(part.get("type"))
        yield chat.finish(draft)
    if len(calls) < len(objects(step.get("content"))) or not calls:
        yield _words(chat, role, step, model)
