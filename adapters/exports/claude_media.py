"""What came with a Claude message: uploads whose text the export holds, and files of which it knows the name alone.

Source: section 2.2 of the export formats; case 35.
"""

from typing import Any, Final

from adapters.exports.claude_shapes import Block, Message
from adapters.exports.fields import obj, objects, word
from adapters.exports.media import MAX_ATTACHMENTS, attachment
from schemas.event import Attachment

UNNAMED: Final = "(unnamed)"
"""The name of a paste: Claude turns long ones into attachments without a name."""

_IMAGES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".svg", ".bmp")
_KINDS: Final = frozenset({"image", "audio", "video"})


def uploads(message: Message) -> tuple[list[Attachment], list[str]]:
    """Give what came with a message, each file once, and the texts that the export holds of it, each under its name."""
    found = [_upload(item) for item in objects(message.attachments)[:MAX_ATTACHMENTS]]
    texts = [
        f"[file: {upload.name}]\n{text}"
        for upload, item in zip(found, objects(message.attachments), strict=False)
        if (text := word(item.get("extracted_content")))
    ]
    known: set[str] = set()
    for item in [*objects(message.files), *objects(message.files_v2)][:MAX_ATTACHMENTS]:
        key = word(item.get("file_uuid")) or word(item.get("uuid")) or word(item.get("file_name"))
        if key and key not in known:
            known.add(key)
            found.append(_file(item, key))
    return found, texts


def _upload(item: dict[str, Any]) -> Attachment:
    return attachment(
        "file", word(item.get("file_name")) or UNNAMED, _media_type(item.get("file_type")), None, item.get("file_size")
    )


def _media_type(told: object) -> str | None:
    """Give a media type; `txt` is none, it is Claude's word for whatever became text."""
    found = word(told)
    return found if found and "/" in found else None


def _file(item: dict[str, Any], key: str) -> Attachment:
    name = word(item.get("file_name"))
    told = item.get("file_kind")
    kind = told if isinstance(told, str) and told in _KINDS else _kind_by_name(name)
    return attachment(kind, name or UNNAMED, None, key if key != name else None, item.get("size_bytes"))


def _kind_by_name(name: str | None) -> str:
    return "image" if name and name.lower().endswith(_IMAGES) else "file"


def block_media(block: Block) -> Attachment:
    """Give the attachment that a `document` or `image` block is."""
    source = obj(block.source)
    kind = "image" if block.type == "image" else "file"
    name = word(block.file_name) or word(block.title) or word(block.name)
    url = word(block.file_uuid) or word(source.get("file_uuid")) or word(source.get("url"))
    return attachment(kind, name, source.get("media_type"), url)
