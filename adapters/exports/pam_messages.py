"""What a message of a PAM conversation that others wrote becomes: words, reasoning, calls, results, hidden context.

Source: sections 1, 4 and 6.4 to 6.6 of the PAM page.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from adapters.contract import Skipped
from adapters.exports.chat import Chat, tool_call, tool_result
from adapters.exports.fields import first_word, identifier, obj, objects, raw_time, word
from adapters.exports.local_time import Clock
from adapters.exports.media import MAX_ATTACHMENTS, attachment
from adapters.exports.pam_own import ARCHIVED
from adapters.exports.pam_shapes import Header, Message
from adapters.exports.tree import Item
from schemas.captured import CapturedEvent
from schemas.event import Attachment, Citation

_MEDIA: Final = frozenset({"image", "file", "audio", "video"})
_SYSTEM: Final = frozenset({"system", "developer"})
_ASSISTANT: Final = "assistant"
_TOOL: Final = "tool"


class Messages:
    """Gives the events of the messages of one conversation."""

    def __init__(self, chat: Chat, header: Header, clock: Clock) -> None:
        self._chat = chat
        self._clock = clock
        self._model = word(header.model)
        self._labels = [ARCHIVED] if header.is_archived is True else []

    def instruction(self, header: Header) -> list[CapturedEvent | Skipped]:
        """Give the system prompt of the conversation, which nobody said."""
        said = word(header.system_instruction)
        if said is None:
            return []
        event = CapturedEvent(id="", type="status", role="system", text=said, labels=list(self._labels))
        return [self._chat.hidden(event, "system prompt", "instruction")]

    def items(self, message: Message) -> Sequence[Item]:
        """Give what a message holds: at least one event, or the reason why there is none."""
        role = word(message.role) or ""
        said, media = _content(message)
        media += [_attachment(item) for item in objects(message.attachments)]
        event = self._event(message, role, said)
        event.attachments = media[:MAX_ATTACHMENTS]
        event.citations = list(_citations(message.citations))
        if role.strip().lower() in _SYSTEM:
            return [self._chat.hidden(event, "system prompt")]
        if message.is_thought is True:
            event.role = _ASSISTANT
            return [self._chat.reasoning(event)]
        calls = [call for call in objects(message.tool_calls) if word(call.get("name")) or word(call.get("output"))]
        if role.strip().lower() == _TOOL:
            return self._results(message, event, calls)
        return self._said(message, event, calls)

    def _event(self, message: Message, role: str, said: str) -> CapturedEvent:
        time = raw_time(message.created_at)
        placed, labels = self._clock.place_text(time) if isinstance(time, str) else (time, [])
        return CapturedEvent(
            id="",
            type="message",
            role=role,
            text=said,
            times=[] if placed is None else [placed],
            labels=[*self._labels, *labels],
            message_id=identifier(message.provider_message_id) or identifier(message.id),
            model=word(message.model) or (self._model if role == _ASSISTANT else None),
        )

    def _said(self, message: Message, event: CapturedEvent, calls: list[dict[str, Any]]) -> list[Item]:
        """Give somebody's words, then the calls; words that are only a call's arguments stand in the call."""
        if any(event.text == call.get("input") for call in calls):
            event.text = ""
        found: list[Item] = []
        if word(event.text) or event.attachments or not calls:
            found.append(self._chat.message(event))
        for number, call in enumerate(calls):
            found.append(self._call(message, tool_call(call.get("name"), call.get("input")), call, number))
            if word(call.get("output")):
                found.append(self._call(message, tool_result(call.get("name"), call["output"]), call, number))
        return found

    def _results(self, message: Message, event: CapturedEvent, calls: list[dict[str, Any]]) -> list[Item]:
        """Give what tools gave: the outputs, and the words where they are not one of those."""
        found: list[Item] = [
            self._call(message, tool_result(call.get("name"), call["output"]), call, number)
            for number, call in enumerate(calls)
            if word(call.get("output"))
        ]
        repeated = any(event.text == call.get("output") for call in calls)
        if found and (repeated or not word(event.text)):
            first = found[0]
            if isinstance(first, CapturedEvent):
                first.attachments, first.citations = event.attachments, event.citations
            return found
        first_call = calls[0] if calls else {}
        event.type = "tool_result"
        event.tool_name, event.tool_call_id = word(first_call.get("name")), identifier(first_call.get("id"))
        if not word(event.text) and not event.attachments and not calls:
            return [Skipped("empty", "message without words")]
        return [*found, self._chat.finish(event)]

    def _call(self, message: Message, draft: CapturedEvent, call: dict[str, Any], number: int) -> CapturedEvent:
        base = self._event(message, _TOOL if draft.type == "tool_result" else _ASSISTANT, draft.text)
        base.type, base.tool_name = draft.type, draft.tool_name
        base.tool_call_id = identifier(call.get("id"))
        base.labels = [*base.labels, *draft.labels]
        return self._chat.finish(base, "call", base.tool_call_id or number)


def _content(message: Message) -> tuple[str, list[Attachment]]:
    """Give the words, the text before the parts, and the parts that are no words."""
    content = message.content
    if isinstance(content, str):  # not PAM, but meant
        return content, []
    said = [found] if (found := word(obj(content).get("text"))) else []
    media: list[Attachment] = []
    for part in objects(obj(content).get("parts")):
        kind = part.get("type")
        if kind in _MEDIA:
            media.append(attachment(str(kind), None, part.get("mime_type"), part.get("ref")))
        if found := word(part.get("text")):
            said.append(f"```{word(part.get('language')) or ''}\n{found}\n```" if kind == "code" else found)
    return "\n\n".join(said), media


def _attachment(item: dict[str, Any]) -> Attachment:
    name = first_word(item.get("name"), item.get("provider_id"))
    return attachment(word(item.get("type")), name, item.get("mime_type"), item.get("ref"), item.get("size_bytes"))


def _citations(value: object) -> Iterator[Citation]:
    for item in objects(value):
        cited = Citation(url=word(item.get("url")), title=word(item.get("title")), quote=word(item.get("snippet")))
        if cited.url or cited.title or cited.quote:
            yield cited
