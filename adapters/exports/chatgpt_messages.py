"""What each message of a ChatGPT conversation is: words, a call, a result, reasoning, an error, or hidden context.

Source: sections 1.3 and 1.4 of the export formats; cases 3, 9, 15, 19, 21.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from adapters.contract import Rejected, Skipped
from adapters.exports.chatgpt_content import attachments, unknown_parts, words
from adapters.exports.chatgpt_shapes import (
    NO_AUTHOR,
    NO_METADATA,
    Author,
    Content,
    Conversation,
    Message,
    Metadata,
    Node,
)
from adapters.exports.chatgpt_usual import FINISHED, usual_words
from adapters.exports.citations import citation, citations, entity_names, has_markers, without_markers
from adapters.exports.fields import MAX_ID_CHARS, identifier, obj, times, word
from adapters.exports.media import placeholder
from adapters.exports.tree import Item
from adapters.exports.unknown import Unknown
from schemas.captured import CapturedEvent
from schemas.ids import event_id

if TYPE_CHECKING:
    from schemas.event import Attachment

PROVIDER: Final = "chatgpt"
UNFINISHED: Final = "unfinished"
"""Label of an answer that was still being written, or was stopped."""

_HIDDEN_KINDS: Final = {
    "user_editable_context": "custom instructions",
    "model_editable_context": "memory",
    "system_message": "system prompt",
    "system_content": "system prompt",
    "developer_content": "system prompt",
    "reasoning_recap": "reasoning recap",
}
_KNOWN_KINDS: Final = frozenset({
    *_HIDDEN_KINDS, "text", "multimodal_text", "code", "execution_output", "tether_browsing_display", "tether_quote",
    "tether_browsing_code", "sonic_webpage", "system_error", "thoughts", "computer_output",
})  # fmt: skip
_SYSTEM_ROLES: Final = frozenset({"system", "developer"})
_TOOL_ROLES: Final = frozenset({"tool", "function"})
_FOR_THE_PERSON: Final = frozenset({"all", "user", ""})
_STATUS_LABELS: Final = {"in_progress": UNFINISHED, "finished_partial_completion": UNFINISHED, "error": "error"}

_TOOL_INSTRUCTION: Final = "From now on, do not say or show ANYTHING"
"""How the order begins that image generation sends the model beside the picture: nobody said it to anybody."""

_PLAIN_ID_CHARS: Final = 40
"""Ids below this are UUIDs or shorter, and taken as they are when node and message agree."""

_NOTHING: Final[Sequence[Item]] = ()


class Messages:
    """Gives what the nodes of one conversation hold.

    `unknown` counts what nobody described yet; `marked` says whether citation markers may stand in its texts at all.
    """

    def __init__(
        self,
        conversation: Conversation,
        thread_id: str,
        where: str,
        unknown: Unknown,
        *,
        include_hidden: bool,
        marked: bool,
    ) -> None:
        self.nodes = conversation.mapping if isinstance(conversation.mapping, dict) else {}
        self.where = where
        self.seen = 0
        """Messages so far, whatever became of them."""
        self._thread_id = thread_id
        self._unknown = unknown
        self._include_hidden = include_hidden
        self._marked = marked
        self._model = word(conversation.default_model_slug)
        self._labels = _conversation_labels(conversation)
        self._used: set[str] = set()

    def items(self, key: str) -> Sequence[Item]:
        """Give what a node holds: nothing, an event, or why there is none."""
        node = self.nodes[key]
        message = node.message if type(node) is Node else node
        if message is None:
            return _NOTHING
        self.seen += 1
        if type(message) is Message and message.id == key and 0 < len(key) < _PLAIN_ID_CHARS and key == key.strip():
            text = usual_words(message)
            if text and not (self._marked and has_markers(text)):
                return (self._usual(key, message, text),)
        if type(message) is not Message:
            return (self._rejected(key, "not-a-message", f"an object is expected, got {type(message).__name__}"),)
        content = message.content
        if type(content) is not Content:
            if not isinstance(content, str):
                return (self._rejected(key, "no-content", f"content is {type(content).__name__}"),)
            content = Content(content_type="text", text=content)
        return (self._item(key, message, content),)

    def _usual(self, key: str, message: Message, text: str) -> CapturedEvent:
        """Make the event of a usual message, all at once."""
        role: str = message.author.role  # type: ignore[union-attr]  # `usual_words` has looked
        return CapturedEvent(
            id=self._unique(key, key),
            type="message",
            role=role,
            text=text,
            times=[message.create_time],
            labels=self._labels,
            message_id=key,
            raw_type="text",
            model=self._model_of(message.metadata) if role == "assistant" else None,  # type: ignore[arg-type]
        )

    def _model_of(self, metadata: Metadata) -> str | None:
        return word(metadata.model_slug) or word(metadata.resolved_model_slug) or self._model

    def _rejected(self, key: str, reason: str, detail: str) -> Rejected:
        return Rejected(f"{self.where}, message {key}", reason, detail)

    def _item(self, key: str, message: Message, content: Content) -> Item:
        kind = content.content_type if isinstance(content.content_type, str) else "untyped"
        author = message.author if type(message.author) is Author else NO_AUTHOR
        metadata = message.metadata if type(message.metadata) is Metadata else NO_METADATA
        role = author.role if isinstance(author.role, str) else ""
        if kind not in _KNOWN_KINDS:
            self._unknown.note("content type", kind)
        elif kind == "multimodal_text":
            for part in unknown_parts(content):
                self._unknown.note("part", part)
        text = words(content)
        hidden = _hidden(kind, role, message, metadata)
        media: list[Attachment] = []
        if kind != "text" or metadata.attachments:
            media = attachments(content, metadata)
        if role in _TOOL_ROLES and text.startswith(_TOOL_INSTRUCTION):
            hidden, text = (hidden, "") if media else ("instruction to the model", text)
        if not text or text.isspace():
            if not media and kind != "computer_output":
                return Skipped("empty", "message without words")
            text = placeholder(media)
        if hidden and not self._include_hidden:
            return Skipped("hidden", hidden)
        event = self._event(key, message, kind, text)
        event.attachments = media
        _sort(event, kind, role, message, author, hidden=bool(hidden))
        if role == "assistant":
            event.model = self._model_of(metadata)
            event.author_id = word(obj(author.metadata).get("real_author"))
        _cite(event, content, metadata)
        return event

    def _unique(self, identity: str, key: str) -> str:
        """Make an event's id; two nodes that hold a message of one id are still two."""
        if identity in self._used:
            return event_id(PROVIDER, self._thread_id, identity, "node", key)
        self._used.add(identity)
        return event_id(PROVIDER, self._thread_id, identity)

    def _event(self, key: str, message: Message, kind: str, text: str) -> CapturedEvent:
        identity = _identity(message, key)
        return CapturedEvent(
            id=self._unique(identity, key),
            type="message",
            role="",
            text=text,
            times=times(message.create_time, message.update_time),
            labels=self._labels,
            message_id=identity,
            raw_type=kind[:MAX_ID_CHARS],
        )


