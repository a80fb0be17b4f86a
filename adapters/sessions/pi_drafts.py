"""Drafts of the events of messages: the one home of what each is made of and what identifies it.

Source: the rules of sections 2.9 and 2.10 of the format page; E21 to E23, E27, E30.
"""

from adapters.files.json_line import compact_json
from adapters.sessions import drafts
from adapters.sessions.drafts import Draft
from adapters.sessions.pi_content import attachments, image_digest
from adapters.sessions.pi_shapes import Block
from schemas.captured import CapturedEvent


def user_said(text: str) -> Draft:
    """Draft a person's words."""
    event = CapturedEvent(id="", type="message", role="user", text=text, raw_type="message/user")
    return event, ("user", None, text)


def assistant_said(text: str, model: str | None) -> Draft:
    """Draft a model's words."""
    event = CapturedEvent(id="", type="message", role="assistant", text=text, raw_type="message/assistant", model=model)
    return event, ("assistant", None, text)


def assistant_thought(block: int, text: str, model: str | None) -> Draft:
    """Draft a model's reasoning, `block` being the place of its first block; it is never part of what was said."""
    return drafts.thought(text, "message/assistant/thinking", model), ("thinking", block, text)


def tool_called(block: int, call_id: str | None, tool: str | None, arguments: object, model: str | None) -> Draft:
    """Draft a call; raises `RecursionError` when its arguments are nested deeper than the stack."""
    written = None if arguments is None else compact_json(arguments)
    event, text = drafts.called(tool, call_id, written, "message/assistant/toolCall", model)
    return event, ("toolCall", block, call_id, text)


def tool_gave(text: str, call_id: str | None, tool: str | None, *, failed: bool) -> Draft:
    """Draft a tool's result, which is one even without words."""
    event = CapturedEvent(
        id="",
        type="tool_result",
        role="toolResult",
        text=text,
        labels=["error"] if failed else [],
        raw_type="message/toolResult",
        tool_name=tool,
        tool_call_id=call_id,
    )
    return event, ("toolResult", None, call_id, tool, failed, text)


def run_failed(reason: str, said: str, model: str | None) -> Draft:
    """Draft the end of a run that failed: `reason` is error or aborted, `said` the provider's answer, if any."""
    return drafts.failed(reason, said, f"message/assistant/{reason}", model), (reason, None, said)


def with_images(draft: Draft, images: list[Block]) -> Draft:
    """Add images to a draft: the label, the attachments, and a placeholder when there are no words."""
    if not images:
        return draft
    event, identity = draft
    return drafts.with_images(event, attachments(images)), (*identity, image_digest(images))
