"""User and assistant lines of a Claude Code session.

Source: the mapping of section 3.1 of the format page; B28, B30, E21 to E23, E26.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from adapters.files.json_line import compact_json
from adapters.sessions import drafts
from adapters.sessions.claude_code_shapes import Block, Entry, Message, blocks_of, nested_blocks
from adapters.sessions.claude_code_words import Words, read_words
from adapters.sessions.drafts import OPERATOR_SHELL, Draft, Reading
from adapters.sessions.values import MAX_NAME_CHARS, blank, name
from schemas.captured import CapturedEvent
from schemas.event import Attachment

SYNTHETIC: Final = "<synthetic>"
"""The model named on assistant lines that the program wrote itself."""

_RESULT: Final = "tool_result"
# Tuples, because a file may hold what cannot be hashed.
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_MEDIA: Final = ("image", "document")
# Known blocks that say nothing by themselves.
_SILENT: Final = ("redacted_thinking", "tool_reference", "container_upload", "fallback")


@dataclass(slots=True)
class UserParts:
    """Blocks of a user line by what they are, each with its place."""

    typed: list[str] = field(default_factory=list)
    others: list[tuple[int, Words]] = field(default_factory=list)
    results: list[tuple[int, Block]] = field(default_factory=list)
    media: list[Attachment] = field(default_factory=list)
    unknown: int = 0

    def add(self, place: int, block: Block | str | None) -> None:
        """Sort one block in."""
        text = block if isinstance(block, str) else _text(block)
        if text is not None:
            words = read_words(text)
            if words.kind == "typed":
                self.typed.append(words.text)
            else:
                self.others.append((place, words))
        elif block is None or isinstance(block, str):
            self.unknown += 1
        elif _is_result(block):
            self.results.append((place, block))
            self.unknown += _unknown_in(block)
        elif block.type in _MEDIA:
            self.media.append(_attachment(block))
        elif block.type not in _SILENT and block.type != "text":
            self.unknown += 1


def read_user(entry: Entry, message: Message) -> Reading:
    """Read a user line: results of tools, or words, of which only those that a person typed are a person's."""
    parts = UserParts()
    for place, block in enumerate(blocks_of(message.content)):
        parts.add(place, block)
    made = [_gave(place, block) for place, block in parts.results]
    typed = "\n".join(text for text in parts.typed if not blank(text))
    if entry.is_compact_summary is True:
        return _summary(_all_words(parts))
    if why := _not_typed(entry):
        return Reading("user", made, unknown_blocks=parts.unknown) if made else _hidden(why, _all_words(parts))
    made += [draft for place, words in parts.others if (draft := _wrapped(place, words)) is not None]
    if typed or parts.media:
        event = CapturedEvent(id="", type="message", role="user", text=typed, raw_type="user")
        made.append((drafts.with_images(event, parts.media), ("user", None, typed, _names(parts.media))))
    if not made and parts.others:
        return _hidden("user/injected", _all_words(parts))
    return Reading("user", made, unknown_blocks=parts.unknown)


def said_by_user(text: str, raw_type: str) -> Reading:
    """Read words that a person typed elsewhere than in a user line."""
    words = read_words(text)
    if words.kind != "typed" or blank(words.text):
        draft = _wrapped(0, words)
        return _hidden(raw_type, text) if draft is None else Reading(raw_type, [draft])
    event = CapturedEvent(id="", type="message", role="user", text=words.text, raw_type=raw_type)
    return Reading(raw_type, [(event, ("user", None, words.text))])


def read_assistant(entry: Entry, message: Message) -> Reading:
    """Read an assistant line: each of its blocks is an event of its own. Source: B28."""
    model = name(message.model)
    blocks = blocks_of(message.content)
    if entry.is_api_error_message is True:
        return _api_error(entry, _joined(blocks))
    if model == SYNTHETIC:
        return _hidden("assistant/synthetic", _joined(blocks))
    reading = Reading("assistant", [])
    for place, block in enumerate(blocks):
        draft = _assistant_block(place, block, model)
        if draft is not None:
            reading.drafts.append(draft)
        elif not _is_silent(block):
            reading.unknown_blocks += 1
    return reading


def _assistant_block(place: int, block: Block | str | None, model: str | None) -> Draft | None:
    text = block if isinstance(block, str) else _text(block)
    if text is not None:
        if blank(text):
            return None
        event = CapturedEvent(id="", type="message", role="assistant", text=text, raw_type="assistant", model=model)
        return event, ("assistant", place, text)
    if not isinstance(block, Block):
        return None
    if block.type == "thinking" and isinstance(block.thinking, str) and not blank(block.thinking):
        return drafts.thought(block.thinking, "assistant/thinking", model), ("thinking", place, block.thinking)
    if block.type in _CALLS:
        written = None if block.input is None else compact_json(block.input)
        call_id = name(block.id)
        event, whole = drafts.called(name(block.name), call_id, written, f"assistant/{block.type}", model)
        return event, ("tool_use", place, call_id, whole)
    return _gave(place, block) if _is_result(block) else None


