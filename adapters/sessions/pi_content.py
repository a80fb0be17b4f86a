"""The words and images of a pi message's content, whatever shape it has.

Source: section 2.4 of the format page; B15, B19, E21 to E23, E26, E27.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.sessions.drafts import base64_size
from adapters.sessions.pi_shapes import Block, Content
from adapters.sessions.values import MAX_NAME_CHARS
from schemas.event import Attachment


@dataclass(slots=True)
class Parts:
    """Blocks of one content by what they are, each with its place in the list."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[tuple[int, str]] = field(default_factory=list)
    calls: list[tuple[int, Block]] = field(default_factory=list)
    images: list[Block] = field(default_factory=list)
    unknown: int = 0

    @property
    def text(self) -> str:
        """All words of text blocks, a line end between blocks."""
        return "\n".join(self.texts)

    def add(self, place: int, block: object) -> None:
        """Sort one block in; one without what its type says it holds has nothing to give."""
        if isinstance(block, str):
            self.texts.append(block)
        elif not isinstance(block, Block):
            self.unknown += 1
        elif block.type == "text":
            if isinstance(block.text, str):
                self.texts.append(block.text)
        elif block.type == "toolCall":
            self.calls.append((place, block))
        elif block.type == "thinking":
            if isinstance(block.thinking, str) and block.thinking.strip():
                self.thoughts.append((place, block.thinking))
        elif block.type == "image":
            self.images.append(block)
        else:
            self.unknown += 1


def parts_of(content: Content) -> Parts:
    """Sort the blocks of a content; text alone is one text block, null and what is no content has none."""
    parts = Parts()
    if isinstance(content, list):
        for place, block in enumerate(content):
            parts.add(place, block)
    elif isinstance(content, str | Block):
        parts.add(0, content)
    return parts


def lone_text(content: Content) -> str | None:
    """Give the words of a content that is one text and nothing else: nearly all of them are."""
    if type(content) is list and len(content) == 1:
        block = content[0]
        if type(block) is Block and block.type == "text" and type(block.text) is str:
            return block.text
        return None
    return content if type(content) is str else None


def attachments(images: Sequence[Block]) -> list[Attachment]:
    """Describe images without their bytes."""
    return [Attachment(kind="image", mime_type=_mime_type(i), size_bytes=base64_size(i.data)) for i in images]


def image_digest(images: Sequence[Block]) -> bytes | None:
    """SHA-256 over all images; None without any, so that most contents cost nothing."""
    if not images:
        return None
    digest = hashlib.sha256()
    for image in images:
        digest.update(f"{_mime_type(image)}\0{image.data if isinstance(image.data, str) else ''}\0".encode())
    return digest.digest()


def _mime_type(image: Block) -> str | None:
    return image.mime_type if isinstance(image.mime_type, str) and len(image.mime_type) <= MAX_NAME_CHARS else None
