"""The words of a ChatGPT message, and what came with it.

The rule that survives new content types: strings in parts, else text, else content, else result, else no words.
Source: sections 1.3 and 1.4 of the export formats; cases 9, 11, 21, 25.
"""

from collections.abc import Iterator
from typing import Any, Final

from adapters.exports.chatgpt_shapes import Content, Metadata
from adapters.exports.fields import obj, objects, word
from adapters.exports.media import MAX_ATTACHMENTS, attachment
from schemas.event import Attachment

IMAGE_MARK: Final = "<<ImageDisplayed>>"
"""Where the output of a program showed a picture; the picture itself is in `aggregate_result`."""

_POINTERS: Final = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_asset_pointer": "video",
    "video_container_asset_pointer": "video",
}
_LIVE_VIDEO: Final = "real_time_user_audio_video_asset_pointer"
_KNOWN_PARTS: Final = frozenset({*_POINTERS, _LIVE_VIDEO, "audio_transcription"})
_SCHEMES: Final = ("file-service://", "sediment://")


def words(content: Content) -> str:
    """Give the words of a content of whatever type, without what its type keeps apart."""
    parts = content.parts
    if type(parts) is list:
        if len(parts) == 1 and type(parts[0]) is str:  # nearly every message
            return parts[0]
        said = "\n".join(part for part in map(_part_words, parts) if part)
        if said:
            return said
    special = _SPECIAL.get(content.content_type) if isinstance(content.content_type, str) else None
    return special(content) if special else _plain(content)


def _part_words(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        return next((found for name in ("text", "content", "result") if (found := word(part.get(name)))), "")
    return ""


def _plain(content: Content) -> str:
    return next((found for value in (content.text, content.content, content.result) if (found := word(value))), "")


def _error(content: Content) -> str:
    return _plain(content) or word(content.name) or ""


def _thoughts(content: Content) -> str:
    told = (
        "\n".join(found for name in ("summary", "content") if (found := word(thought.get(name))))
        for thought in objects(content.thoughts)
    )
    return "\n\n".join(filter(None, told)) or _plain(content)


def _instructions(content: Content) -> str:
    told = (content.user_profile, content.user_instructions)
    return "\n\n".join(found for value in told if (found := word(value))) or _plain(content)


def _memory(content: Content) -> str:
    return word(content.model_set_context) or _plain(content)


def _output(content: Content) -> str:
    return _plain(content).replace(IMAGE_MARK, "[image]")


_SPECIAL: Final = {
    "system_error": _error,
    "thoughts": _thoughts,
    "user_editable_context": _instructions,
    "model_editable_context": _memory,
    "execution_output": _output,
}


def unknown_parts(content: Content) -> Iterator[str]:
    """Give the types of parts that are neither words nor media that is known."""
    for part in content.parts if isinstance(content.parts, list) else ():
        if isinstance(part, dict):
            kind = part.get("content_type")
            if not isinstance(kind, str):
                yield "without a type"
            elif kind not in _KNOWN_PARTS and not _part_words(part):
                yield kind
        elif part is not None and not isinstance(part, str):
            yield type(part).__name__


def attachments(content: Content, metadata: Metadata) -> list[Attachment]:
    """Describe what came with a message, each file once, however often it is named."""
    found: dict[str, Attachment] = {}
    for kind, pointer in _pointers(content, metadata):
        if len(found) >= MAX_ATTACHMENTS:
            break
        url = word(pointer.get("asset_pointer")) or word(pointer.get("image_url"))
        if url and file_id(url) not in found:
            form = word(pointer.get("format"))
            mime_type = f"{kind}/{form}" if form else pointer.get("mime_type")
            found[file_id(url)] = attachment(kind, file_id(url), mime_type, url, pointer.get("size_bytes"))
    for item in objects(metadata.attachments)[:MAX_ATTACHMENTS]:
        _add_upload(item, found)
    return list(found.values())


def _add_upload(item: dict[str, Any], found: dict[str, Attachment]) -> None:
    """Add an upload of `metadata.attachments`; an image stands there and among the parts, and is one."""
    key, name = word(item.get("id")), word(item.get("name"))
    if key is None and name is None:
        return
    url = _address(key) if key else None
    mime_type = item.get("mime_type") or item.get("mimeType")
    upload = attachment(None, name or key, mime_type, url, item.get("size"))
    known = found.get(key or f"name {name}")
    if known is None:
        found[key or f"name {name}"] = upload
    else:
        known.name, known.mime_type = upload.name, known.mime_type or upload.mime_type
        known.size_bytes = upload.size_bytes if known.size_bytes is None else known.size_bytes


def _pointers(content: Content, metadata: Metadata) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in objects(content.parts):
        kind = part.get("content_type")
        if kind == _LIVE_VIDEO:
            yield "audio", obj(part.get("audio_asset_pointer"))
            video = part.get("video_container_asset_pointer")
            yield "video", {"asset_pointer": video} if isinstance(video, str) else obj(video)
            frames = part.get("frames_asset_pointers")
            for frame in frames if isinstance(frames, list) else ():
                yield "image", {"asset_pointer": frame} if isinstance(frame, str) else obj(frame)
        elif isinstance(kind, str) and (kind in _POINTERS or "asset_pointer" in part):
            yield _POINTERS.get(kind, "file"), part
    if content.screenshot:
        yield "image", obj(content.screenshot)
    for shown in objects(obj(metadata.aggregate_result).get("messages")):
        if shown.get("message_type") == "image":
            yield "image", shown


def file_id(pointer: str) -> str:
    """Give the bare id that a pointer names: `sediment://file_abc` is the file `file_abc`."""
    for scheme in _SCHEMES:
        if pointer.startswith(scheme):
            return pointer.removeprefix(scheme).partition("#")[0] or pointer
    return pointer


def _address(key: str) -> str:
    """Give the pointer that ChatGPT writes for a file id: its two stores have differing forms of ids."""
    return ("sediment://" if key.startswith("file_") else "file-service://") + key
