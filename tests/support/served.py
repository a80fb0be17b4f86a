"""Sources that are fed over HTTP, on a real server with a log in memory, and a client that sends whatever it likes."""

import asyncio
import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Self
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from adapters.contract import Adapter
from ingest.capture import Capturing, Pauses
from ingest.endpoints import HttpServer, application, listen, url_of
from ingest.health import Health
from ingest.metrics import Metrics
from ingest.sources import routes_of
from tests.support.sources import MemoryLog, until


@dataclass(frozen=True)
class Answer:
    """What a server said; headers are asked for in any case."""

    status: int
    headers: Mapping[str, str]
    body: Any


def send(url: str, body: bytes | None, headers: Mapping[str, str], method: str = "POST") -> Answer:
    """One request, waiting for its answer."""
    request = Request(url, data=body, headers=dict(headers), method=method)  # noqa: S310 - always our own http:// address
    try:
        with urlopen(request, timeout=20) as answer:  # noqa: S310
            return Answer(answer.status, answer.headers, _decoded(answer.read()))
    except HTTPError as error:
        with error:
            return Answer(error.code, error.headers, _decoded(error.read()))


def free_port() -> int:
    """A port of this machine that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode()


@dataclass
class Served:
    """Adapters, followed and reachable, inside one event loop."""

    adapters: Sequence[Adapter]
    log: MemoryLog = field(default_factory=MemoryLog)
    health: Health = field(default_factory=lambda: Health(log_open=True))
    metrics: Metrics = field(default_factory=Metrics)
    names: Sequence[str] = ()

    async def __aenter__(self) -> Self:
        bound = listen("127.0.0.1", 0)
        self.url = url_of(bound)
        app = application(self.health, self.metrics, routes_of(self.adapters), only_local=True, names=self.names)
        self.server = HttpServer(app, bound)
        self.capturing = Capturing(
            self.log, self.adapters, self.health, self.metrics, pauses=Pauses(first=0.01, longest=0.05)
        )
        self.server.start()
        self.capturing.start()
        await until(lambda: all(source.swept for source in self.health.sources.values()))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.capturing.stop()
        await self.server.stop()

    async def send(
        self, path: str, body: bytes | None, headers: Mapping[str, str] | None = None, method: str = "POST"
    ) -> Answer:
        """One request from another thread, as a sender elsewhere would make it."""
        return await asyncio.to_thread(send, self.url + path, body, headers or {}, method)


def answers(url: str) -> bool:
    """Whether a daemon answers anything at all."""
    try:
        return send(url, None, {}, "GET").status > 0
    except (OSError, HTTPException):
        return False
