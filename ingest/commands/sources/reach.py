"""Whether senders would reach a source that is fed over HTTP."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from starlette.routing import Route

from adapters.contract import Adapter, Finding
from ingest.endpoints import is_loopback
from ingest.settings import Settings
from ingest.sources import routes_of
from ingest.status import running

_ANSWER_SECONDS: Final = 2.0


def reach_findings(settings: Settings, adapter: Adapter) -> list[Finding]:
    """Ask the running daemon for the source's routes, and say from where they can be reached; none for others."""
    paths = [route.path for route in routes_of([adapter]) if isinstance(route, Route)]
    if not paths:
        return []
    if not settings.http.enabled:
        return [Finding("problem", "the HTTP server is switched off: nothing can arrive", "set http.enabled = true")]
    return [*(_asked(settings, path) for path in paths), *_from_where(settings)]


def _asked(settings: Settings, path: str) -> Finding:
    by = running(settings)
    if by is None or by.url is None:
        return Finding("warning", f"no daemon runs, so that nothing answers at {path}", "start session-ingest run")
    url = by.url + path
    # A GET proves that the route is there whatever its method: a foreign path alone is answered with 404.
    status = _status(url)
    if status is None:
        return Finding("problem", f"{url} does not answer", "see the daemon's log")
    if status == HTTPStatus.NOT_FOUND:
        return Finding("problem", f"the running daemon does not know {path}", "restart it: it has other settings")
    return Finding("ok", f"the running daemon answers at {url}")


def _status(url: str) -> int | None:
    opener = build_opener(ProxyHandler({}))  # the address is on this machine
    try:
        with opener.open(url, timeout=_ANSWER_SECONDS) as answer:
            status: int = answer.status
            return status
    except HTTPError as refusal:
        with refusal:
            return refusal.code
    except OSError:
        return None


def _from_where(settings: Settings) -> Iterator[Finding]:
    http = settings.http
    if http.names:
        yield Finding("ok", f"a proxy or tunnel may pass requests on under {', '.join(http.names)}")
    elif is_loopback(http.host):
        advice = "for senders elsewhere put a proxy or tunnel with TLS before it, and name it in http.names"
        yield Finding("ok", "senders on this machine reach it, others do not", advice)
    if not is_loopback(http.host):
        advice = "put a proxy with TLS before it, and let http.host be 127.0.0.1"
        yield Finding("warning", f"it listens on {http.host} without TLS: secrets can be read on the way", advice)