def _is_silent(block: Block | str | None) -> bool:
    """Whether a block that gave nothing is one that may: blank, redacted, or without what its type holds."""
    if isinstance(block, Block):
        return block.type in _SILENT or block.type in ("text", "thinking")
    return isinstance(block, str)


def _is_result(block: Block) -> bool:
    """Whether a block is a tool's result; those of the provider's own tools are named after the tool."""
    return isinstance(block.type, str) and (block.type == _RESULT or block.type.endswith("_tool_result"))


def _gave(place: int, block: Block) -> Draft:
    """Draft a tool's result, which is one even without words; what was persisted elsewhere is never opened."""
    texts: list[str] = []
    media: list[Attachment] = []
    for part in blocks_of(nested_blocks(block.content)):
        text = part if isinstance(part, str) else _text(part)
        if text is not None:
            texts.append(text)
        elif isinstance(part, Block) and part.type in _MEDIA:
            media.append(_attachment(part))
    text, call_id, failed = "\n".join(texts), name(block.tool_use_id), block.is_error is True
    event = CapturedEvent(
        id="",
        type="tool_result",
        role="tool",
        text=text,
        labels=["error"] if failed else [],
        raw_type=f"user/{name(block.type)}",
        tool_call_id=call_id,
    )
    return drafts.with_images(event, media), (_RESULT, place, call_id, failed, text, _names(media))


def _unknown_in(block: Block) -> int:
    """Count the parts of a tool's result that nobody knows; what the provider's own tools give has many shapes."""
    parts = blocks_of(nested_blocks(block.content)) if block.type == _RESULT else []
    known = (*_MEDIA, *_SILENT, "text")
    return sum(not isinstance(part, str) and (part is None or part.type not in known) for part in parts)


def _wrapped(place: int, words: Words) -> Draft | None:
    """Draft words that stand in a wrapper of the program: a command, a shell's, an interruption."""
    identity = (words.kind, place, words.text)
    if words.kind == "command":
        # A command with arguments says something; one without only works the program.
        event = CapturedEvent(id="", type="status", role="user", text=words.text, labels=["command"], raw_type="user")
        event.type = "message" if " " in words.text else "status"
        return event, identity
    if words.kind in {"shell", "shell-output"}:
        call = words.kind == "shell"
        event = CapturedEvent(
            id="",
            type="tool_call" if call else "tool_result",
            role="user" if call else "tool",
            text=f"$ {words.text}" if call else words.text,
            labels=[OPERATOR_SHELL],
            raw_type="user",
        )
        return event, identity
    if words.kind == "interrupted":
        return drafts.failed("aborted", words.text, "user/interrupted", None), identity
    return _summary(words.text).drafts[0] if words.kind == "continued" else None


def _summary(text: str) -> Reading:
    if blank(text):
        return Reading("compaction")
    event = CapturedEvent(id="", type="summary", role="system", text=text, labels=["compaction"], raw_type="user")
    return Reading("compaction", [(event, ("compaction", None, text))])


def _api_error(entry: Entry, text: str) -> Reading:
    code = name(entry.error) or ""
    event = drafts.failed("error", text or code, "assistant/api_error", None)
    if drafts.limited(code) and "rate-limit" not in event.labels:
        event.labels.append("rate-limit")
    return Reading("assistant/api_error", [(event, ("error", None, text, code))])


def _not_typed(entry: Entry) -> str:
    """Say why no person typed a user line, or nothing."""
    if entry.is_meta is True:
        return "user/meta"
    if entry.is_visible_in_transcript_only is True:
        return "user/transcript-only"
    return "" if typed_by_person(entry.origin) else "user/origin"


def typed_by_person(origin: Any) -> bool:
    """Whether an origin is a person, as it is where none is named."""
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind in (None, "human", "user")


def _hidden(what: str, text: str) -> Reading:
    return drafts.hidden(what, text, ("hidden", None, text))


def _all_words(parts: UserParts) -> str:
    return "\n".join([*parts.typed, *(words.text for _, words in parts.others)])


def _joined(blocks: list[Block | str | None]) -> str:
    texts = [block if isinstance(block, str) else _text(block) for block in blocks]
    return "\n".join(text for text in texts if text)


def _text(block: Block | None) -> str | None:
    return block.text if block is not None and block.type == "text" and isinstance(block.text, str) else None


def _attachment(block: Block) -> Attachment:
    source: dict[str, Any] = block.source if isinstance(block.source, dict) else {}
    mime, data = source.get("media_type"), source.get("data")
    return Attachment(
        kind=block.type,
        mime_type=mime if isinstance(mime, str) and 0 < len(mime) <= MAX_NAME_CHARS else None,
        size_bytes=drafts.base64_size(data) if source.get("type") == "base64" else None,
    )


def _names(media: list[Attachment]) -> str | None:
    return " ".join(f"{one.kind}:{one.mime_type}:{one.size_bytes}" for one in media) or None
