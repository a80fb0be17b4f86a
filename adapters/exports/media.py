"""What came with a message: attachments without their bytes, and what stands for them where there are no words."""

from collections.abc import Iterable
from typing import Final

from adapters.exports.fields import number, word
from schemas.event import Attachment

MAX_ATTACHMENTS: Final = 500
"""Kept of one message; a video call's frames can be thousands."""

_KINDS: Final = frozenset({"image", "audio", "video"})


def kind_of(mime_type: str | None) -> str:
    """Give what a media type is: image, audio, video, else file."""
    first = mime_type.partition("/")[0].lower() if mime_type else ""
    return first if first in _KINDS else "file"


def attachment(
    kind: str | None = None, name: object = None, mime_type: object = None, url: object = None, size: object = None
) -> Attachment:
    """Make an attachment of untrusted members; without a kind the media type tells it."""
    media_type = word(mime_type)
    return Attachment(
        kind=kind or kind_of(media_type),
        name=word(name),
        mime_type=media_type,
        url=word(url),
        size_bytes=number(size),
    )


def placeholder(items: Iterable[Attachment]) -> str:
    """Stand for items that came without words, one a line: `[image: image/png]`, `[file: plan.pdf]`, `[audio]`."""
    return "\n".join(_placeholder(item) for item in items)


def _placeholder(item: Attachment) -> str:
    told = item.mime_type if item.kind in _KINDS else item.name or item.mime_type
    return f"[{item.kind}: {told}]" if told else f"[{item.kind}]"
