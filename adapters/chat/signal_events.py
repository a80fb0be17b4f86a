"""signal-cli's Server-Sent Events become the lines that its sockets give, however the bytes are cut.

An event is `event:receive` with one line of data: what a subscription wraps as `result`. Newer daemons number events
(`id:`), and give those behind `Last-Event-ID` again. Lines that begin with a colon keep the connection alive. Source:
signal-cli-jsonrpc(5); signal-cli's `ServerSentEventSender`; "Interpreting an event stream" in WHATWG's HTML.
"""

from typing import Final

import msgspec

from adapters.chat.signal_wire import MAX_LINE_BYTES, Line, Splitter
from adapters.contract import MAX_SAMPLE_BYTES

MAX_ID_BYTES: Final = 256
"""An event's number is a time and a count; what is longer than this is no number and not remembered."""

_MEMBERS: Final = frozenset({b"event", b"data", b"id"})

_encode: Final = msgspec.json.Encoder().encode


class EventParser:
    """Makes notifications of a stream's bytes; holds one event at most.

    `last` is the number of the last one, `numbered` whether one had a number here.
    """

    def __init__(self, last: str = "", *, numbered: bool = False) -> None:
        self.last, self.numbered = last, numbered
        self._splitter = Splitter(blank=True)
        self._kind = b""
        self._data: list[bytes] = []
        self._size = 0
        self._id: bytes | None = None

    @property
    def size(self) -> int:
        """Bytes of the event that has begun."""
        return self._size + self._splitter.size

    def feed(self, chunk: bytes) -> list[Line]:
        """Take bytes as they come, and give the notifications whose events end in them."""
        found = []
        for line in self._splitter.feed(chunk):
            raw = line.raw.removesuffix(b"\r")
            if raw:
                self._member(raw, line.size - len(line.raw))
            elif self._data:
                found.append(self._notification())
            else:
                self._kind = b""  # an event without data is none
        return found

    def _member(self, raw: bytes, missing: int) -> None:
        """Take one line of an event, `missing` bytes of which are not here."""
        name, _, value = raw.partition(b":")
        value = value.removeprefix(b" ")
        if name not in _MEMBERS:  # a comment, or what this version does not know
            return
        if name == b"event":
            self._kind = value
        elif name == b"id" and len(value) <= MAX_ID_BYTES and not missing:
            self._id = value
        elif name == b"data":
            self._size += len(value) + missing + 1
            self._data.append(value if self._size <= MAX_LINE_BYTES else value[:MAX_SAMPLE_BYTES])
            if self._size > MAX_LINE_BYTES:
                self._data = [b"\n".join(self._data)[:MAX_SAMPLE_BYTES]]

    def _notification(self) -> Line:
        """Give the event as the line that a subscription would have given, and forget it."""
        data, size = b"\n".join(self._data), self._size - 1
        if self._id is not None:
            self.last, self.numbered = self._id.decode("utf-8", "replace"), True
        method = _encode(self._kind.decode("utf-8", "replace") or "message")
        head = b'{"jsonrpc":"2.0","method":%b,"params":{"subscription":0,"event":%b,"result":' % (
            method,
            _encode(self.last),
        )
        raw = head + data + b"}}" if len(data) == size else head + data
        self._kind, self._data, self._size, self._id = b"", [], 0, None
        return Line(raw.replace(b"\n", b" "), len(head) + size + 2)
