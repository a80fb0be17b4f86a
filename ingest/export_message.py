"""One canonical event as one PAM message: PAM's own members first, what they cannot hold in `raw_metadata`.

The message is read back as an import would, and only what that does not give is told beside it: the round trip is exact
by construction, and stays so when either side changes.
"""

import re
from typing import Any, Final

import msgspec

from adapters.exports.pam_own import CHANNEL, INGESTED, MARK, REASONING, TITLE, UNNAMED, WORKSPACE, Own, call_text
from adapters.exports.pam_own import differences as members_untold
from adapters.exports.pam_shapes import messages
from adapters.files.json_line import BadLine, decode_line
from schemas.captured import CapturedEvent
from schemas.event import Attachment, CanonicalEvent, Citation, EventMeta, Role
from schemas.pam import Attachment as PamAttachment
from schemas.pam import AttachmentType, Message, MessageContent, MessageRole, ToolCall
from schemas.pam import Citation as PamCitation

ROLES: Final[dict[Role, MessageRole]] = {
    "user": "user", "operator": "user", "assistant": "assistant", "agent": "assistant", "bot": "assistant",
    "system": "system", "tool": "tool",
}  # fmt: skip

_KINDS: Final[dict[str, AttachmentType]] = {
    "file": "file", "image": "image", "audio": "audio", "video": "video", "document": "document",
}  # fmt: skip

_URI: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+"  # RFC 3986 without [ and ]
)
_MAX_ARGUMENT_CHARS: Final = 64 * 1024
"""Arguments are taken apart up to the length that a call shows; longer ones stay text."""

_encode: Final = msgspec.json.Encoder().encode


class Thread(msgspec.Struct, frozen=True):
    """What a conversation says for all its messages, so that each says only where it differs."""

    title: str | None = None
    workspace: str | None = None
    channel_id: str | None = None
    imported_at: str | None = None


def captured(event: CanonicalEvent) -> CapturedEvent:
    """Give an event as a reader must hand it on, for the normaliser to make the same of it."""
    body, meta = event.event, event.meta
    return CapturedEvent(
        id=body.id,
        type=body.type,
        role=body.role,
        text=body.text,
        times=[body.timestamp_iso],
        branch_id=event.source.branch_id,
        labels=body.labels,
        refs=body.refs,
        author_id=meta.author_id,
        message_id=meta.message_id,
        parent_message_id=meta.parent_message_id,
        raw_type=meta.raw_type,
        model=meta.model,
        tool_name=meta.tool_name,
        tool_call_id=meta.tool_call_id,
        attachments=meta.attachments,
        citations=meta.citations,
    )


class MessageWriter:
    """Writes the messages of one conversation, in their order."""

    def __init__(self, thread: Thread, *, archived: bool) -> None:
        self._thread = thread
        self._own = Own(archived=archived)

    def write(self, event: CanonicalEvent, parent_id: str | None, children_ids: list[str]) -> bytes:
        """Give an event's message as JSON."""
        message = _message(event, parent_id, children_ids)
        plain = self._own.plain(messages.decode(_encode(message)))
        wanted = captured(event)
        untold = members_untold(plain, wanted) | self._untold_of_thread(event)
        if untold:
            message.raw_metadata = {MARK: untold}
        self._own.note(wanted)
        return _encode(message)

    def _untold_of_thread(self, event: CanonicalEvent) -> dict[str, Any]:
        source, thread = event.source, self._thread
        told = {
            TITLE: (event.meta.conversation_title, thread.title),
            WORKSPACE: (source.workspace, thread.workspace),
            CHANNEL: (source.channel_id, thread.channel_id),
            INGESTED: (event.meta.ingested_at_iso, thread.imported_at),
        }
        return {name: own for name, (own, shared) in told.items() if own != shared}


def _message(event: CanonicalEvent, parent_id: str | None, children_ids: list[str]) -> Message:
    body, meta = event.event, event.meta
    message = Message(
        id=body.id,
        role=ROLES[body.role],
        created_at=body.timestamp_iso,
        provider_message_id=meta.message_id,
        parent_id=parent_id,
        children_ids=children_ids,
        model=meta.model,
        is_thought=body.type == "status" and REASONING in body.labels,
        attachments=[_attachment(item) for item in meta.attachments],
        citations=[_citation(item) for item in meta.citations],
    )
    text: str | None = body.text
    if body.type == "tool_call":
        message.tool_calls, text = _call(body.text, meta)
    elif body.type == "tool_result":
        message.tool_calls = [ToolCall(name=meta.tool_name or UNNAMED, id=meta.tool_call_id, output=body.text)]
        text = None if message.role == "tool" else text
    if text:
        message.content = MessageContent(type="text", text=text)
    return message


def _call(text: str, meta: EventMeta) -> tuple[list[ToolCall], str | None]:
    """Take a call's text apart into the tool's name and its arguments; text that is no such call stays beside it."""
    name = meta.tool_name or UNNAMED
    call = ToolCall(name=name, id=meta.tool_call_id)
    if text == name:
        return [call], None
    given = text.removeprefix(f"{name} ")
    if len(given) == len(text) or not given:
        return [call], text
    call.input = _arguments(name, given, text)
    return [call], None


def _arguments(name: str, given: str, text: str) -> dict[str, Any] | str:
    """Give arguments as an object when they can be written from it as they stand, else as text."""
    if given[0] != "{" or len(given) > _MAX_ARGUMENT_CHARS:
        return given
    try:
        value = decode_line(given.encode())
        if isinstance(value, dict) and call_text(name, value) == text:
            _encode(value)
            return value
    except (BadLine, RecursionError, OverflowError):  # too deep or too large for JSON that everybody reads
        pass
    return given


def _attachment(item: Attachment) -> PamAttachment:
    return PamAttachment(
        type=_KINDS.get(item.kind, "file"),
        name=item.name,
        mime_type=item.mime_type,
        ref=item.url,
        size_bytes=item.size_bytes,
    )


def _citation(item: Citation) -> PamCitation:
    # An address that is no URI, such as a path with spaces, is told beside.
    url = item.url if item.url and _URI.fullmatch(item.url) else None
    return PamCitation(url=url, title=item.title, snippet=item.quote)
