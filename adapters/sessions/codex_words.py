"""What in a user message of a Codex session a person typed, and what the program put in.

Source: section 3.2 of the format page (synthetic context); B33.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from adapters.sessions.drafts import base64_size
from adapters.sessions.values import MAX_NAME_CHARS
from schemas.event import Attachment

# Each begins a whole text block that the program wrote.
_INJECTED: Final = (
    "# AGENTS.md instructions for",
    "<INSTRUCTIONS>",
    "<app-context>",
    "<apps_instructions>",
    "<codex_internal_context",
    "<collaboration_mode>",
    "<environment_context>",
    "<environments_instructions>",
    "<goal_context>",
    "<hook_prompt",
    "<model_switch>",
    "<permissions instructions>",
    "<personality_spec>",
    "<plugins_instructions>",
    "<realtime_conversation>",
    "<recommended_plugins>",
    "<skill>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_action>",
    "<user_instructions>",
)
# Tuples, because a file may hold what cannot be hashed.
_TEXTS: Final = ("input_text", "output_text", "text", "Text", "summary_text", "reasoning_text")
_IMAGES: Final = ("input_image", "image", "local_image", "Image", "LocalImage")
# Known blocks that say nothing by themselves.
_SILENT: Final = ("encrypted_content", "skill", "mention", "Skill", "Mention")
_IMAGE_TAG: Final = re.compile(r"\s*(?:<image(?: name=[^>]{0,300})?>|</image>)\s*")
_DATA_URL: Final = re.compile(r"data:([^;,]{1,200})[;,]")
_SHELL: Final = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*(?:<result>\n?(.*))?", re.DOTALL
)
_SHELL_END: Final = re.compile(r"\n?</result>\s*</user_shell_command>\s*\Z")


class Parts(NamedTuple):
    """A content by what it is: words, words that the program put in, images, blocks that nobody knows."""

    texts: list[str]
    injected: list[str]
    images: list[Attachment]
    unknown: int

    @property
    def text(self) -> str:
        """All words, a line end between blocks."""
        return "\n".join(self.texts)


def parts_of(content: object, *, by_user: bool = False) -> Parts:
    """Sort the blocks of a content; text alone is one text block, null and what is no content has none."""
    parts, unknown = Parts([], [], [], 0), 0
    for block in content if isinstance(content, list) else [content]:
        text = block if isinstance(block, str) else _text(block)
        if text is not None:
            if by_user and is_injected(text):
                parts.injected.append(text)
            elif not (by_user and _IMAGE_TAG.fullmatch(text)):
                parts.texts.append(text)
        elif isinstance(block, dict) and block.get("type") in _IMAGES:
            parts.images.append(image(block.get("image_url") or block.get("url") or block.get("path")))
        elif block is not None and not (isinstance(block, dict) and block.get("type") in _SILENT):
            unknown += 1
    return parts._replace(unknown=unknown)


def is_injected(text: str) -> bool:
    """Whether a text block is one that the program put into a user message."""
    return text.lstrip().startswith(_INJECTED)


def shell_run(text: str) -> str | None:
    """Give a command that the person ran, and what it printed; None when the text is none."""
    found = _SHELL.match(text)
    if found is None:
        return None
    printed = _SHELL_END.sub("", found[2] or "")
    return f"$ {found[1]}\n{printed}".rstrip("\n")


def image(place: object) -> Attachment:
    """Describe an image by its data URL, address or path, without its bytes; a path is never opened."""
    if isinstance(place, dict):
        place = place.get("url")
    if not isinstance(place, str):
        return Attachment(kind="image")
    data = _DATA_URL.match(place)
    if data:
        return Attachment(kind="image", mime_type=data[1], size_bytes=base64_size(place.partition(",")[2]))
    if place.startswith(("https://", "http://")) and len(place) <= MAX_NAME_CHARS * 10:
        return Attachment(kind="image", url=place)
    return Attachment(kind="image", name=re.split(r"[/\\]", place)[-1][:MAX_NAME_CHARS] or None)


def images(*lists: object) -> Iterator[Attachment]:
    """Describe the images that an event lists beside its words."""
    for given in lists:
        if isinstance(given, list):
            yield from (image(place) for place in given)


def squeezed(text: str) -> str:
    """Give words without white space: the forms of one message differ in how its parts are joined."""
    return "".join(text.split())


def _text(block: Any) -> str | None:
    if not isinstance(block, dict) or block.get("type") not in _TEXTS:
        return None
    text = block.get("text")
    return text if isinstance(text, str) else ""
