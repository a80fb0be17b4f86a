r"""Telegram Desktop exports (`result.json`): one chat, or a whole account.

Chats are walked in place and their messages read one by one, however many there are. The exporter writes control
characters as `\xNN`, and some versions one bare word, which is no JSON: both are mended, in the message they are in.
Source: section 2.5 of the chat platform notes; cases 17, 19, 21.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.chat.telegram_words import PROVIDER
from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, ReadOptions, Rejected, Skipped, Warned
from adapters.exports.documents import unread
from adapters.exports.fields import Object
from adapters.exports.json_members import beginning, members_of, place_of, small_member, small_value
from adapters.exports.telegram_export_messages import TelegramChat, bare_id, owner_id
from adapters.exports.wall_clock import WallClock
from adapters.files.json_brackets import Brackets
from adapters.files.json_line import BadLine, LineDecoder
from adapters.files.json_stream import Slice, TooLong, array_elements, top_level
from adapters.files.json_values import CHUNK_BYTES, SEPARATOR, Window

KINDS: Final = re.compile(
    r"saved_messages|replies|verif\w+|monoforum|(?:personal|bot)_chat|(?:private|public)_(?:super)?(?:group|channel)"
)
"""Kinds of chats, as the exporter calls them."""

_NO_PAGES: Final = (
    "a Telegram export as HTML is not read, since it does not say which chat and whose messages it holds: export again "
    "as machine-readable JSON (Telegram Desktop, Settings, Advanced, Export Telegram data, Format)"
)

_LISTS: Final = ("chats", "left_chats")
_ACCOUNT: Final = ("personal_information", "profile_pictures", "contacts", "frequent_contacts", "sessions", *_LISTS)
# Escapes one after another, so that `\\x41` (a backslash, then letters) is not taken for one.
_ESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_BARE_WORD: Final = re.compile(rb'("document_id"\s*:\s*)(?!["\d\s{\[]|null|true|false)([^,"\n\r}]+)')

_MAX_HEAD_BYTES: Final = 4096
_CHAT: Final = re.compile(
    rb'\{\s*(?:"name"\s*:\s*(?:null|"(?:[^"\\]|\\.){0,1000}")\s*,\s*)?"type"\s*:\s*"\w+"\s*,\s*'
    rb'"id"\s*:\s*-?\d+\s*,\s*"messages"\s*:\s*\['
)

_decoder: Final = LineDecoder[Object](dict[str, Any])


class TelegramExportReader:
    """Reads `result.json` of Telegram Desktop."""

    name = "Telegram export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object that holds a chat's messages, or an account's lists."""
        stream = beginning(head.start)
        kind = small_member(stream, "type")
        if isinstance(kind, str) and KINDS.fullmatch(kind):
            return place_of(stream, "messages") is not None and isinstance(small_member(stream, "id"), int)
        if kind is not None or not isinstance(small_member(stream, "about"), str):
            return False
        return any(place_of(stream, name) is not None for name in _ACCOUNT)

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every message's events in the order of the file, holding one message at a time."""
        start = top_level(stream).start
        first = next((name for name, _ in members_of(stream, start) if name in ("messages", *_LISTS)), None)
        # An account's lists stand behind its person; in a single chat looking for one would cost a read of everything.
        owner = owner_id(small_member(stream, "personal_information")) if first in _LISTS else None
        export = _Export(stream, path, options, owner)
        if first == "messages":
            yield from export.chat(start)
        elif first is None:
            yield Warned(
                str(path), "the export of a Telegram account without its chats: export again with chats chosen"
            )
        for name in _LISTS if first in _LISTS else ():
            place = place_of(stream, name, "list")
            if place is not None:
                yield from export.chats(place)