def _identity(message: Message, key: str) -> str:
    return identifier(message.id) or identifier(key) or "unnamed"


def _hidden(kind: str, role: str, message: Message, metadata: Metadata) -> str | None:
    """Say what a message is that was never shown, or None."""
    if kind in _HIDDEN_KINDS:
        return _HIDDEN_KINDS[kind]
    if metadata.is_user_system_message is True:
        return "custom instructions"
    if role in _SYSTEM_ROLES and kind != "system_error":
        return "system prompt"
    if metadata.is_visually_hidden_from_conversation is True:
        return "hidden message"
    # Tool traffic of weight 0 did happen; a turn of weight 0 was taken back.
    if message.weight == 0 and message.weight is not False and role not in _TOOL_ROLES and not _is_call(role, message):
        return "message out of use"
    return None


def _is_call(role: str, message: Message) -> bool:
    return role == "assistant" and isinstance(message.recipient, str) and message.recipient not in _FOR_THE_PERSON


def _sort(event: CapturedEvent, kind: str, role: str, message: Message, author: Author, *, hidden: bool) -> None:
    """Set what sort of event a message is, its role, tool and labels."""
    event.role = role
    label = None if message.status == FINISHED else _STATUS_LABELS.get(str(message.status))
    if hidden:
        event.type, event.role, label = "status", "system", "hidden"
    elif kind == "system_error":
        event.type, label = "status", "error"
    elif kind == "thoughts" or message.channel == "analysis":
        event.type, label = "status", "reasoning"
    elif role in _TOOL_ROLES:
        event.type, event.tool_name = "tool_result", _name(author.name)
    elif _is_call(role, message) or (role == "assistant" and kind == "tether_browsing_code"):
        event.type = "tool_call"
        event.tool_name = _name(message.recipient) if _is_call(role, message) else "browser"
        event.text = f"{event.tool_name} {event.text.strip()}"
    elif message.channel == "commentary":
        label = label or "commentary"
    if label:
        event.labels = [*event.labels, label]


def _name(value: object) -> str | None:
    found = word(value)
    return found[:MAX_ID_CHARS] if found else None


def _cite(event: CapturedEvent, content: Content, metadata: Metadata) -> None:
    """Move what an event cites from its text to its citations."""
    references = metadata.content_references
    if has_markers(event.text):
        event.text = without_markers(event.text, entity_names(references))
    if references or metadata.citations or metadata.search_result_groups:
        event.citations = citations(references, metadata.citations, metadata.search_result_groups)
    elif content.url:
        event.citations = citation(content.url, content.title)


def _conversation_labels(conversation: Conversation) -> list[str]:
    """Give the labels that every event of a conversation bears; the list is shared and never changed."""
    marks = (("archived", conversation.is_archived), ("do-not-remember", conversation.is_do_not_remember))
    return [label for label, mark in marks if mark is True]
