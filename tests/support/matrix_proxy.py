"""What stands between a Matrix source and its homeserver: it notes every call, and fails some as a test says."""

import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

SYNC: Final = "/sync"

UPSTREAM_SECONDS: Final = 120.0
"""More than any long poll takes."""


@dataclass(frozen=True)
class Fault:
    """How one call is failed: `status` and `body` are answered, or the connection is cut where there is no status.

    `path` is a part of the call's path. With `after` the server has done what it was asked, and only the answer is
    lost.
    """

    path: str
    status: int = 0
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False


class Proxy:
    """Passes calls on to a homeserver, in threads of its own; its own context manager.

    `faults` are for the next calls of their paths, first in first out. `on_sync` is told the `since` of each sync, None
    without one, before the server hears of it.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.calls: list[tuple[str, str]] = []
        self.sinces: list[str | None] = []
        self.faults: list[Fault] = []
        self.on_sync: Callable[[str | None], object] = lambda _: None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def asked(self, path: str) -> int:
        """How many calls had `path` as a part of theirs."""
        return sum(path in called for _, called in list(self.calls))

    def note(self, method: str, target: str) -> Fault | None:
        """Note a call before it is passed on; gives how to fail it."""
        parts = urlsplit(target)
        with self._lock:
            self.calls.append((method, parts.path))
            if parts.path.endswith(SYNC):
                since = parse_qs(parts.query).get("since", [None])[0]
                self.sinces.append(since)
                self.on_sync(since)
            fault = next((each for each in self.faults if each.path in parts.path), None)
            if fault is not None:
                self.faults.remove(fault)
        return fault


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"

    def _pass(self) -> None:
        with suppress(ConnectionError):  # who asked is gone, or was killed
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            fault = self.proxy.note(self.command, self.path)
            if fault is None or fault.after:
                answered = self._answer(body)
            if fault is None:
                self._reply(*answered)
            elif fault.status:
                self._reply(fault.status, fault.body, fault.headers)
            else:
                self.close_connection = True

    do_GET = do_POST = do_PUT = _pass  # noqa: N815 - as the standard library names them

    def _answer(self, body: bytes) -> tuple[int, bytes, Mapping[str, str]]:
        host = urlsplit(self.proxy.upstream).netloc
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        try:
            with closing(HTTPConnection(host, timeout=UPSTREAM_SECONDS)) as connection:
                connection.request(self.command, self.path, body or None, headers)
                answer = connection.getresponse()
                return answer.status, answer.read(), {"Content-Type": answer.headers.get("Content-Type", "")}
        except (OSError, HTTPException) as error:
            return 502, str(error).encode(), {}

    def _reply(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the calls are noted."""
