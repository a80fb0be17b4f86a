"""Drafts of what all coding agents' sessions hold: reasoning, calls, failed runs, images.

A draft is an event before it is known who it is, when it was and where it stands; what identifies it stands beside it.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from adapters.sessions.values import blank
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import Part

Identity = tuple[Part, ...]
Draft = tuple[CapturedEvent, Identity]
"""An event without its id, times and place, and what identifies it: canonical kind, block or None, content."""

MAX_CALL_CHARS: Final = 64 * 1024
"""How much of a call an event shows: any command whole; a file that is written by a call may be cut."""

UNNAMED: Final = "unnamed"
IMAGE: Final = "image"
OPERATOR_SHELL: Final = "operator-shell"
"""Label of a command that the person at the keyboard ran, and of what it printed."""

# The words by which hand-off tools recognise rate limits (section 1.8 of the origin page), and their code spellings.
_RATE_LIMIT: Final = re.compile(
    r"\b429\b|rate[ _-]?limit|too[ _]many[ _]requests|quota[ _]exceeded|capacity[ _]reached|resource[ _]?exhausted",
    re.IGNORECASE,
)


class Reading(Struct, gc=False):
    """The events of one entry, or why it has none.

    `what` names the sort of entry in counts, from a closed set. `fault` says what is wrong with an entry that cannot be
    read.
    """

    what: str
    drafts: list[Draft] = []
    outcome: Literal["empty", "hidden"] = "empty"
    fault: str = ""
    unknown_blocks: int = 0


def hidden(what: str, text: str, identity: Identity) -> Reading:
    """Read what nobody said; it is shown only to who asks for it."""
    event = CapturedEvent(id="", type="status", role="system", text=text, labels=["hidden"], raw_type=what)
    return Reading(what, [] if blank(text) else [(event, identity)], "hidden")


def thought(text: str, raw_type: str, model: str | None) -> CapturedEvent:
    """Draft a model's reasoning; it is never part of what was said."""
    return CapturedEvent(
        id="", type="status", role="assistant", text=text, labels=["reasoning"], raw_type=raw_type, model=model
    )


def called(
    tool: str | None, call_id: str | None, arguments: str | None, raw_type: str, model: str | None
) -> tuple[CapturedEvent, str]:
    """Draft a call, and give its whole text, which identifies it."""
    whole = (tool or UNNAMED) if arguments is None else f"{tool or UNNAMED} {arguments}"
    event = CapturedEvent(
        id="",
        type="tool_call",
        role="assistant",
        text=whole,
        raw_type=raw_type,
        model=model,
        tool_name=tool,
        tool_call_id=call_id,
    )
    if len(whole) > MAX_CALL_CHARS:
        event.text = whole[:MAX_CALL_CHARS]
        event.labels.append("truncated")
    return event, whole


def failed(reason: str, said: str, raw_type: str, model: str | None) -> CapturedEvent:
    """Draft the end of a run that failed: `reason` is error or aborted, `said` the provider's answer, if any."""
    return CapturedEvent(
        id="",
        type="status",
        role="assistant",
        text=reason if blank(said) else said,
        labels=[reason, "rate-limit"] if limited(said) else [reason],
        raw_type=raw_type,
        model=model,
    )


def limited(text: str) -> bool:
    """Whether words say that a rate limit was met."""
    return bool(_RATE_LIMIT.search(text))


def with_images(event: CapturedEvent, images: Sequence[Attachment]) -> CapturedEvent:
    """Add images to a draft: the label, the attachments, and placeholders, one a line, when there are no words.

    What is no image, such as a document, gets no label.
    """
    if images:
        if blank(event.text):
            event.text = "\n".join(f"[{image.kind}: {image.mime_type or 'unknown type'}]" for image in images)
        if any(image.kind == IMAGE for image in images):
            event.labels.append(IMAGE)
        event.attachments = list(images)
    return event


def base64_size(data: object) -> int | None:
    """Bytes behind a base64 text."""
    return len(data) * 3 // 4 - data[-2:].count("=") if isinstance(data, str) and data else None
