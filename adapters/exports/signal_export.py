"""Signal's own export of plain text: `main.jsonl` of Signal Desktop, Android and iOS, one frame a line.

Source: section 5.3 of the chat platform notes. The same exporter is in all three apps.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.chat.signal_words import PROVIDER
from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, ReadOptions, Rejected, Skipped
from adapters.exports.fields import Object
from adapters.exports.signal_export_items import Items
from adapters.exports.signal_export_people import People
from adapters.files.json_line import BadLine, LineDecoder
from adapters.files.lines import Line, LongLine, read_lines, split_lines

_FRAMES: Final = frozenset(
    {"account", "recipient", "chat", "chatItem", "stickerPack", "adHocCall", "notificationProfile", "chatFolder"}
)
_INFO: Final = frozenset({"version", "backupTimeMs"})
_LOOKED_AT: Final = 5

_decoder: Final = LineDecoder[Object](dict[str, Any])


class SignalExportReader:
    """Reads `main.jsonl` of Signal's export."""

    name = "Signal export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file begins with a backup's info, or with lines that are frames and nothing else."""
        lines = list(split_lines(head.start, 0))[:_LOOKED_AT]
        found = [_decoded(line.raw) for line in lines]
        if not found or found[0] is None:
            return False
        if found[0].keys() >= _INFO:
            return True
        frames = [frame for frame in found if frame and len(frame) == 1 and frame.keys() <= _FRAMES]
        return len(frames) > 1 and all(isinstance(value, dict) for frame in frames for value in frame.values())

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every chat item's events in the order of the file; keeps its contacts and chats."""
        people = People(options)
        frames = _Frames(people, Items(people))
        for line in read_lines(stream, 0, None, final=True):
            where = f"{path}: byte {line.start}"
            if isinstance(line, LongLine):
                yield Rejected(where, "line-too-long", f"{line.size} bytes", line.sample, line.size)
            else:
                yield from frames.elements(line, where)


def _decoded(raw: bytes) -> Object | None:
    try:
        return _decoder.decode(raw)
    except BadLine:
        return None


class _Frames:
    """Frames of one file, in their order: people before chats, chats before what was said in them."""

    def __init__(self, people: People, items: Items) -> None:
        self._people = people
        self._items = items

    def elements(self, line: Line, where: str) -> Iterator[Element]:
        sample = line.raw[:MAX_SAMPLE_BYTES]
        try:
            frame = _decoder.decode(line.raw)
        except BadLine as error:
            yield Rejected(where, error.reason, str(error), sample, len(line.raw))
            return
        kind = next((name for name in frame if name in _FRAMES), None)
        content = frame[kind] if kind else None
        fault: str | None = None
        if kind is None:
            if not frame.keys() >= _INFO:
                yield Skipped("empty", "unknown frame")
        elif not isinstance(content, dict):
            fault = f"a {kind} that is no object"
        elif kind == "chatItem":
            yield from self._items.elements(content, where, sample)
        elif kind == "recipient":
            fault = self._people.add_recipient(content)
        elif kind == "chat":
            fault = self._people.add_chat(content)
        elif kind != "account":
            yield Skipped("empty", kind)
        if fault:
            yield Rejected(where, "bad-frame", fault, sample, len(line.raw))
