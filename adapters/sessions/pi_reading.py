"""What one entry of a pi session says, before it is known who it is and where it stands."""

from adapters.sessions import drafts
from adapters.sessions.drafts import Draft
from adapters.sessions.pi_content import lone_text, parts_of
from adapters.sessions.pi_drafts import with_images
from adapters.sessions.pi_shapes import Content
from adapters.sessions.values import blank


class Reading(drafts.Reading, gc=False):
    """What `drafts.Reading` says, and whether the message's time identifies the entry.

    `timed` is false for what some versions write as an entry and some as a message, so that it cannot.
    """

    timed: bool = True


def text_of(content: Content) -> str:
    """Give all words of a content."""
    text = lone_text(content)
    return parts_of(content).text if text is None else text


def worded(what: str, draft: Draft, content: Content) -> Reading:
    """Read content whose words are in the draft: one event, or none when it has neither words nor images.

    A result of a tool is kept without words, for its call has ended; a message is not. Source: E22, E23.
    """
    event = draft[0]
    if lone_text(content) is not None:
        return Reading(what, [draft] if event.type == "tool_result" or not blank(event.text) else [])
    parts = parts_of(content)
    if blank(event.text) and not parts.images and event.type != "tool_result":
        return Reading(what)
    # A call has no business here; it is one more block that nobody knows.
    return Reading(what, [with_images(draft, parts.images)], unknown_blocks=parts.unknown + len(parts.calls))
