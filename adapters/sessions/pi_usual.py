"""The usual message entry, for which typed decoding does all checks: the fast road of `pi_session`.

Nearly all lines of a session are messages of a person, a model or a tool that hold text, reasoning and calls, with
proper ids and times. Whatever else a line holds (an image, an account, an error, no id) fails to decode here and takes
the general road, which gives the same for these: a test compares the two. Both make their events in `pi_drafts`.
"""

from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import Meta, Struct

from adapters.sessions.drafts import Draft
from adapters.sessions.pi_drafts import (
    assistant_said,
    assistant_thought,
    tool_called,
    tool_gave,
    user_said,
)
from adapters.sessions.pi_identity import FIRST_MS, LAST_MS
from adapters.sessions.values import MAX_NAME_CHARS, MAX_TIME_CHARS, blank

_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]
_TimeText = Annotated[str, Meta(min_length=1, max_length=MAX_TIME_CHARS)]
_Milliseconds = Annotated[int, Meta(ge=FIRST_MS, le=LAST_MS)]


class _Text(Struct, tag_field="type", tag="text", gc=False):
    text: str


class _Thinking(Struct, tag_field="type", tag="thinking", gc=False):
    thinking: str


class _Call(Struct, tag_field="type", tag="toolCall", gc=False):
    id: _Name
    name: _Name
    arguments: Any = None


class _NoAccount(Struct, rename="camel", gc=False):
    """Members that send a line to the general road, where they are read."""

    account: None = None
    account_id: None = None
    account_id_snake: None = msgspec.field(name="account_id", default=None)
    provider_account: None = None
    provider_account_snake: None = msgspec.field(name="provider_account", default=None)


class _User(_NoAccount, tag_field="role", tag="user", rename="camel", kw_only=True, gc=False):
    what: ClassVar[str] = "message/user"
    timestamp: _Milliseconds
    content: list[_Text]


class _ToolResult(_NoAccount, tag_field="role", tag="toolResult", rename="camel", kw_only=True, gc=False):
    what: ClassVar[str] = "message/toolResult"
    timestamp: _Milliseconds
    content: list[_Text]
    tool_call_id: _Name
    tool_name: _Name
    is_error: bool = False


class _Assistant(_NoAccount, tag_field="role", tag="assistant", rename="camel", kw_only=True, gc=False):
    what: ClassVar[str] = "message/assistant"
    timestamp: _Milliseconds
    content: list[_Text | _Thinking | _Call]
    model: _Name
    stop_reason: Literal["stop", "toolUse", "length"]
    error_message: None = None


class UsualEntry(_NoAccount, rename="camel", kw_only=True, gc=False):
    """A message entry of version 2 or 3 that needs no second look."""

    type: Literal["message"]
    id: _Name
    parent_id: _Name | None
    timestamp: _TimeText
    message: _User | _Assistant | _ToolResult
    kind: None = None


decode_usual: Final = msgspec.json.Decoder(UsualEntry).decode
"""Decodes a line; raises `msgspec.DecodeError` or `RecursionError` for every line that is not usual."""


def usual_drafts(entry: UsualEntry) -> list[Draft] | None:
    """Give the events of an entry; None when the general road has to say why there is none, or to join texts."""
    message = entry.message
    if isinstance(message, _Assistant):
        return _assistant(message)
    if len(message.content) != 1:
        return None
    text = message.content[0].text
    if isinstance(message, _ToolResult):
        return [tool_gave(text, message.tool_call_id, message.tool_name, failed=message.is_error)]
    return None if blank(text) else [user_said(text)]


def _assistant(message: _Assistant) -> list[Draft] | None:
    drafts: list[Draft] = []
    calls: list[Draft] = []
    text: str | None = None
    for place, block in enumerate(message.content):
        if isinstance(block, _Call):
            calls.append(tool_called(place, block.id, block.name, block.arguments, message.model))
        elif isinstance(block, _Thinking):
            if drafts:
                return None
            if not blank(block.thinking):
                drafts.append(assistant_thought(place, block.thinking, message.model))
        elif text is None:
            text = block.text
        else:
            return None
    if text is not None and not blank(text):
        drafts.append(assistant_said(text, message.model))
    return [*drafts, *calls] or None
