"""Chats that the tool signal-export took from Signal Desktop's database: `data.json`, one message a line.

The tool drops all ids: a chat is known by its folder, a message by its time, author and words. Times are of the
exporting machine, without a zone. Source: section 5.3 of the chat platform notes; signal-export's `models.py`.
"""

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.chat.signal_words import PROVIDER
from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, Heard, ReadOptions, Rejected, Skipped
from adapters.exports.fields import Object, obj, objects, text, word
from adapters.exports.media import attachment, placeholder
from adapters.exports.wall_clock import WallClock
from adapters.files.json_line import BadLine, LineDecoder
from adapters.files.lines import LongLine, read_lines, split_lines
from schemas.captured import CapturedEvent, Thread
from schemas.ids import content_digest, event_id
from schemas.keys import account_name

OWN_NAME: Final = "Me"
"""What the tool calls the person whose messages it exports."""

MAX_EQUALS: Final = 10_000
"""Latest messages of which equal ones are counted: equal ones of one second stand beside each other."""

_MEMBERS: Final = frozenset({"date", "sender", "body", "reactions", "attachments"})
_KINDS: Final = {
    "jpg": "image", "jpeg": "image", "png": "image", "gif": "image", "webp": "image", "mp4": "video", "mov": "video",
    "mp3": "audio", "m4a": "audio", "aac": "audio", "ogg": "audio", "opus": "audio",
}  # fmt: skip

_decoder: Final = LineDecoder[Object](dict[str, Any])


class SignalChatsReader:
    """Reads `data.json` of signal-export."""

    name = "signal-export chat"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the first line is a message as the tool writes it."""
        line = next(split_lines(head.start, 0), None)
        try:
            return line is not None and _decoder.decode(line.raw).keys() >= _MEMBERS
        except BadLine:
            return False

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every message in the order of the file, holding one at a time."""
        chat = _Chat(path, options)
        for line in read_lines(stream, 0, None, final=True):
            where = f"{path}: byte {line.start}"
            if isinstance(line, LongLine):
                yield Rejected(where, "line-too-long", f"{line.size} bytes", line.sample, line.size)
                continue
            try:
                message = _decoder.decode(line.raw)
            except BadLine as error:
                yield Rejected(where, error.reason, str(error), line.raw[:MAX_SAMPLE_BYTES], len(line.raw))
                continue
            yield from chat.elements(message)


class _Chat:
    def __init__(self, path: Path, options: ReadOptions) -> None:
        name = (options.chat or "").strip() or path.parent.name or path.stem
        self._thread = Thread(provider=PROVIDER, thread_id=name, account=options.account, title=name)
        self._account = account_name(options.account)
        self._own = {OWN_NAME, (options.own_name or OWN_NAME).strip()}
        self._clock = WallClock(options.timezone)
        self._equals: OrderedDict[bytes, int] = OrderedDict()

    def elements(self, message: Object) -> Iterator[Element]:
        files = [
            attachment(
                _KINDS.get(text(item.get("name")).rpartition(".")[2].lower()), item.get("name"), url=item.get("path")
            )
            for item in objects(message.get("attachments"))
        ]
        sticker = message.get("sticker")
        emoji = word(sticker) or word(obj(sticker).get("emoji"))
        deleted = message.get("deleted") is True
        said = (
            text(message.get("body")).strip() or emoji or placeholder(files) or ("[deleted message]" if deleted else "")
        )
        if not said:
            yield Skipped("empty", "message without words")
            return
        sender = word(message.get("sender"))
        iso, labels = self._clock.place_text(message.get("date"))
        digest = content_digest(text(message.get("date")), sender, said, *(item.name for item in files))
        status = deleted or message.get("call") is True
        event = CapturedEvent(
            id=event_id(PROVIDER, "chat", self._account, self._thread.thread_id, digest, self._number(digest)),
            type="status" if status else "message",
            role="self" if sender in self._own else "user",
            text=said,
            times=[iso] if iso else [],
            labels=[*(["deleted"] if deleted else ["service"] if status else []), *labels],
            author_id=sender,
            attachments=files,
        )
        yield Heard(self._thread, event)
        for reaction in message["reactions"] if isinstance(message.get("reactions"), list) else []:
            yield self._reaction(reaction, event)

    def _reaction(self, reaction: object, target: CapturedEvent) -> Element:
        # The tool's pairs of name and emoji.
        pair = [word(part) for part in reaction] if isinstance(reaction, list) else []
        name, emoji = pair if len(pair) == 2 else (None, None)  # noqa: PLR2004 - see above
        if not name or not emoji:
            return Skipped("empty", "reaction of nobody known")
        event = CapturedEvent(
            id=event_id(PROVIDER, "chat", target.id, "reaction", name, emoji),
            type="status",
            role="self" if name in self._own else "user",
            text=emoji,
            times=target.times,
            labels=["reaction"],
            author_id=name,
        )
        return Heard(self._thread, event)

    def _number(self, digest: bytes) -> int:
        number = self._equals[digest] = self._equals.pop(digest, 0) + 1
        if len(self._equals) > MAX_EQUALS:
            self._equals.popitem(last=False)
        return number
