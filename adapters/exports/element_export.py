"""Room exports of Element (JSON): a header of names, and the room's events as its client sees them.

Source: section 6 of the chat platform notes; case 57; issues 20255 and 20881 of element-web.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from adapters.chat.matrix_events import PROVIDER, RoomEvents
from adapters.chat.matrix_memory import Senders
from adapters.chat.matrix_people import People
from adapters.contract import MAX_SAMPLE_BYTES, Element, FileHead, Heard, ReadOptions, Rejected, Skipped
from adapters.exports.documents import unread
from adapters.exports.fields import Object, identifier, word
from adapters.exports.json_members import beginning, place_of, small_member
from adapters.files.json_line import BadLine, LineDecoder
from adapters.files.json_stream import Slice, array_elements
from adapters.files.json_values import Window
from schemas.captured import Thread

MAX_ROOMS: Final = 1000
"""Rooms of one export that are told apart by an object of their own; it holds one, two after an upgrade."""

_decoder: Final = LineDecoder[Object](dict[str, Any])


class ElementExportReader:
    """Reads a room that Element exported as JSON."""

    name = "Element export"
    provider = PROVIDER

    def recognises(self, head: FileHead) -> bool:
        """Whether the file is an object with Element's header and a list of messages."""
        stream = beginning(head.start)
        return all(place_of(stream, name) is not None for name in ("room_name", "exported_by", "messages"))

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        """Yield every event in the order of the file, holding one at a time."""
        place = place_of(stream, "messages")
        if place is None or Window(stream, place).skip(place)[1] != b"[":
            yield Rejected(str(path), "no-list", "a list of messages was expected")
            return
        room = _Room(word(small_member(stream, "room_name")), options)
        for piece in array_elements(stream, place):
            if not isinstance(piece, Slice):
                yield unread(piece, path)
                continue
            where = f"{path}: byte {piece.start}"
            sample = piece.raw[:MAX_SAMPLE_BYTES]
            try:
                yield from room.elements(_decoder.decode(piece.raw))
            except BadLine as error:
                yield Rejected(where, error.reason, str(error), sample, len(piece.raw))
            except KeyError:
                yield Rejected(where, "no-id", "an event without an id", sample, len(piece.raw))


class _Room:
    """The rooms of one export; their ids stand in the events only."""

    def __init__(self, title: str | None, options: ReadOptions) -> None:
        self._title = title
        self._account = options.account
        self._events = RoomEvents(People(operators=[options.own_name or ""]), Senders(), bundled=True)
        self._threads: dict[str, Thread] = {}
        self._last: str | None = None

    def elements(self, event: Object) -> Iterator[Element]:
        room = identifier(event.get("room_id")) or self._last or self._title or "unknown room"
        self._last = room
        for found in self._events.events(event):
            yield found if isinstance(found, Skipped) else Heard(self._thread(room), found)

    def _thread(self, room: str) -> Thread:
        thread = self._threads.get(room)
        if thread is None:
            thread = Thread(
                provider=PROVIDER, thread_id=room, account=self._account, channel_id=room, title=self._title
            )
            if len(self._threads) < MAX_ROOMS:
                self._threads[room] = thread
        return thread
