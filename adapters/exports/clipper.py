"""AI Chat Clipper's clips: one chat as a browser extension saw it, `ai-chat-extractor/conversation@2`.

The provider is the site the chat stands on. There are no message ids and no times: an event is known by site, address,
place and words, so that a later clip of the same chat adds only what is new, and the time of the clip serves as a
neighbour to infer from. `contents` keeps reasoning apart from words, and wins over `content`. Source: section 5 of the
export formats, case 63; the exporter's public source.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urlsplit

from adapters.contract import Element, FileHead, PermanentSourceError, ReadOptions, Rejected, Skipped
from adapters.exports.chat import Chat
from adapters.exports.fields import Object, array, first_word, number, objects, text, times, word
from adapters.exports.records import Record, elements_of_whole
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import content_digest, event_id
from schemas.keys import provider_name

VERSION: Final = "ai-chat-extractor/conversation@2"

_SCHEMA: Final = re.compile(rb'"schema"\s*:\s*"ai-chat-extractor/conversation')
_THINKING: Final = "> **Thinking**"
_CHAT_ID: Final = re.compile(r"(?=[\w-]*\d)[\w-]{8,200}")
"""The last step of a chat's address: long, and with a digit in it."""

# Sites whose chats this project knows by another name, from their own exports.
_PROVIDERS: Final = {
    "google-gemini": "gemini", "google-aistudio": "gemini", "copilot-m365": "copilot", "meta-ai": "meta",
}  # fmt: skip


class ClipperReader:
    """Reads a clip of version 2, and names any other version."""

    name = "AI Chat Clipper clip"
    provider = "clipper"

    def recognises(self, head: FileHead) -> bool:
        """Whether the file says that it is a clip, of whichever version."""
        return head.start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and bool(_SCHEMA.search(head.start))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the clip's messages; raises `PermanentSourceError` for another version."""
        return elements_of_whole(stream, path, lambda record: _clip(record, options))


def _clip(record: Record, options: ReadOptions) -> Iterator[Element]:
    value = record.value
    schema = value.get("schema")
    if schema != VERSION:
        raise PermanentSourceError(f"a clip of the unknown version {schema!r}; {VERSION} is the one that is read")
    messages = value.get("messages")
    if not isinstance(messages, list):
        yield Rejected(record.where, "not-a-conversation", "no list of messages is there")
        return
    if not messages:
        yield Skipped("empty", "conversation without messages")
        return
    site, url = provider_name(value.get("site")), text(value.get("url")).strip()
    chat = Chat(
        _PROVIDERS.get(site, site),
        _thread_id(site, url, value),
        options,
        title=value.get("title"),
        scope=("clipper", site, url.partition("#")[0], None if url else word(value.get("title"))),
        nearby=times(value.get("exported_at")),
    )
    for place, message in enumerate(messages):
        if isinstance(message, dict):
            yield from _message(chat, message, place)
        else:
            where = f"{record.where}: message {place + 1}"
            yield Rejected(where, "not-a-message", f"a {type(message).__name__}")


def _thread_id(site: str, url: str, value: Object) -> str:
    """Give the chat's own id, which is the last step of its address, else an id over site and address."""
    try:
        last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:  # no address at all
        last = ""
    if _CHAT_ID.fullmatch(last):
        return last
    return event_id("clipper", "thread", site, url.partition("#")[0], None if url else word(value.get("title")))


def _message(chat: Chat, message: Object, place: int) -> Iterator[Element]:
    index = number(message.get("index"))
    place = place if index is None else index
    contents = objects(message.get("contents"))
    said, thoughts = _parts(contents) if contents else _without_thinking(text(message.get("content")))
    role = text(message.get("role"))
    if thoughts:
        event = CapturedEvent(id="", type="status", role=role, text=thoughts, raw_type="thinking")
        yield chat.heard(chat.reasoning(event, place, content_digest(thoughts)))
    event = CapturedEvent(id="", type="message", role=role, text=said, raw_type="message")
    event.attachments = _images(contents)
    event.labels = sorted({f"content:{kind}" for part in contents if (kind := _unknown(part))})
    yield chat.heard(chat.message(event, place, content_digest(role, said)))


_KINDS: Final = frozenset({"text", "code", "table", "image", "thinking"})


def _unknown(part: Object) -> str | None:
    """Give the name of a kind of content that nobody has described; its text is kept."""
    kind = word(part.get("type"))
    return kind[:40] if kind and kind not in _KINDS else None


def _parts(contents: list[Object]) -> tuple[str, str]:
    """Give what was said and what was thought, each in the order of the segments."""
    said: list[str] = []
    thoughts: list[str] = []
    for part in contents:
        words = _segment(part)
        if words and part.get("type") == "thinking":
            thoughts.append(words)
        elif words:
            said.append(words)
    return "\n\n".join(said), "\n\n".join(thoughts)


def _segment(part: Object) -> str:
    kind = part.get("type")
    if kind == "code":
        return f"```{text(part.get('language'))}\n{text(part.get('text'))}\n```"
    if kind == "table":
        return _table(part)
    if kind == "image":
        return ""
    return (first_word(part.get("text"), part.get("content")) or "").strip("\n")


def _table(part: Object) -> str:
    rows = [array(part.get("headers")), *(array(row) for row in array(part.get("rows")))]
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows if row]
    if rows[0]:
        lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def _images(contents: list[Object]) -> list[Attachment]:
    return [
        Attachment(kind="image", url=word(part.get("url")), name=first_word(part.get("caption"), part.get("alt")))
        for part in contents
        if part.get("type") == "image"
    ]


def _without_thinking(content: str) -> tuple[str, str]:
    """Take the quote of reasoning off the beginning of a text."""
    if not content.startswith(_THINKING):
        return content, ""
    lines = content.split("\n")
    end = next((place for place, line in enumerate(lines) if not line.startswith(">")), len(lines))
    thought = "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines[1:end])
    return "\n".join(lines[end:]).strip("\n"), thought
