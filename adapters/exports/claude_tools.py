"""Calls of tools and their results inside a Claude message.

Source: section 2.2 of the export formats; case 43. Ids are null in many exports: then a result belongs to the first
call before it that has none, one of the same name first.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from adapters.exports.citations import citations
from adapters.exports.claude_shapes import Block
from adapters.exports.fields import identifier, obj, objects, word
from adapters.exports.media import attachment, placeholder
from adapters.files.json_line import compact_json
from schemas.captured import CapturedEvent
from schemas.event import Attachment

UNNAMED: Final = "unnamed"
_MEDIA: Final = frozenset({"image", "document", "local_resource", "local_image"})


@dataclass(slots=True)
class Calls:
    """The calls of one message, and which of them wait for a result."""

    message_id: str
    count: int = 0
    waiting: list[CapturedEvent] = field(default_factory=list)

    def called(self, block: Block) -> CapturedEvent:
        """Make the event of a call: its text is the tool's name and its arguments."""
        self.count += 1
        name = word(block.name) or UNNAMED
        call = CapturedEvent(
            id="",
            type="tool_call",
            role="assistant",
            text=name if block.input is None else f"{name} {_compact(block.input)}",
            raw_type="tool_use",
            tool_name=name,
            tool_call_id=identifier(block.id) or f"{self.message_id}#{self.count}",
        )
        self.waiting.append(call)
        return call

    def answered(self, block: Block) -> CapturedEvent | None:
        """Make the event of a result, which is one even without words.

        None when it only says that its call failed: then the call becomes a `status` that says so.
        """
        said, media, cited = _result(block.content)
        call_id, name = identifier(block.tool_use_id), word(block.name)
        call = self._settle(call_id, name)
        if call and block.is_error is True and not said and not media:
            call.type, call.labels = "status", ["error"]
            return None
        return CapturedEvent(
            id="",
            type="tool_result",
            role="tool",
            text=said or placeholder(media),
            labels=["error"] if block.is_error is True else [],
            raw_type="tool_result",
            tool_name=name,
            tool_call_id=call.tool_call_id if call else call_id,
            attachments=media,
            citations=citations(cited),
        )

    def _settle(self, call_id: str | None, name: str | None) -> CapturedEvent | None:
        """Give the call that a result answers, which then no longer waits."""
        fitting = [call for call in self.waiting if call.tool_call_id == call_id]
        if call_id is None:
            fitting = [call for call in self.waiting if call.tool_name == name] or self.waiting
        if not fitting:
            return None
        call = fitting[0]
        self.waiting = [other for other in self.waiting if other is not call]
        return call


def _compact(arguments: object) -> str:
    try:
        return compact_json(arguments)
    except RecursionError:
        return "(arguments too deep to show)"


def _result(content: object) -> tuple[str, list[Attachment], list[dict[str, Any]]]:
    """Give the words of a result, what came with it, and the pages it names."""
    if isinstance(content, str):
        return content, [], []
    items = [content] if isinstance(content, dict) else content
    said = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
    media: list[Attachment] = []
    cited: list[dict[str, Any]] = []
    for item in objects(items):
        said += [text for name in ("title", "text") if (text := word(item.get(name)))]
        kind = item.get("type")
        if isinstance(kind, str) and kind in _MEDIA:
            media.append(_media(item))
        elif word(item.get("url")):
            cited.append({"url": item.get("url"), "title": item.get("title")})
    return "\n".join(said), media, cited


def _media(item: dict[str, Any]) -> Attachment:
    source = obj(item.get("source"))
    kind = "image" if "image" in str(item.get("type")) else "file"
    name = word(item.get("name")) or word(item.get("file_name")) or word(item.get("file_path"))
    url = word(item.get("file_uuid")) or word(item.get("uuid")) or word(source.get("url"))
    return attachment(kind, name, item.get("mime_type") or source.get("media_type"), url)
