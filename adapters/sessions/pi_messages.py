"""Messages of a pi session by role.

Source: section 2.4 and the rule of 2.9 of the format page; B15, B19, E21 to E23, E26, E27, E30, E33.
"""

from collections.abc import Callable, Mapping
from typing import Final

from adapters.sessions.drafts import Draft
from adapters.sessions.pi_content import parts_of
from adapters.sessions.pi_drafts import (
    assistant_said,
    assistant_thought,
    run_failed,
    tool_called,
    tool_gave,
    user_said,
    with_images,
)
from adapters.sessions.pi_reading import Reading, text_of, worded
from adapters.sessions.pi_shapes import Content, Message
from adapters.sessions.pi_shell import read_shell
from adapters.sessions.values import blank, name
from schemas.captured import CapturedEvent

FAILURES: Final = ("error", "aborted")
"""The stop reasons that say so; a tuple, because the file may hold what cannot be hashed."""


def read_message(message: Message) -> Reading:
    """Read a message by its role."""
    role = message.role
    reader = _READERS.get(role) if isinstance(role, str) else None
    return _other(message) if reader is None else reader(message)


def read_custom(custom_type: object, content: Content, display: object) -> Reading:
    """Read what an extension put in: an entry, or a message of role custom (version 2: hookMessage)."""
    kind, text = name(custom_type), text_of(content)
    event = CapturedEvent(id="", type="message", role="custom", text=text, raw_type=kind or "custom_message")
    if display is False:
        event.labels.append("hidden")
    reading = worded("custom_message", (event, ("custom", None, kind, text)), content)
    reading.timed = False
    return reading


def read_summary(label: str, summary: object) -> Reading:
    """Read a compaction or branch summary; what it kept or left behind is never looked at."""
    if not isinstance(summary, str) or blank(summary):
        return Reading(label, timed=False)
    event = CapturedEvent(id="", type="summary", role="system", text=summary, labels=[label], raw_type=label)
    return Reading(label, [(event, (label, None, summary))], timed=False)


def _other(message: Message) -> Reading:
    """Read a message of a role that only an extension knows; what its word means is for the normaliser to say."""
    role = name(message.role)
    if role is None:
        return Reading("message", fault="a message without a role")
    text = text_of(message.content)
    event = CapturedEvent(id="", type="message", role=role, text=text, raw_type=f"message/{role}")
    return worded("message of another role", (event, ("message", None, role, text)), message.content)


def _user(message: Message) -> Reading:
    return worded("message/user", user_said(text_of(message.content)), message.content)


def _tool_result(message: Message) -> Reading:
    draft = tool_gave(
        text_of(message.content),
        name(message.tool_call_id),
        name(message.tool_name),
        failed=message.is_error is True,
    )
    return worded("message/toolResult", draft, message.content)


def _assistant(message: Message) -> Reading:
    model = name(message.model)
    drafts, unknown = _assistant_blocks(message.content, model)
    said = message.error_message if isinstance(message.error_message, str) else ""
    if message.stop_reason in FAILURES or not blank(said):
        drafts.append(run_failed("aborted" if message.stop_reason == "aborted" else "error", said, model))
    return Reading("message/assistant", drafts, unknown_blocks=unknown)


def _assistant_blocks(content: Content, model: str | None) -> tuple[list[Draft], int]:
    """Draft reasoning, words and calls, in this order, and count the blocks that nobody knows."""
    parts = parts_of(content)
    drafts: list[Draft] = []
    if parts.thoughts:
        thought = "\n".join(text for _, text in parts.thoughts)
        drafts.append(assistant_thought(parts.thoughts[0][0], thought, model))
    if parts.images or not blank(parts.text):
        drafts.append(with_images(assistant_said(parts.text, model), parts.images))
    for place, call in parts.calls:
        drafts.append(tool_called(place, name(call.id), name(call.name), call.arguments, model))
    return drafts, parts.unknown


def _hidden(message: Message) -> Reading:
    """Read a system prompt or a developer's instruction; nobody said it, so it is shown only to who asks for it."""
    what = f"message/{message.role}"
    words = [text_of(message.content)]
    if isinstance(message.sections, dict):
        words += [section for section in message.sections.values() if isinstance(section, str)]
    text = "\n".join(word for word in words if not blank(word))
    event = CapturedEvent(id="", type="status", role="system", text=text, labels=["hidden"], raw_type=what)
    return Reading(what, [(event, (message.role, None, text))] if text else [], "hidden")


def _custom(message: Message) -> Reading:
    return read_custom(message.custom_type, message.content, message.display)


def _compaction_summary(message: Message) -> Reading:
    return read_summary("compaction", message.summary)


def _branch_summary(message: Message) -> Reading:
    return read_summary("branch-summary", message.summary)


_READERS: Final[Mapping[str, Callable[[Message], Reading]]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "bashExecution": read_shell,
    "custom": _custom,
    "hookMessage": _custom,
    "compactionSummary": _compaction_summary,
    "branchSummary": _branch_summary,
    "system": _hidden,
    "developer": _hidden,
}
