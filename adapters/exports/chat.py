"""Events of one conversation of an export: the one home of what its parts become and what identifies them.

Words are messages, reasoning a status, hidden context counted, attachments alone a placeholder. An event's id comes of
the provider's ids; where there are none, of its own content and time, and of how many equal ones stood before it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from adapters.contract import Heard, ReadOptions, Skipped
from adapters.exports import media
from adapters.exports.fields import Object, first_word, identifier, number, word
from adapters.exports.media import kind_of, placeholder
from adapters.files.json_line import compact_json
from schemas.captured import CapturedEvent, RawTime, Thread
from schemas.event import Attachment, Citation
from schemas.ids import Part, content_digest, event_id

REASONING: Final = "reasoning"
HIDDEN: Final = "hidden"

MAX_CALL_CHARS: Final = 64 * 1024
"""How much of a call's arguments an event shows: any command whole; a file written by a call may be cut."""

NO_WORDS: Final = "message without words"


class Chat:
    """Makes the events of one conversation. `scope` is what event ids stand on: provider and conversation, mostly."""

    def __init__(
        self,
        provider: str,
        thread_id: str,
        options: ReadOptions,
        *,
        title: object = None,
        scope: Sequence[Part] | None = None,
        nearby: Sequence[RawTime] = (),
    ) -> None:
        self.thread = Thread(provider=provider, thread_id=thread_id, account=options.account, title=word(title))
        self.nearby = tuple(nearby)
        self._scope = tuple(scope) if scope is not None else (provider, thread_id)
        self._include_hidden = options.include_hidden
        self._seen: dict[Sequence[Part], bytes] = {}
        self._equal: Counter[bytes] = Counter()

    def heard(self, event: CapturedEvent | Skipped) -> Heard | Skipped:
        """Give an event its thread."""
        return event if isinstance(event, Skipped) else Heard(self.thread, event, self.nearby)

    def message(self, event: CapturedEvent, *identity: Part) -> CapturedEvent | Skipped:
        """Finish somebody's words; without words and attachments they are none."""
        if not word(event.text):
            if not event.attachments:
                return Skipped("empty", NO_WORDS)
            event.text = placeholder(event.attachments)
        return self.finish(event, *identity)

    def reasoning(self, event: CapturedEvent, *identity: Part) -> CapturedEvent | Skipped:
        """Finish a model's reasoning: never part of what it said."""
        if not word(event.text):
            return Skipped("empty", "reasoning without words")
        event.type = "status"
        event.labels = [*event.labels, REASONING]
        return self.finish(event, *identity)

    def hidden(self, event: CapturedEvent, what: str, *identity: Part) -> CapturedEvent | Skipped:
        """Finish what nobody said to anybody: shown only to who asks for it."""
        if not self._include_hidden or not word(event.text):
            return Skipped("hidden", what)
        event.type, event.role = "status", "system"
        event.labels = [*event.labels, HIDDEN]
        return self.finish(event, *identity)

    def finish(self, event: CapturedEvent, *identity: Part) -> CapturedEvent:
        """Give an event its id: over its message id and what tells parts of one message apart, or over its content.

        Another event of the same id in this conversation is told apart by its content; equal content without ids by
        how many stood before it.
        """
        content = _digest(event)
        if event.message_id is None and not identity:
            self._equal[content] += 1
            event.id = event_id(*self._scope, "content", content, self._equal[content])
            return event
        key: tuple[Part, ...] = (event.message_id, event.type, *identity)
        first = self._seen.setdefault(key, content)
        event.id = event_id(*self._scope, *key) if first == content else event_id(*self._scope, *key, content)
        return event


def _digest(event: CapturedEvent) -> bytes:
    time = event.times[0] if event.times else None
    names = [part for item in event.attachments for part in (item.name, item.url)]
    return content_digest(event.type, event.role, None if time is None else str(time), event.text, *names)


def tool_call(name: object, arguments: object) -> CapturedEvent:
    """Draft a call: its text is the tool's name and the compact arguments."""
    tool = word(name)
    shown = arguments if isinstance(arguments, str) else _compact(arguments)
    text = " ".join(part for part in (tool or "unnamed", shown) if part)
    labels = ["truncated"] if len(text) > MAX_CALL_CHARS else []
    return CapturedEvent(
        id="", type="tool_call", role="assistant", text=text[:MAX_CALL_CHARS], tool_name=tool, labels=labels
    )


def tool_result(name: object, result: object) -> CapturedEvent:
    """Draft what a tool gave, which is one even without words."""
    text = result if isinstance(result, str) else _compact(result)
    return CapturedEvent(id="", type="tool_result", role="tool", text=text, tool_name=word(name))


def _compact(value: object) -> str:
    if value is None:
        return ""
    try:
        return compact_json(value)
    except RecursionError:  # deeper than the stack that is left; the call stays, its arguments cannot be shown
        return "…"


def attachment(item: Object, kind: str = "file") -> Attachment:
    """Read an attachment under the names that exports use for its parts; `kind` stands when no media type tells it."""
    mime = first_word(item.get("mime_type"), item.get("mimeType"), item.get("contentType"), item.get("content_type"))
    told = kind_of(mime)
    names = (item.get(key) for key in ("name", "filename", "file_name", "fileName"))
    sizes = (number(item.get(key)) for key in ("size", "size_bytes", "file_size", "bytes"))
    return media.attachment(
        kind if told == "file" else told,
        first_word(*names) or identifier(item.get("id")) or identifier(item.get("file_id")),
        mime,
        first_word(item.get("url"), item.get("filepath"), item.get("uri")),
        next((size for size in sizes if size is not None), None),
    )


def attachments(value: object, kind: str = "file") -> list[Attachment]:
    """Read a list of attachments: objects, or bare names."""
    if not isinstance(value, list):
        return []
    return [
        attachment(item, kind) if isinstance(item, dict) else Attachment(kind=kind, name=item)
        for item in value
        if isinstance(item, dict) or word(item)
    ]


def sources(value: object) -> list[Citation]:
    """Read sources that an answer names: objects with an address or a title, or bare addresses."""
    if not isinstance(value, list):
        return []
    found = [_citation(item) for item in value if isinstance(item, dict | str)]
    return list({msgspec.json.encode(item): item for item in found if item.url or item.title}.values())


def _citation(item: Object | str) -> Citation:
    if isinstance(item, str):
        return Citation(url=word(item))
    return Citation(
        url=first_word(item.get("url"), item.get("link")),
        title=first_word(item.get("title"), item.get("name")),
        quote=first_word(item.get("snippet"), item.get("preview"), item.get("quote")),
    )
