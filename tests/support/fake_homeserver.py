"""A homeserver on loopback that answers from a script: rooms with histories of their own, and any error one likes.

`/sync` gives, for each `since`, what the test has put there; `/messages` pages through `history` as Synapse does. It
notes every request. What a real homeserver does is tested with one, elsewhere.
"""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from typing import Any, Self
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

TOKEN = "syt_token_of_tests"  # noqa: S105 - of no account
PASSWORD = "password of tests"  # noqa: S105 - of no account
USER = "@ingest:hs.test"
BASE = "/_matrix/client/v3"
VERSIONS = "/_matrix/client/versions"


class FakeHomeserver:
    """One account's server, in a thread of its own; its own context manager.

    `answers` are sync answers by the `since` that they are given for ("" without one); anything else is answered, after
    a while, with nothing new. `script` holds answers for the next calls of a path, first in first out: `{"status",
    "body"}` or `{"raw", "status"}`, with `"headers"`; `{"hang": seconds}`; `{"drip": seconds}`. `history` are the
    events of rooms for `/messages`, whose tokens are `t` and a place in them.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.script: dict[str, list[dict[str, Any]]] = {}
        self.history: dict[str, list[Any]] = {}
        self.events: dict[str, Any] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.tokens: set[str] = set()
        self.logins: list[dict[str, Any]] = []
        self.fixed: dict[str, Any] = {
            "/account/whoami": {"user_id": USER, "device_id": "DEVICE"},
            VERSIONS: {"versions": ["v1.10", "v1.11"]},
            "/keys/query": {"device_keys": {}},
            "/joined_rooms": {"joined_rooms": []},
        }
        """What other paths are answered with."""
        config = uvicorn.Config(
            Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "PUT"])]),
            log_config=None, access_log=False, port=0, lifespan="off",
        )  # fmt: skip
        config.timeout_graceful_shutdown = 1
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    def asked(self, path: str) -> list[dict[str, str]]:
        """The queries of all calls of a path, such as `/sync`."""
        return [query for called, query in list(self.requests) if called == path]

    @property
    def sinces(self) -> list[str]:
        """Every `since` that was asked for, answered or not."""
        return [query.get("since", "") for query in self.asked("/sync")]

    async def _answer(self, request: Request) -> Response:
        # Parted before it is decoded, as ids may hold slashes.
        parts = [unquote(part) for part in request.scope["raw_path"].decode().removeprefix(BASE).split("/")]
        path, query = "/".join(parts), dict(request.query_params)
        self.requests.append((path, query))
        self.tokens.add(request.headers.get("Authorization", ""))
        if self.script.get(path):
            return await self._scripted(self.script[path].pop(0))
        if path == "/login":
            return self._logged_in(json.loads(await request.body()))
        if path != VERSIONS and request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return refusal(401, "M_UNKNOWN_TOKEN", f"no such token: {request.headers.get('Authorization')}")
        if path == "/sync":
            return await self._sync(query)
        return self._other(parts, query)

    def _other(self, parts: list[str], query: dict[str, str]) -> Response:
        found: Any = self.fixed.get("/".join(parts))
        match parts[1:]:
            case ["join", room]:
                found = {"room_id": room}
            case ["rooms", room, "messages"] if room in self.history:
                found = self._page(room, query)
            case ["rooms", _, "event", event]:
                found = self.events.get(event)
        return refusal(404, "M_NOT_FOUND", "not there") if found is None else JSONResponse(found)

    def _logged_in(self, asked: dict[str, Any]) -> Response:
        self.logins.append(asked)
        if asked["password"] != PASSWORD:
            return refusal(403, "M_FORBIDDEN", f"no: {asked['password']}")
        return JSONResponse({"user_id": USER, "device_id": asked["device_id"], "access_token": TOKEN})

    def _page(self, name: str, query: dict[str, str]) -> dict[str, Any]:
        events = self.history[name]
        at, limit = int(query.get("from", "t0")[1:]), int(query["limit"])
        end = min(int(query.get("to", f"t{len(events)}")[1:]), len(events))
        given = events[at : min(at + limit, end)]
        return {"chunk": given, "start": f"t{at}"} | ({"end": f"t{at + len(given)}"} if given else {})

    async def _sync(self, query: dict[str, str]) -> Response:
        since = query.get("since", "")
        until = time.monotonic() + int(query.get("timeout", "0")) / 1000
        while since not in self.answers and time.monotonic() < until and not self._server.should_exit:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return JSONResponse(self.answers.get(since, {"next_batch": since or "s0"}))

    async def _scripted(self, step: dict[str, Any]) -> Response:
        if "drip" in step:
            return StreamingResponse(_drip(step["drip"]))
        if "hang" in step:
            await asyncio.sleep(step["hang"])
            return refusal(502, "M_UNKNOWN", "hung")
        body = step["raw"] if "raw" in step else step["body"]
        raw = body if isinstance(body, str | bytes) else json.dumps(body)
        return Response(raw, step.get("status", 200), step.get("headers"))


async def _drip(seconds: float) -> AsyncIterator[bytes]:
    for _ in range(int(seconds / 0.05)):
        yield b" "
        await asyncio.sleep(0.05)


def refusal(status: int, code: str, words: str) -> Response:
    return JSONResponse({"errcode": code, "error": words}, status)


def answer(next_batch: str, **rooms: Any) -> dict[str, Any]:
    """A sync answer; rooms by kind: `join={"!r": …}`."""
    return {"next_batch": next_batch, "rooms": rooms}


def room(*events: Any, limited: bool = False, prev_batch: str = "t0", state: tuple[Any, ...] = ()) -> dict[str, Any]:
    """A room's part of a sync answer."""
    timeline = {"events": list(events), "limited": limited, "prev_batch": prev_batch}
    return {"timeline": timeline, "state": {"events": list(state)}}
