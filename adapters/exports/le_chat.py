"""Le Chat of Mistral: one file a chat, an array of messages that is not in the order of time.

Source: section 4 of the export formats.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat, attachment, sources, tool_call, tool_result
from adapters.exports.fields import Object, array, first_word, identifier, obj, objects, text, times, word
from adapters.exports.records import Record, records_by_time
from adapters.exports.shape import outline
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import event_id

PROVIDER: Final = "mistral"

_THOUGHTS: Final = frozenset({"thinking", "reasoning"})
_REFERENCES: Final = frozenset({"tool_reference", "reference"})

_UNTOLD: Final = "unknown-chat"
"""Thread of messages that name no chat, in a file in which none does."""


class LeChatReader:
    """Reads `chat-<uuid>.json`."""

    name = "Le Chat export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an array of messages that name their chat."""
        found = outline(head.start)
        names = found.names(0)
        return found.top == "[" and {"chatId", "role"} <= names and bool({"content", "contentChunks"} & names)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the messages, oldest first, holding one at a time."""
        chats: dict[str, Chat] = {}
        last = _UNTOLD
        none = True
        for record in records_by_time(stream, path, lambda message: message.get("createdAt"), _rank):
            none = False
            if not isinstance(record, Record):
                yield record
                continue
            last = identifier(record.value.get("chatId")) or last
            if last not in chats:
                chats.clear()  # files hold one chat; what came before is never asked for again
                chats[last] = Chat(PROVIDER, last, options)
            yield from _message(chats[last], record)
        if none:
            yield Skipped("empty", "conversation without messages")


def _rank(message: Object) -> int:
    return 0 if message.get("role") == "user" else 1


def _message(chat: Chat, record: Record) -> Iterator[Element]:
    value = record.value
    if not {"role", "content", "contentChunks"} & value.keys():
        yield Rejected(record.where, "not-a-message", "no role and no content is there")
        return
    chunks = objects(value.get("contentChunks"))
    for place, chunk in enumerate(chunks):
        for item in _tool(value, chunk, place):
            yield chat.heard(chat.finish(item, item.type, place))
    thoughts = [words for chunk in chunks if text(chunk.get("type")) in _THOUGHTS and (words := _words(chunk))]
    if thoughts:
        yield chat.heard(chat.reasoning(_event(value, "assistant", "\n\n".join(thoughts))))
    message = _event(value, text(value.get("role")), _said(chunks) or text(value.get("content")))
    message.attachments = _attachments(value, chunks)
    message.citations = sources(array(value.get("quotes")) + _references(chunks))
    yield chat.heard(chat.message(message))


def _event(value: Object, role: str, words: str) -> CapturedEvent:
    version = value.get("version")
    key = identifier(value.get("id"))
    return CapturedEvent(
        id="",
        type="message",
        role=role,
        text=words,
        times=times(value.get("createdAt")),
        message_id=key,
        labels=[f"version:{version}"] if key and isinstance(version, int) and version > 0 else [],
        model=word(value.get("model")),
        raw_type="message",
    )


def _words(chunk: Object) -> str:
    return text(chunk.get("text")) or text(chunk.get("thinking")) or text(chunk.get("content"))


def _said(chunks: list[Object]) -> str:
    """Join the words of text chunks: a reference stands inside a sentence, a tool's call between two."""
    said = ""
    apart = False
    for chunk in chunks:
        if chunk.get("type") == "text":
            said += ("\n\n" if apart and said else "") + text(chunk.get("text"))
            apart = False
        elif chunk.get("type") != "reference":
            apart = True
    return said if word(said) else ""


def _tool(value: Object, chunk: Object, place: int) -> Iterator[CapturedEvent]:
    if chunk.get("type") != "tool_call":
        return
    call_id = identifier(chunk.get("id")) or event_id(PROVIDER, "call", identifier(value.get("id")), place)
    drafts = [tool_call(chunk.get("name"), chunk.get("publicArguments"))]
    if chunk.get("publicResult") is not None:
        drafts.append(tool_result(chunk.get("name"), chunk.get("publicResult")))
    for draft in drafts:
        draft.times, draft.tool_call_id = times(value.get("createdAt")), call_id
        draft.message_id = identifier(value.get("id"))
        draft.raw_type = "tool_call"
        yield draft


def _attachments(value: Object, chunks: list[Object]) -> list[Attachment]:
    files = [attachment(item, word(item.get("type")) or "file") for item in objects(value.get("files"))]
    pictures = [
        Attachment(kind="image", url=first_word(chunk.get("imageUrl"), chunk.get("image_url"),
                                                obj(chunk.get("image_url")).get("url"), chunk.get("url")))
        for chunk in chunks
        if chunk.get("type") == "image_url"
    ]  # fmt: skip
    canvases = [
        Attachment(kind="canvas", name=first_word(item.get("title"), item.get("name")))
        for item in objects(value.get("canvas"))
    ]
    return [*files, *pictures, *canvases]


def _references(chunks: list[Object]) -> list[object]:
    return [
        found
        for chunk in chunks
        if text(chunk.get("type")) in _REFERENCES
        for found in [chunk, *array(chunk.get("references"))]
    ]
