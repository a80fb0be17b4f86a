"""Google AI Studio's saved prompts: files in a Drive folder, mostly without an extension, of chunks in order.

`text` and `parts` repeat the same words. The title is the file's name, and there are no ids: a chat is known by its
first chunk, so that renaming or copying the file changes nothing. Unsent drafts are nobody's words. Source: section
3.4 of the export formats, case 51.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from adapters.contract import Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.chat import Chat, sources, tool_result
from adapters.exports.fields import Object, array, identifier, obj, objects, raw_time, text, times, word
from adapters.exports.gemini_exchange import PROVIDER
from adapters.exports.records import Record, elements_of_whole
from adapters.exports.shape import outline
from schemas.captured import CapturedEvent
from schemas.event import Attachment
from schemas.ids import event_id

_DRIVE: Final = (
    ("driveDocument", "file"), ("driveImage", "image"), ("driveVideo", "video"), ("driveAudio", "audio"),
    ("youtubeVideo", "video"),
)  # fmt: skip
_INLINE: Final = (("inlineImage", "image"), ("inlineFile", "file"), ("inlineAudio", "audio"), ("inlineData", "file"))


class AiStudioReader:
    """Reads a prompt that AI Studio saved."""

    name = "AI Studio prompt"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object with chunks of a prompt."""
        found = outline(head.start)
        return found.top == "{" and "chunkedPrompt" in found.names(0)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield the chunks in order."""
        return elements_of_whole(stream, path, lambda record: _prompt(record, path, options))


class AiStudioIndexReader:
    """Knows the index of applets that lies beside the prompts."""

    name = "AI Studio index"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object of applets."""
        found = outline(head.start)
        return found.top == "{" and "applets" in found.names(0) and "chunkedPrompt" not in found.names(0)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Say what the file is and what to import in its place."""
        del stream, options
        yield Warned(str(path), "an index of AI Studio's applets, no chats: import the prompt files beside it")


def _prompt(record: Record, path: Path, options: ReadOptions) -> Iterator[Element]:
    chunks = obj(record.value.get("chunkedPrompt")).get("chunks")
    if not isinstance(chunks, list):
        yield Rejected(record.where, "not-a-conversation", "no list of chunks is there")
        return
    if not chunks:
        yield Skipped("empty", "conversation without messages")
        return
    first = obj(chunks[0])
    made = raw_time(first.get("createTime"))
    title = path.stem if path.suffix.lower() in {".json", ".txt"} else path.name
    thread_id = event_id(PROVIDER, "aistudio", None if made is None else str(made), _words(first))
    nearby = times(next((time for chunk in chunks if (time := raw_time(obj(chunk).get("createTime")))), None))
    chat = Chat(PROVIDER, thread_id, options, title=title, nearby=nearby)
    system = obj(record.value.get("systemInstruction"))
    if instruction := word(system.get("text")) or word(_parts(system)):
        event = CapturedEvent(id="", type="status", role="system", text=instruction, raw_type="systemInstruction")
        yield chat.heard(chat.hidden(event, "system prompt", "system"))
    model = word(obj(record.value.get("runSettings")).get("model"))
    yield from _chunks(chat, chunks, model, record.where)
    if drafts := objects(obj(record.value.get("chunkedPrompt")).get("pendingInputs")):
        yield Skipped("hidden", "unsent draft", len(drafts))


def _chunks(chat: Chat, chunks: list[object], model: str | None, where: str) -> Iterator[Element]:
    for unit in _units(chunks):
        if isinstance(unit.chunk, dict):
            yield from map(chat.heard, _items(chat, unit.chunk, model, unit.files))
        else:
            yield Rejected(f"{where}: chunk {unit.place}", "not-a-chunk", f"a {type(unit.chunk).__name__}")


@dataclass(slots=True)
class _Unit:
    """A chunk, its number for a person, and the files of the chunks beside it that came with its words."""

    place: int
    chunk: object
    files: list[Attachment] = field(default_factory=list)

    @property
    def is_file(self) -> bool:
        """Whether it is a file of the person's, without words."""
        return self._of_person and not word(_words(obj(self.chunk))) and bool(_attachments(obj(self.chunk)))

    @property
    def is_said(self) -> bool:
        """Whether it is words of the person's."""
        return self._of_person and bool(word(_words(obj(self.chunk))))

    @property
    def _of_person(self) -> bool:
        return obj(self.chunk).get("role") == "user"


