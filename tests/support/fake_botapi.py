"""A Telegram Bot API server on loopback, faithful in what delivery depends on.

An offset confirms all below it, what is not confirmed comes again, a negative offset forgets, `limit` and long polls
work, `allowed_updates` is remembered from call to call, a second poller ends the first one's call with 409, a webhook
excludes polling with another 409; answers can be scripted. It notes every request.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Self
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.served import send

TOKEN = "4242:FAKE-token_of_tests"  # noqa: S105 - of no bot
BOT = {"id": 4242, "is_bot": True, "first_name": "Ingest", "username": "ingest_bot"}
OFF_UNLESS_NAMED = {"chat_member", "message_reaction", "message_reaction_count"}
WEBHOOK = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
POLLER = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


class FakeBotApi:
    """One bot's server, in a thread of its own; its own context manager.

    `script` holds answers for the next calls of `getUpdates`, first in first out: `{"status", "text", "parameters"}`,
    `{"raw", "status"}`, or `{"hang": seconds}`. `polls` are the offsets of answered calls with the ids they gave.
    """

    def __init__(self, updates: Iterable[dict[str, Any]] = ()) -> None:
        self.queue = list(updates)
        self.script: list[dict[str, Any]] = []
        self.polls: list[tuple[int, list[int]]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.connections: dict[str, int] = {}
        self.bot: dict[str, Any] = {**BOT, "can_read_all_group_messages": True}
        self.webhook: dict[str, Any] = {"url": ""}
        self.allowed: list[str] | None = None
        self.deaf = False
        """Whether offsets are not heard."""
        self.failing: set[str] = set()
        """Methods that are answered with 500."""
        self.on_poll: Callable[[int], object] = lambda _: None
        """Told the offset of each call before anything is confirmed."""
        self._poller = 0
        self._lock = threading.Lock()  # what arrives while something is confirmed stays
        routes = [Route("/bot{token}/{method}", self._answer, methods=["GET", "POST"])]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, access_log=False, port=0, lifespan="off")
        self._server = uvicorn.Server(config)
        self._server.config.timeout_graceful_shutdown = 1
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

    def add(self, *updates: dict[str, Any]) -> None:
        """Queue updates, as far as the bot has asked for their kinds."""
        for update in updates:
            kind = next(name for name in update if name != "update_id")
            if kind in self.allowed if self.allowed else kind not in OFF_UNLESS_NAMED:
                with self._lock:
                    self.queue.append(update)

    @property
    def pending(self) -> list[int]:
        """What is not confirmed."""
        return [update.get("update_id", 0) for update in self.queue]

    @property
    def offsets(self) -> list[int]:
        """All offsets that were asked for, answered or not."""
        return [int(asked.get("offset", 0)) for method, asked in list(self.requests) if method == "getupdates"]

    def push(self, url: str, secret: str | None = None, most: int = 1000) -> list[int]:
        """Deliver what is pending to a webhook, one after another, until one is refused; gives the answers' status."""
        headers = {} if secret is None else {"X-Telegram-Bot-Api-Secret-Token": secret}
        answers: list[int] = []
        while self.queue and len(answers) < most:
            answers.append(send(url, json.dumps(self.queue[0]).encode(), headers).status)
            if not 200 <= answers[-1] < 300:
                break
            self.queue.pop(0)
        return answers

    async def _answer(self, request: Request) -> Response:
        method = request.path_params["method"].lower()
        asked = {**request.query_params, **dict(parse_qsl((await request.body()).decode()))}
        self.requests.append((method, asked))
        if request.path_params["token"] != TOKEN:
            return refusal(401, "Unauthorized")
        if method in self.failing:
            return refusal(500, "Internal Server Error")
        return await self._updates(asked) if method == "getupdates" else self._asked(method, asked)

    def _asked(self, method: str, asked: dict[str, str]) -> Response:
        match method:
            case "getme":
                return answer(self.bot)
            case "getwebhookinfo":
                return answer(
                    {"has_custom_certificate": False, "pending_update_count": len(self.queue), **self.webhook}
                )
            case "getbusinessconnection":
                owner = self.connections.get(asked["business_connection_id"])
                return answer({"id": "x", "user": {"id": owner}}) if owner else refusal(400, "Bad Request: not found")
        return refusal(404, "Not Found")

    async def _updates(self, asked: dict[str, str]) -> Response:
        offset, limit = int(asked.get("offset", 0)), int(asked.get("limit", 100))
        self.on_poll(offset)
        if self.webhook["url"]:
            return refusal(409, WEBHOOK)
        if self.script:
            return await self._scripted(self.script.pop(0))
        self._poller += 1
        mine, until = self._poller, time.monotonic() + float(asked.get("timeout", 0))
        if "allowed_updates" in asked:
            self.allowed = json.loads(asked["allowed_updates"]) or None
        if not self.deaf:
            with self._lock:
                self._confirm(offset)
        while not self.queue and time.monotonic() < until and not self._server.should_exit:
            await asyncio.sleep(0.005)
            if self._poller != mine:
                return refusal(409, POLLER)
        given = self.queue[:limit]
        self.polls.append((offset, [update.get("update_id", 0) for update in given]))
        return answer(given)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            self.queue = self.queue[offset:]
        elif self.queue and offset > max(self.pending) + 10:
            return  # the server counts anew: an offset in the future confirms nothing
        else:
            self.queue = [update for update in self.queue if update.get("update_id", offset) >= offset]

    async def _scripted(self, step: dict[str, Any]) -> Response:
        if "hang" in step:
            await asyncio.sleep(step["hang"])
            return refusal(502, "Bad Gateway")
        if "raw" in step:
            return Response(step["raw"], step.get("status", 200))
        return refusal(step["status"], step.get("text", "scripted"), step.get("parameters"))


def answer(result: Any) -> Response:
    return JSONResponse({"ok": True, "result": result})


def refusal(code: int, text: str, parameters: dict[str, Any] | None = None) -> Response:
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": text}
    return JSONResponse(body | ({"parameters": parameters} if parameters else {}), code)
