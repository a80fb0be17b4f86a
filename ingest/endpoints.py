"""The daemon's HTTP: `/healthz`, `/readyz` and `/metrics`, on loopback unless told otherwise.

Requests for a foreign host name are refused while the daemon listens on loopback, so that a web page cannot reach it
through a name that resolves to this machine (DNS rebinding). Other parts of the daemon bring further routes; those of
sources prove their senders themselves, and they alone also answer under the names of a proxy or tunnel (`http.names`).
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ingest.health import Health
from ingest.metrics import Metrics
from ingest.settings import HttpSettings

_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_BACKLOG: Final = 64
_GRACE_SECONDS: Final = 2
"""Requests here take milliseconds; a stop does not wait longer for a client that reads slowly."""

_TICK_SECONDS: Final = 1.0
"""The resolution of the `Date` header."""

_log = structlog.get_logger(__name__)


class PortInUseError(Exception):
    """The daemon cannot listen where it should; the message says what to do."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Bind before anything else starts; port 0 takes any free one. Raises `PortInUseError`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(_BACKLOG)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        hint = "set http.port to another one, to 0 for any free one, or http.enabled to false"
        raise PortInUseError(f"cannot listen on {host} port {port}: {error.strerror or error}; {hint}") from None
    return bound


def url_of(bound: socket.socket) -> str:
    """Where a bound socket answers."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def application(
    health: Health,
    metrics: Metrics,
    routes: Sequence[BaseRoute] = (),
    *,
    only_local: bool,
    names: Collection[str] = (),
) -> ASGIApp:
    """The ASGI application; `routes` are what other parts of the daemon answer, under `names` nothing but them."""

    async def healthz(_: Request) -> Response:
        stuck = health.activity.stuck()
        return JSONResponse({"status": "stuck" if stuck else "ok", "reasons": stuck}, 503 if stuck else 200)

    async def readyz(_: Request) -> Response:
        reasons = health.not_ready()
        body = {
            "status": "not ready" if reasons else "ready",
            "reasons": reasons,
            "warnings": health.warnings(),
            "sources": health.describe(),
        }
        return JSONResponse(body, 503 if reasons else 200)

    async def scrape(_: Request) -> Response:
        # Lag gauges read the log: not on the event loop.
        return Response(await asyncio.to_thread(metrics.render), media_type=CONTENT_TYPE_LATEST)

    ours = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", scrape)]
    app = Starlette(routes=[*ours, *routes])
    outside = Starlette(routes=list(routes))
    return ByHostName(app, outside, names, only_local=only_local)


class ByHostName:
    """Chooses what answers by the Host of a request: `outside` for `names`, else `app`, else nothing.

    `only_local` refuses whatever is neither one of `names` nor a name of this machine's loopback.
    """

    def __init__(self, app: ASGIApp, outside: ASGIApp, names: Collection[str], *, only_local: bool) -> None:
        self._app = app
        self._outside = outside
        self._names = frozenset(names)
        self._only_local = only_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 421."""
        hosts = _hosts(scope)
        if hosts & self._names:
            await self._outside(scope, receive, send)
        elif self._only_local and not hosts <= _LOOPBACK_NAMES:
            refusal = PlainTextResponse("this host name is not served here; use 127.0.0.1\n", 421)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _hosts(scope: Scope) -> set[str]:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    return {_without_port(value.decode("latin-1")) for name, value in headers if name == b"host"}


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


def server_of(
    settings: HttpSettings, health: Health, metrics: Metrics, routes: Sequence[BaseRoute]
) -> tuple["HttpServer | None", str | None]:
    """The server that the settings ask for, bound and not started, and its address; raises `PortInUseError`."""
    if not settings.enabled:
        if routes:
            _log.warning("http-disabled", advice="sources that are fed over HTTP get nothing; set http.enabled to true")
        return None, None
    local = is_loopback(settings.host)
    if not local:
        _log.warning("http-not-loopback", host=settings.host, advice="health and metrics are open to the network")
    bound = listen(settings.host, settings.port)
    app = application(health, metrics, routes, only_local=local, names=settings.names)
    return HttpServer(app, bound), url_of(bound)


class _Server(uvicorn.Server):
    """Leaves signals to the daemon, and sleeps while nobody asks: uvicorn's own loop wakes ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._leave = asyncio.Event()

    def leave(self) -> None:
        """Stop answering."""
        self.should_exit = True
        self._leave.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        """Keep the `Date` of answers up to date until told to leave."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._leave.wait(), _TICK_SECONDS)


class HttpServer:
    """Serves one application on a bound socket until stopped."""

    def __init__(self, app: ASGIApp, bound: socket.socket) -> None:
        options: dict[str, Any] = {"log_config": None, "access_log": False, "lifespan": "off", "server_header": False}
        self._server = _Server(uvicorn.Config(app, timeout_graceful_shutdown=_GRACE_SECONDS, **options))
        self._bound = bound
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to answer."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._bound]))

    @property
    def ended(self) -> bool:
        """Whether it has stopped answering, asked to or not."""
        return self._task is not None and self._task.done()

    async def stop(self) -> None:
        """Finish the requests at hand, at most for the grace period."""
        self._server.leave()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        self._bound.close()
