"""A Matrix account as a live source: `/sync` with a `since` that moves only when the log has what was read.

The server forgets messages to the device below a `since`, so what an answer holds is appended with its `next_batch` as
the checkpoint, and only then is that asked for. matrix-nio's `sync` stores its token before anybody has the events, and
is not used; raw answers are read here, and gaps of limited timelines filled before the token moves. Source: sections 0
and 3 of the chat platform notes; cases 23, 25, 27, 29, 31.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.chat.matrix_api import ANSWER_SECONDS, LargeAnswerError, MatrixApi, RefusedError, UnknownTokenError
from adapters.chat.matrix_check import Account, findings
from adapters.chat.matrix_events import RoomEvents
from adapters.chat.matrix_gaps import Gaps
from adapters.chat.matrix_login import Login, with_password, with_token
from adapters.chat.matrix_memory import Memory
from adapters.chat.matrix_people import People
from adapters.chat.matrix_reading import Backfill, Reading
from adapters.chat.matrix_rooms import Join, Rooms
from adapters.chat.matrix_timeline import Timeline
from adapters.chat.matrix_waiting import Waiting
from adapters.contract import Capture, Element, Finding, PermanentSourceError, TransientSourceError, Warned
from adapters.exports.fields import Object, obj

if TYPE_CHECKING:
    from adapters.chat.matrix_secrets import Secrets

LONG_POLL_SECONDS: Final = 30.0
"""How long a call waits for something new; less than what routers forget idle connections after."""

SHORTEST_POLL_SECONDS: Final = 1.0
"""After an answer that brought nothing on the next is not asked for sooner, whatever the server makes of waiting."""

TIMELINES: Final = (50, 10, 1)
"""Events of each room in one answer; fewer where the answer is too large, since the rest is read page by page."""

_TITLES: Final = ("m.room.name", "m.room.canonical_alias", "m.room.member")


@dataclass(slots=True)
class MatrixSource:
    """One account at one homeserver.

    `name` is the source's, `account` what the owner calls the account: it becomes part of keys. `user` is its id.
    `token` gives the access token at each start, so that a new one needs no restart; `password` logs in once instead,
    as a device that is kept in `folder`. Both raise `SourceError`. With `encryption` the device's keys are there too.
    `operators` and `bots` are ids of users whose words are the operator's, or a program's.
    """

    name: str
    account: str
    homeserver: str
    user: str
    token: Callable[[], str] | None = field(default=None, repr=False)
    operators: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()
    backfill: Backfill = "start"
    join: Join = "operators"
    password: Callable[[], str] | None = field(default=None, repr=False)
    folder: Path | None = None
    encryption: bool = False
    wait_seconds: float = LONG_POLL_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    _login: Login | None = field(default=None, init=False, repr=False)
    """What was found out about the token, so that a start after a failure need not ask again."""
    _waiting: Waiting | None = field(default=None, init=False, repr=False)

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Follow the account for ever, from the stored `since`; see `Adapter.captures`. Raises `SourceError`."""
        async with MatrixApi(self.homeserver, "", self.answer_seconds) as api:
            memory = Memory(checkpoints, self.user, self.name)
            self._waiting = memory.waiting
            try:
                async with self._secrets(api, memory) as secrets:
                    async for capture in self._follow(api, memory, secrets):
                        yield capture
            except UnknownTokenError as error:
                self._login = None
                if self.password is None:
                    raise
                raise TransientSourceError(f"{error}; this happens now") from None

    def undecrypted(self) -> int:
        """Give how many encrypted messages wait for their keys."""
        return len(self._waiting) if self._waiting is not None else 0

    async def _follow(self, api: MatrixApi, memory: Memory, secrets: "Secrets | None") -> AsyncIterator[Capture]:
        reading = self._reading(api, memory, secrets)
        waiting: list[Element] = [*memory.warnings]
        wait = 0.0  # what is there already comes at once
        while True:
            begun = time.monotonic()
            answer, warned = await self._answer(api, memory, wait)
            before, nothing = memory.position.since, not obj(answer.get("to_device")).get("events")
            async for capture in reading.captures(answer, [*waiting, *warned]):
                nothing = nothing and not capture.elements
                if capture.elements or capture.checkpoints:
                    yield capture
            yield Capture(())  # an answer has all there is
            if wait and (nothing or memory.position.since == before):
                await asyncio.sleep(begun + SHORTEST_POLL_SECONDS - time.monotonic())
            waiting, wait = [], self.wait_seconds

    @asynccontextmanager
    async def _secrets(self, api: MatrixApi, memory: Memory) -> "AsyncIterator[Secrets | None]":
        """Log in, and open the keys of the device; raises `SourceError`."""
        login = self._login = await self._log_in(api)
        if not self.encryption or self.folder is None:
            yield None
            return
        if not login.device:
            words = "the token belongs to no device, which could have keys: set encryption = false, or use another"
            raise PermanentSourceError(words)
        from adapters.chat.matrix_keys import Keys  # noqa: PLC0415 - an extra: the transport has said who lacks it
        from adapters.chat.matrix_secrets import Secrets  # noqa: PLC0415

        keys = await asyncio.to_thread(Keys.open, self.folder, login.user, login.device)
        try:
            yield Secrets(keys, memory.waiting, api)
        finally:
            keys.close()

    async def _log_in(self, api: MatrixApi) -> Login:
        if self.password is None or self.folder is None:
            token = self.token() if self.token else ""
            if self._login is None or self._login.token != token:
                return await with_token(api, self.user, token)
        elif self._login is None:
            return await with_password(api, self.user, self.password(), self.folder)
        api.token = self._login.token
        return self._login

    def _reading(self, api: MatrixApi, memory: Memory, secrets: "Secrets | None") -> Reading:
        people = People(self.user, self.operators, self.bots)
        rooms = Rooms(api, memory, people, self.user, self.name, self.join)
        events = RoomEvents(people, memory.senders)
        timeline = Timeline(api, events, memory.senders, rooms, self.name, self.account, secrets)
        return Reading(self.name, memory, rooms, timeline, Gaps(api, memory), self.backfill, secrets)

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        account = Account(self.homeserver, self.user, self.token, self.folder, encryption=self.encryption)
        return await findings(account, self.join)

    async def _answer(self, api: MatrixApi, memory: Memory, wait: float) -> tuple[Object, list[Warned]]:
        """Ask for what is new; a `since` that the server does not know any more is given up, and that is told."""
        try:
            return await _sync(api, memory.position.since, wait), []
        except RefusedError as error:
            if memory.position.since is None or error.status != HTTPStatus.BAD_REQUEST:
                raise
            answer = await _sync(api, None, 0.0)
            memory.lost()
            return answer, [Warned(self.name, f"the position is lost, reading begins anew: {error}")]


async def _sync(api: MatrixApi, since: str | None, wait: float) -> Object:
    for most in TIMELINES[:-1]:
        try:
            return await api.sync(since, wait, wanted(most))
        except LargeAnswerError:
            continue  # fewer of each room; if that is too large still, it is told
    return await api.sync(since, wait, wanted(TIMELINES[-1]))


def wanted(most: int) -> Object:
    """Give the filter of a sync: up to `most` events of each room, and of its state what names it."""
    nothing: Object = {"types": []}
    state = {"lazy_load_members": True, "types": list(_TITLES)}
    timeline = {"limit": most, "lazy_load_members": True}
    room = {"account_data": nothing, "ephemeral": nothing, "timeline": timeline, "state": state}
    return {"presence": nothing, "account_data": nothing, "room": room}
