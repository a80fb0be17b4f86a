"""Items of the model's in a Codex session: messages, reasoning, calls and their results.

Source: section 3.2 of the format page; B33, E21 to E23, E26, E28.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from adapters.files.json_line import BadLine, compact_json, decode_line
from adapters.sessions import drafts
from adapters.sessions.codex_forms import RESPONSE_ITEM
from adapters.sessions.codex_shapes import Item
from adapters.sessions.codex_words import Parts, parts_of, shell_run, squeezed
from adapters.sessions.drafts import OPERATOR_SHELL, Draft
from adapters.sessions.values import blank, name
from schemas.captured import CapturedEvent

UNKNOWN_ITEM: Final = "unknown item type"

# Snapshots, encrypted summaries and tool lists: nobody said anything.
_SILENT: Final = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "other",
    }
)
_EXIT: Final = re.compile(r"\s*(?:Exit code: |Process exited with code )(-?[0-9]{1,10})\b")
_ENCODED_OUTPUT: Final = re.compile(r'\s*\{\s*"(?:output|metadata)"\s*:')


class Reading(drafts.Reading, gc=False):
    """What `drafts.Reading` says, and in which form: -1 for what has no other form."""

    form: int = -1


def read_item(item: Item) -> Reading:
    """Read one item; an unknown type gives nothing and is counted.

    Raises `RecursionError` for arguments nested deeper than the stack.
    """
    if not isinstance(item.type, str):
        return Reading("item without a type", fault="an item without a type")
    reader = _READERS.get(item.type)
    if reader is not None:
        return reader(item)
    return Reading(item.type if item.type in _SILENT else UNKNOWN_ITEM)


def said(role: str, parts: Parts, what: str, form: int) -> Reading:
    """Read the words of a person or of the model, in whatever form."""
    text = parts.text
    if not blank(text) or parts.images:
        # Placeholders and images differ between forms; words alone say whether two lines are one message.
        words = squeezed(text) or f"{len(parts.images)} images"
        event = CapturedEvent(id="", type="message", role=role, text="" if blank(text) else text, raw_type=what)
        made: list[Draft] = [(drafts.with_images(event, parts.images), (role, None, words))]
        return Reading(what, made, unknown_blocks=parts.unknown, form=form)
    if parts.injected:
        return hidden(what, "\n".join(parts.injected))
    return Reading(what, unknown_blocks=parts.unknown)


def thoughts(texts: list[str], what: str, form: int) -> Reading:
    """Read reasoning, each part by itself: some forms have a line for each."""
    worded = [text for text in texts if not blank(text)]
    return Reading(what, [(drafts.thought(t, what, None), ("reasoning", None, squeezed(t))) for t in worded], form=form)


def hidden(what: str, text: str) -> Reading:
    """Read what nobody said."""
    reading = drafts.hidden(what, text, ("hidden", None, squeezed(text)))
    return Reading(what, reading.drafts, "hidden")


def run_by_user(text: str, what: str, form: int) -> Reading | None:
    """Read a command that the person ran; None when the words are none."""
    run = shell_run(text)
    if run is None:
        return None
    event = CapturedEvent(id="", type="tool_result", role="tool", text=run, labels=[OPERATOR_SHELL], raw_type=what)
    return Reading(what, [(event, ("shell", None, run))], form=form)


def _message(item: Item) -> Reading:
    role = name(item.role)
    if role is None:
        return Reading("message", fault="a message without a role")
    what = f"message/{role}" if role in {"user", "assistant", "developer", "system"} else "message of another role"
    parts = parts_of(item.content, by_user=role == "user")
    if role in {"developer", "system"}:
        return hidden(what, parts.text)
    ran = run_by_user(parts.text, what, RESPONSE_ITEM) if role == "user" else None
    return ran or said(role, parts, what, RESPONSE_ITEM)


def _agent_message(item: Item) -> Reading:
    """Read what one agent told another."""
    reading = said("agent", parts_of(item.content), "agent_message", RESPONSE_ITEM)
    for event, _ in reading.drafts:
        event.author_id = name(item.author)
    return reading


def _reasoning(item: Item) -> Reading:
    """Read a summary of reasoning and reasoning in the clear; the encrypted is never looked at."""
    return thoughts([*parts_of(item.summary).texts, *parts_of(item.content).texts], "reasoning", RESPONSE_ITEM)


def _function_call(item: Item) -> Reading:
    return _call(item, name(item.name), _arguments(item.arguments))


def _custom_tool_call(item: Item) -> Reading:
    return _call(item, name(item.name), item.input if isinstance(item.input, str) else _written(item.input))


def _local_shell_call(item: Item) -> Reading:
    return _call(item, "local_shell", _written(item.action))


def _web_search_call(item: Item) -> Reading:
    return _call(item, "web_search", _written(item.action))


def _tool_search_call(item: Item) -> Reading:
    return _call(item, "tool_search", _arguments(item.arguments))


def _image_generation_call(item: Item) -> Reading:
    return _call(item, "image_generation", item.revised_prompt if isinstance(item.revised_prompt, str) else None)


def _call(item: Item, tool: str | None, arguments: str | None) -> Reading:
    what, call_id = str(item.type), name(item.call_id) or name(item.id)
    event, whole = drafts.called(tool, call_id, arguments, what, None)
    return Reading(what, [(event, ("call", None, call_id, whole))])


def _arguments(arguments: object) -> str | None:
    """Write arguments, which are JSON within a text, in the one form of all calls."""
    if isinstance(arguments, str):
        try:
            return compact_json(decode_line(arguments.encode()))
        except BadLine:
            return arguments
    return _written(arguments)


def _written(value: object) -> str | None:
    return None if value is None else compact_json(value)


def _output(item: Item) -> Reading:
    """Read a tool's result, which is one even without words."""
    what, call_id = str(item.type), name(item.call_id)
    parts, code, failed = _result(item.output)
    text, images = parts.text, parts.images
    labels = ["error"] if failed or code not in (None, 0) else []
    labels += [f"exit-{code}"] if code else []
    event = CapturedEvent(
        id="", type="tool_result", role="tool", text=text, labels=labels, raw_type=what, tool_call_id=call_id
    )
    draft: Draft = drafts.with_images(event, images), ("result", None, call_id, text, len(images))
    return Reading(what, [draft], unknown_blocks=parts.unknown)


def _result(output: object) -> tuple[Parts, int | None, bool]:
    """Give what a result holds, its exit code, and whether it says that it failed."""
    failed = False
    if isinstance(output, dict):
        failed = output.get("success") is False
        held = (output[key] for key in ("content", "output", "body") if output.get(key) is not None)
        output = next(held, output)  # an object of another shape is a block that nobody knows
    parts = parts_of(output)
    text, code = parts.text, None
    if _ENCODED_OUTPUT.match(text):
        text, code = _decoded(text)
    elif found := _EXIT.match(text):
        code = int(found[1])
    return parts._replace(texts=[text]), code, failed


def _decoded(text: str) -> tuple[str, int | None]:
    """Unwrap a result that is JSON within a text, as versions of 2025 wrote it."""
    try:
        value = decode_line(text.encode())
    except BadLine:
        return text, None
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return text, None
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return value["output"], code if type(code) is int and abs(code) < 1 << 32 else None


_READERS: Final[Mapping[str, Callable[[Item], Reading]]] = {
    "message": _message,
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "custom_tool_call": _custom_tool_call,
    "local_shell_call": _local_shell_call,
    "web_search_call": _web_search_call,
    "tool_search_call": _tool_search_call,
    "image_generation_call": _image_generation_call,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "local_shell_call_output": _output,
    "tool_search_output": _output,
}
