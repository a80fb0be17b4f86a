"""JSON-RPC with signal-cli: calls and their answers, between which envelopes come at any time.

One task reads: whatever is no answer is handed on at once, before anything else is done, since signal-cli has forgotten
it already.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Any, Final

import msgspec

from adapters.chat.signal_wire import Line, Lines
from adapters.contract import TransientSourceError
from adapters.exports.fields import Object, obj, objects, text
from adapters.files.json_line import BadLine, decode_line

CALL_SECONDS: Final = 15.0
"""Longer than any call takes that asks no server of Signal."""

NO_SUCH_METHOD: Final = -32601
BAD_PARAMETERS: Final = -32602

_MAX_WORDS: Final = 200

_encode: Final = msgspec.json.Encoder().encode

Keep = Callable[[Sequence[tuple[Line, object]]], Awaitable[None]]


class RpcError(TransientSourceError):
    """signal-cli refuses a call; `code` is JSON-RPC's or its own."""

    def __init__(self, method: str, error: Object) -> None:
        said = "".join(letter if letter.isprintable() else " " for letter in text(error.get("message")))
        super().__init__(f"signal-cli refuses {method}: {said[:_MAX_WORDS] or 'no reason given'}")
        self.code = error.get("code")


class Rpc:
    """Calls over one connection; `keep` gets lines that are no answers, with what they say (None if that is unclear).

    `heard` is when something last came (monotonic seconds).
    """

    def __init__(self, wire: Lines, keep: Keep) -> None:
        self._wire = wire
        self._keep = keep
        self._ids = count(1)
        self._reading: asyncio.Task[list[Line]] | None = None
        self._awake = asyncio.Event()
        self.heard = time.monotonic()

    async def call(self, method: str, params: Object | None = None) -> Any:
        """Call, and give the result; raises `RpcError` and other `TransientSourceError`."""
        answer = obj(await self._ask(method, self._request(method, params)))
        if "result" not in answer:
            raise RpcError(method, obj(answer.get("error")))
        return answer["result"]

    async def batch(self, method: str, params: Sequence[Object]) -> list[Object]:
        """Call for each of `params` at once, and give the answers in any order; raises `TransientSourceError`."""
        answer = await self._ask(method, [self._request(method, each) for each in params])
        return objects(answer)

    async def receive(self, seconds: float) -> None:
        """Take what comes, once, waiting so long at most, or until somebody wakes it; raises `SourceError`."""
        waking = asyncio.create_task(self._awake.wait())
        try:
            await self._take(await self._lines(seconds, waking))
        finally:
            waking.cancel()

    async def drain(self, quiet: float, longest: float) -> None:
        """Take what is on its way, until nothing came for `quiet` seconds, or for `longest`; raises `SourceError`."""
        ends = time.monotonic() + longest
        while time.monotonic() < ends and (lines := await self._lines(quiet)):
            await self._take(lines)

    def wake(self) -> None:
        """End the wait of `receive`, now and from now on."""
        self._awake.set()

    async def close(self) -> None:
        """Stop reading; what has come until now must have been taken before."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})

    def _request(self, method: str, params: Object | None) -> Object:
        return {
            "jsonrpc": "2.0",
            "method": method,
            "id": f"{next(self._ids)}",
            **({"params": params} if params else {}),
        }

    async def _ask(self, method: str, asked: Object | list[Object]) -> object:
        await self._wire.send(_encode(asked))
        first = asked[0] if isinstance(asked, list) else asked
        ends = time.monotonic() + CALL_SECONDS
        while (left := ends - time.monotonic()) > 0:
            answers = await self._take(await self._lines(left))
            for answer in answers:
                if any(each.get("id") == first["id"] for each in objects(answer)) or _id(answer) == first["id"]:
                    return answer
        raise TransientSourceError(f"signal-cli does not answer: {method} took more than {CALL_SECONDS:.0f} s")

    async def _take(self, lines: Sequence[Line]) -> list[object]:
        """Hand on what is no answer, and give the answers."""
        answers, others = [], []
        for line in lines:
            value = _decoded(line)
            if _is_answer(value):
                answers.append(value)
            else:
                others.append((line, value))
        if others:
            await self._keep(others)
        return answers

    async def _lines(self, seconds: float, waking: "asyncio.Task[bool] | None" = None) -> list[Line]:
        """Give the next lines, or none; a reading that is not done goes on, so that no byte is lost between calls."""
        if self._reading is None:
            self._reading = asyncio.create_task(self._wire.read())
        waited: set[asyncio.Task[Any]] = {self._reading} | ({waking} if waking else set())
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not self._reading.done():
            return []
        read, self._reading = self._reading, None
        self.heard = time.monotonic()
        return read.result()


def _decoded(line: Line) -> object:
    try:
        return decode_line(line.raw) if line.whole else None
    except BadLine:
        return None


def _id(value: object) -> object:
    return obj(value).get("id")


def _is_answer(value: object) -> bool:
    """Whether somebody asked for it: signal-cli's own words have a method."""
    found = objects(value)
    if found:
        return len(found) == len(value) and all(map(_is_answer, found))  # type: ignore[arg-type]  # then it is a list
    return bool({"result", "error"} & obj(value).keys()) and "id" in obj(value) and "method" not in obj(value)