class TelegramPageReader:
    """Knows the HTML form of an export: says why it is not read, and what to do.

    A page has the ids of its messages, but neither its chat's nor its people's, over which our ids are made: the same
    message would come twice, once from here and once from JSON or live, and chats of one name would run together.
    """

    name = "Telegram export as HTML"
    provider = PROVIDER
    fallback = True

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is a page of an exported chat."""
        start = head.start[:4096]
        return start.lstrip().startswith(b"<!DOCTYPE html") and b"Exported Data" in start and b"js/script.js" in start

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:  # noqa: ARG002
        """Say what to do."""
        yield Warned(str(path), _NO_PAGES)


@dataclass(frozen=True, slots=True)
class _Export:
    """One file, and what holds for all of its chats."""

    stream: BinaryIO
    path: Path
    options: ReadOptions
    owner: int | None

    def chats(self, place: int) -> Iterator[Element]:
        """Yield the elements of every chat of the list that stands at a place."""
        window = Window(self.stream, place)
        place, byte = window.skip(place)
        if byte != b"[":
            yield self._rejected(place, "no-list", "a list of chats was expected")
            return
        place += 1
        while True:
            place, byte = window.skip(place, SEPARATOR)
            if byte in (b"]", b""):
                return
            read = yield from self.chat(place)
            passed = _behind(window, place)
            if passed is None:
                yield self._rejected(place, "file-cut", "this chat has no end of its own")
                passed = _next_chat(self.stream, max(read, place + 1))
            if passed is None:
                return
            if passed < window.base:
                window = Window(self.stream, passed)
            place = passed

    def chat(self, place: int) -> Generator[Element, None, int]:
        """Yield the elements of one chat; gives up to where it was read."""
        head: Object = {}
        messages: int | None = None
        for name, at in members_of(self.stream, place):
            if name == "messages":
                messages = at
            elif name in ("name", "type", "id"):
                head[name] = small_value(self.stream, at)
            if messages is not None and "type" in head and "id" in head:
                break  # passing over the messages would cost another read of them
        own_id = bare_id(head)
        if messages is None or Window(self.stream, messages).skip(messages)[1] != b"[":
            yield Skipped("empty", "chat without messages")
        elif own_id is None:
            yield self._rejected(place, "no-id", "a chat without an id")
        else:
            chat = TelegramChat(head, own_id, self.owner, WallClock(self.options.timezone), self.options)
            return (yield from self._messages(chat, messages))
        return place

    def _messages(self, chat: TelegramChat, place: int) -> Generator[Element, None, int]:
        for piece in array_elements(self.stream, place):
            place = piece.start
            where = f"{self.path}: byte {piece.start}"
            raw = piece.sample if isinstance(piece, TooLong) else piece.raw
            try:
                message = _decoded(raw) if isinstance(piece, Slice) else None
            except BadLine as error:
                message = None
                # Damage that reaches into the next chat ends this one.
                following = _CHAT.search(raw)
                raw = raw[: following.start()] if following else raw
                yield Rejected(where, error.reason, str(error), raw[:MAX_SAMPLE_BYTES], len(raw))
                if following:
                    return place + following.start()
            if message is not None:
                yield from chat.elements(message, where, raw)
            elif not isinstance(piece, Slice):
                yield unread(piece, self.path)
        return place

    def _rejected(self, place: int, reason: str, detail: str) -> Rejected:
        self.stream.seek(place)
        return Rejected(f"{self.path}: byte {place}", reason, detail, self.stream.read(1024))


def _behind(window: Window, place: int) -> int | None:
    """Give the place behind an element of an array, which may be longer than memory; None when it has no end."""
    start, brackets = place, Brackets(ends=b",]")
    while True:
        found = brackets.feed(window.data, place - window.base, len(window.data))
        if found is not None:
            return window.base + found if window.base + found > start else None
        if brackets.lost or not window.fill(window.end):
            return None
        place = window.base


def _next_chat(stream: BinaryIO, place: int) -> int | None:
    """Find where the next chat begins, as the exporter writes it, behind one whose brackets are broken."""
    kept = b""
    while True:
        stream.seek(place + len(kept))
        more = stream.read(CHUNK_BYTES)
        found = _CHAT.search(kept + more)
        if found or not more:
            return place + found.start() if found else None
        # A beginning may straddle two reads.
        whole = kept + more
        kept = whole[-_MAX_HEAD_BYTES:]
        place += len(whole) - len(kept)


def _decoded(raw: bytes) -> Object:
    """Decode a message; raises `BadLine` when it is none even once what the exporter is known to break is mended."""
    try:
        return _decoder.decode(raw)
    except BadLine:
        mended = _BARE_WORD.sub(rb'\1"\2"', _ESCAPE.sub(_mend, raw))
        if mended == raw:
            raise
    return _decoder.decode(mended)


def _mend(escape: re.Match[bytes]) -> bytes:
    return rb"\u00" + escape[1] if escape[1] else escape[0]
