"""A signal-cli daemon without Signal, over HTTP, by the rules of the real one's `HttpServerHandler`.

Calls are POSTs, without `subscribeReceive`; an account receives as long as somebody reads its events. The daemon writes
one event after the other and waits for each to go; it notices a reader that went away when a write fails. `numbered` is
a daemon after 0.14.6, which keeps its last events and gives those behind `Last-Event-ID`, all when it knows no such
number; one before it sends not even headers until there is something to say. Both were read; 0.13.19 was measured.
"""

import json
import socket
import threading
from collections import deque
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.fake_signal import Connection, FakeSignal, Refused

MAX_EVENTS = 1000
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 415: "Unsupported Media Type"}


class FakeSignalHttp(FakeSignal):
    """The daemon; `keep_alive` is how often it says something to each reader, in seconds (15 for the real one)."""

    def __init__(self, *, numbered: bool = False, single: bool = False, keep_alive: float = 0.05) -> None:
        super().__init__(single=single)
        self.numbered, self.keep_alive = numbered, keep_alive
        self.version = "0.14.7" if numbered else "0.13.19"
        self.address = f"http://{self.address}"
        self.kept: deque[tuple[str, bytes]] = deque(maxlen=MAX_EVENTS)
        self.asked_from: list[str | None] = []
        self.start = "1700000000000-"

    @property
    def readers(self) -> int:
        """How many streams of events there are, as far as the daemon knows."""
        return sum(isinstance(each, HttpConnection) and each.streams for each in self.connections)

    def connect(self, peer: socket.socket) -> Connection:
        """See `FakeSignal`."""
        return HttpConnection(self, peer)


class HttpConnection(Connection):
    """One request; a reader of events has a subscription while the daemon is free to write to it."""

    daemon: FakeSignalHttp

    def __init__(self, daemon: FakeSignalHttp, peer: socket.socket) -> None:
        super().__init__(daemon, peer)
        self.streams = False
        self._begun = False
        self._outbox: deque[bytes] = deque()
        self._filled = threading.Event()

    def run(self) -> None:
        with suppress(OSError, ValueError), self.peer.makefile("rb") as stream:
            method, target, _ = stream.readline().decode().split()
            headers = {}
            while line := stream.readline().decode().strip():
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            body = stream.read(int(headers.get("content-length", 0)))
            url = urlsplit(target)
            if url.path == "/api/v1/rpc":
                self._rpc(method, headers, body)
            elif url.path == "/api/v1/events":
                self._events(method, headers, parse_qs(url.query))
            else:
                self._respond(404)
        self.close()

    def say(self, value: Any) -> None:
        """Write a notification; nothing more is handed out to this reader until it went."""
        data = json.dumps(value["params"]["result"]).encode()
        number = f"{self.daemon.start}{next(self.daemon.numbers)}"
        event = b"event:receive\ndata:" + data + b"\n\n"
        if self.daemon.numbered:
            event = b"id:" + number.encode() + b"\n" + event
            self.daemon.kept.append((number, event))
        self._put(event)

    def send(self, data: bytes) -> None:
        """Write bytes of the stream as they are."""
        if not self.daemon.mute and self.streams:
            if not self._begun:
                self._begun = True
                head = b"HTTP/1.1 200 OK\r\nTransfer-encoding: chunked\r\nContent-type: text/event-stream\r\n\r\n"
                self.peer.sendall(head)
            if data:
                self.peer.sendall(b"%x\r\n%b\r\n" % (len(data), data))

    def _do(self, method: str, params: dict[str, Any]) -> Any:
        if method.endswith("subscribeReceive"):
            return Refused(-32601, "Method not implemented")
        return super()._do(method, params)

    def _rpc(self, method: str, headers: dict[str, str], body: bytes) -> None:
        if method != "POST":
            self._respond(405)
        elif not headers.get("content-type", "").startswith("application/json"):
            self._respond(415)
        else:
            with self.daemon.lock:
                answer = self.answered(body)
            if not self.daemon.mute:
                self._respond(200, json.dumps(answer).encode())

    def _respond(self, status: int, body: bytes = b"") -> None:
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-length: {len(body)}\r\n\r\n"
        self.peer.sendall(head.encode() + body)

    def _events(self, method: str, headers: dict[str, str], query: dict[str, list[str]]) -> None:
        account = query.get("account", [None])[0]
        if method != "GET":
            self._respond(405)
        elif not self.daemon.single and account not in (None, *self.daemon.accounts):
            self._respond(400)
        else:
            with self.daemon.lock:
                self.daemon.asked_from.append(headers.get("last-event-id"))
                self._join(headers.get("last-event-id"))
            self._write()

    def _join(self, last: str | None) -> None:
        self.streams = True
        if self.daemon.numbered:
            self.send(b"")
            numbers = [number for number, _ in self.daemon.kept]
            missed = numbers.index(last) + 1 if last in numbers else 0
            for _, event in list(self.daemon.kept)[missed if last else len(numbers) :]:
                self._put(event)
        if not self._outbox:
            self._free()

    def _put(self, event: bytes) -> None:
        self.subscriptions.clear()
        self._outbox.append(event)
        self._filled.set()

    def _free(self) -> None:
        self.subscriptions[0] = False
        self.daemon.flow()

    def _write(self) -> None:
        """Write what there is, and something every now and then, until that fails."""
        while self.streams:
            self._filled.wait(self.daemon.keep_alive)
            with self.daemon.lock:
                self._filled.clear()
                event = self._outbox.popleft() if self._outbox else b""
            self.send(event or b":\n")
            with self.daemon.lock:
                if self._outbox:
                    self._filled.set()
                elif event:
                    self._free()
