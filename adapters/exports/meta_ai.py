"""Chats with Meta AI in "Download your information" of Facebook, Instagram and Messenger: `message_N.json`.

Every character beyond ASCII is written as the UTF-8 bytes it has, each as a character of its own; such texts are read
again as those bytes. Messages come newest first. The same files hold chats between people, which are no chats with an
AI and are named. Source: section 4 of the export formats, case 53.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.chat import Chat
from adapters.exports.fields import Object, first_word, obj, objects, raw_time, text, times, word
from adapters.exports.order import oldest_first
from adapters.exports.records import Record, elements_of_whole
from adapters.exports.shape import outline
from schemas.captured import CapturedEvent
from schemas.event import Attachment, Citation
from schemas.ids import event_id

PROVIDER: Final = "meta"

ASSISTANT_NAME: Final = "Meta AI"

_MEDIA: Final = (
    ("photos", "image"), ("gifs", "image"), ("videos", "video"), ("audio_files", "audio"), ("files", "file"),
)  # fmt: skip


def _is_thread(head: FileHead) -> bool:
    found = outline(head.start)
    return {"participants", "messages"} <= found.names(0) and {"sender_name", "timestamp_ms"} <= found.names(1)


class MetaReader:
    """Reads a thread with Meta AI."""

    name = "Meta AI thread"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a thread of messages in which Meta AI takes part."""
        return _is_thread(head) and _is_there(head.start)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the thread's messages, oldest first; Meta splits threads at some 10,000 messages a file."""
        return elements_of_whole(stream, path, lambda record: _thread(record, options))


class MetaPeopleReader:
    """Knows threads between people."""

    name = "Messenger thread between people"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a thread of messages without Meta AI, as far as its beginning shows."""
        return _is_thread(head) and not _is_there(head.start)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say what the file is."""
        del stream, options
        yield Warned(str(path), "a Messenger or Instagram chat between people: not read, only chats with Meta AI are")


def _is_there(start: bytes) -> bool:
    return b'"Meta AI"' in start


def mended(words: str) -> str:
    """Give a text whose bytes were written as characters; a text that was not damaged is given back."""
    if words.isascii():
        return words
    try:
        return words.encode("latin-1").decode()
    except UnicodeError:  # it was right already, or is damaged otherwise
        return words


def _thread(record: Record, options: ReadOptions) -> Iterator[Element]:
    messages = record.value.get("messages")
    if not isinstance(messages, list):
        yield Rejected(record.where, "not-a-conversation", "no list of messages is there")
        return
    if not messages:
        yield Skipped("empty", "conversation without messages")
    yield from _messages(_chat(record.value, options), messages, record.where)


def _chat(value: Object, options: ReadOptions) -> Chat:
    title = mended(text(value.get("title")))
    people = sorted(mended(text(person.get("name"))) for person in objects(value.get("participants")))
    thread_id = word(value.get("thread_path")) or event_id(PROVIDER, "thread", title, *people)
    return Chat(PROVIDER, mended(thread_id), options, title=title)


def _messages(chat: Chat, messages: list[object], where: str) -> Iterator[Element]:
    stamps = [raw_time(obj(message).get("timestamp_ms")) for message in messages]
    ranks = [1 if obj(message).get("sender_name") == ASSISTANT_NAME else 0 for message in messages]
    for place in oldest_first(stamps, ranks):
        message = messages[place]
        if isinstance(message, dict):
            yield chat.heard(chat.message(_event(message)))
        else:
            here = f"{where}: message {place + 1}"
            yield Rejected(here, "not-a-message", f"a {type(message).__name__}")


def _event(message: Object) -> CapturedEvent:
    sender = mended(text(message.get("sender_name")))
    share = obj(message.get("share"))
    link = word(share.get("link"))
    said = first_word(message.get("content"), share.get("share_text"), link) or ""
    return CapturedEvent(
        id="",
        type="message",
        role="assistant" if sender == ASSISTANT_NAME else "user",
        text=mended(said),
        times=times(message.get("timestamp_ms")),
        author_id=sender or None,
        raw_type=word(message.get("type")) or "message",
        attachments=_attachments(message),
        citations=[Citation(url=link)] if link else [],
    )


def _attachments(message: Object) -> list[Attachment]:
    found = []
    for name, kind in _MEDIA:
        for item in objects(message.get(name)):
            uri = word(item.get("uri"))
            found.append(Attachment(kind=kind, name=uri.rpartition("/")[2] if uri else None, url=uri))
    sticker = word(obj(message.get("sticker")).get("uri"))
    return [*found, Attachment(kind="sticker", url=sticker)] if sticker else found