def _units(chunks: list[object]) -> list[_Unit]:
    """Put files beside the person's words they stand next to; one that stands next to none stays by itself."""
    units: list[_Unit] = []
    waiting: list[_Unit] = []
    for place, chunk in enumerate(chunks, 1):
        unit = _Unit(place, chunk)
        if unit.is_file:
            if units and not waiting and units[-1].is_said:
                units[-1].files += _attachments(obj(chunk))
            else:
                waiting.append(unit)
            continue
        if unit.is_said:
            unit.files = [item for file in waiting for item in _attachments(obj(file.chunk))]
        else:
            units += waiting
        waiting = []
        units.append(unit)
    return units + waiting


def _items(chat: Chat, chunk: Object, model: str | None, files: list[Attachment]) -> Iterator[CapturedEvent | Skipped]:
    role = text(chunk.get("role"))
    event = CapturedEvent(
        id="",
        type="message",
        role=role,
        text=_words(chunk),
        times=times(chunk.get("createTime")),
        model=model if role == "model" else None,
        labels=["edited"] if chunk.get("isEdited") is True else [],
        raw_type="chunk",
        attachments=_attachments(chunk) + files,
        citations=sources(_grounding(chunk)),
    )
    if isinstance(chunk.get("executableCode"), dict):
        yield _code(chat, event, chunk["executableCode"])
    elif isinstance(chunk.get("codeExecutionResult"), dict):
        result = chunk["codeExecutionResult"]
        event.type, event.role = "tool_result", "tool"
        event.text = tool_result(None, result.get("output")).text
        event.labels = [] if text(result.get("outcome")) in {"OUTCOME_OK", ""} else ["error"]
        yield chat.finish(event)
    elif chunk.get("isThought") is True:
        yield chat.reasoning(event)
    elif word(chunk.get("errorMessage")) and not word(event.text):
        event.type, event.text, event.labels = "status", chunk["errorMessage"], ["error"]
        yield chat.finish(event)
    else:
        yield from _thought_parts(chat, chunk, event)
        yield chat.message(event)


def _code(chat: Chat, event: CapturedEvent, code: Object) -> CapturedEvent:
    event.type, event.role, event.tool_name = "tool_call", "assistant", "code_execution"
    event.text = f"code_execution {text(code.get('code'))}"
    return chat.finish(event)


def _thought_parts(chat: Chat, chunk: Object, event: CapturedEvent) -> Iterator[CapturedEvent | Skipped]:
    """Give the reasoning that some chunks hold among the parts of an answer."""
    thoughts = _parts(chunk, thought=True)
    if word(thoughts):
        yield chat.reasoning(
            CapturedEvent(
                id="",
                type="status",
                role=event.role,
                text=thoughts,
                times=event.times,
                model=event.model,
                raw_type="part",
            )
        )


def _words(chunk: Object) -> str:
    return text(chunk.get("text")) or _parts(chunk, thought=chunk.get("isThought") is True)


def _parts(chunk: Object, *, thought: bool = False) -> str:
    parts = objects(chunk.get("parts"))
    return "".join(text(part.get("text")) for part in parts if (part.get("thought") is True) == thought)


def _attachments(chunk: Object) -> list[Attachment]:
    found = [
        Attachment(kind=kind, name=identifier(obj(chunk[name]).get("id")), url=word(obj(chunk[name]).get("url")))
        for name, kind in _DRIVE
        if isinstance(chunk.get(name), dict)
    ]
    for holder in [chunk, *objects(chunk.get("parts"))]:
        for name, kind in _INLINE:
            if isinstance(holder.get(name), dict):
                mime = word(holder[name].get("mimeType"))
                family = (mime or "").partition("/")[0]
                found.append(Attachment(kind=family if family in {"image", "audio", "video"} else kind, mime_type=mime))
    return found


def _grounding(chunk: Object) -> list[object]:
    grounding = obj(chunk.get("grounding"))
    found = [
        *array(grounding.get("groundingSources")),
        *array(grounding.get("sources")),
        *array(chunk.get("citations")),
    ]
    return [{**item, "url": item.get("url") or item.get("uri")} for item in objects(found)]
