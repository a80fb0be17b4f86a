"""The rooms of a Matrix account: their titles, and which of those that call for it are joined.

Invitations are followed as the settings say, and a room that was upgraded into its replacement, since nobody invites a
member of the old one (measured). A join that fails is told and tried again now and then; it never holds up reading.
Source: sections 3.2 and 3.4 of the chat platform notes.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from adapters.chat.matrix_api import MatrixApi, RefusedError
from adapters.chat.matrix_memory import Memory
from adapters.chat.matrix_people import People
from adapters.chat.words import one_line
from adapters.contract import PermanentSourceError, TransientSourceError, Warned
from adapters.exports.fields import Object, array, obj, objects, text, word

Join = Literal["operators", "never", "anyone"]

JOIN_SECONDS: Final = 20.0
"""How long the reading of an answer waits for joins; one that takes longer is mostly joined all the same."""

JOIN_PAUSE_SECONDS: Final = 300.0
JOIN_TRIES: Final = 12
"""A join is tried for an hour: a server that is away is often back by then."""

MAX_TITLE: Final = 255
"""A room's name has at most as many bytes by convention; state may hold 64 KB."""

_HEROES: Final = 5
"""How many members name a room without a name, as the specification has it."""


@dataclass(slots=True)
class Rooms:
    """The rooms of the account `own`; `policy` says whose invitations are followed, `source` is named in warnings."""

    api: MatrixApi
    memory: Memory
    people: People
    own: str
    source: str
    policy: Join = "operators"
    clock: Callable[[], float] = time.monotonic
    _next: float = field(default=0.0, init=False)
    _until: float = field(default=0.0, init=False)

    def begin(self) -> None:
        """Begin with an answer, which may wait for joins anew."""
        self._until = self.clock() + JOIN_SECONDS

    def title(self, room: str) -> str | None:
        """Give what a room is called, as far as that is known."""
        found = self.memory.rooms.get(room)
        return found if isinstance(found, str) and found else None

    def learn(self, room: str, body: Object) -> None:
        """Note that a room is read, and what it is called, from its part of a sync answer."""
        before = self.memory.rooms.get(room)
        states = [*_states(body.get("state")), *_states(body.get("timeline"))]
        name = _named(states)
        if name is None and not before:
            name = _heroes(states, obj(body.get("summary")), self.own)
        self.memory.rooms.put(room, (before or "") if name is None else name)

    def left(self, room: str) -> list[Warned]:
        """Forget a room that the account is no longer in: whoever comes back reads what was missed."""
        known = self.memory.rooms.get(room) is not None
        self.memory.rooms.remove(room)
        return [self._warned(room, "the account is no longer in this room")] if known else []

    async def invited(self, room: str, body: Object) -> list[Warned]:
        """Follow an invitation, or say that it is not followed; raises `PermanentSourceError`."""
        states = _states(body.get("invite_state"))
        own = (s for s in states if s.get("type") == "m.room.member" and s.get("state_key") == self.own)
        by = next((text(state.get("sender")) for state in own), "")
        if self.policy == "anyone" or (self.policy == "operators" and self.people.is_operator(by)):
            return await self.join(room, by)
        words = f"an invitation by {one_line(by) or 'somebody'} is not followed: see the setting join"
        return [self._warned(room, words)]

    async def replaced(self, event: Object) -> list[Warned]:
        """Follow a room into the one that has replaced it, when an event says so; raises `PermanentSourceError`."""
        content = obj(event.get("content"))
        room = word(content.get("replacement_room"))
        if event.get("type") != "m.room.tombstone" or event.get("state_key") != "" or room is None:
            return []
        if self.policy == "never" or self.memory.rooms.get(room) is not None:
            return []
        return await self.join(room, text(event.get("sender")))

    async def join(self, room: str, by: str) -> list[Warned]:
        """Join a room by way of the server of the user who named it; raises `PermanentSourceError`."""
        server = by.partition(":")[2]
        tries = int(self.memory.joins.get(_waiting(room, server)) or 0)
        left = self._until - self.clock()
        if left <= 0:
            self.memory.joins.put(_waiting(room, server), tries)
            return []
        try:
            await self.api.join(room, server or None, left)
        except RefusedError as error:
            self.memory.joins.remove(_waiting(room, server))
            return [self._warned(room, f"it cannot be joined: {error}")]
        except PermanentSourceError:
            raise
        except TransientSourceError as error:
            return self._later(room, server, tries + 1, error)
        self.memory.joins.remove(_waiting(room, server))
        return []

    async def join_waiting(self) -> list[Warned]:
        """Try again what could not be joined before, now and then; raises `PermanentSourceError`."""
        if self.clock() < self._next:
            return []
        self._next = self.clock() + JOIN_PAUSE_SECONDS
        warned: list[Warned] = []
        for waiting in self.memory.joins.keys():  # noqa: SIM118 - no dict
            room, _, server = waiting.partition(" ")
            warned += await self.join(room, f":{server}")
        return warned

    def _later(self, room: str, server: str, tries: int, error: Exception) -> list[Warned]:
        if tries >= JOIN_TRIES:
            self.memory.joins.remove(_waiting(room, server))
            return [self._warned(room, f"it could not be joined {tries} times and is given up: {error}")]
        self.memory.joins.put(_waiting(room, server), tries)
        return [self._warned(room, f"it could not be joined yet: {error}")] if tries == 1 else []

    def _warned(self, room: str, words: str) -> Warned:
        return Warned(f"{self.source}: room {one_line(room)}", words)


def _waiting(room: str, server: str) -> str:
    return f"{room} {server}"


def _states(part: object) -> list[Object]:
    return [event for event in objects(obj(part).get("events")) if "state_key" in event]


def _named(states: list[Object]) -> str | None:
    """Give the last name, else the last alias that the states set; "" when they take a name away."""
    found: dict[str, str] = {}
    for event in states:
        content = obj(event.get("content"))
        if event.get("type") == "m.room.name":
            found["name"] = one_line(text(content.get("name")), MAX_TITLE)
        elif event.get("type") == "m.room.canonical_alias" and (alias := word(content.get("alias"))):
            found["alias"] = one_line(alias, MAX_TITLE)
    return found.get("name") or found.get("alias") or found.get("name")


def _heroes(states: list[Object], summary: Object, own: str) -> str | None:
    """Name a room after its members: those that the server names, by their names where it tells them."""
    names = {
        text(event.get("state_key")): word(obj(event.get("content")).get("displayname"))
        for event in states
        if event.get("type") == "m.room.member"
    }
    heroes = (hero for hero in array(summary.get("m.heroes")) if isinstance(hero, str) and hero != own)
    return one_line(", ".join(_first(names.get(hero) or hero for hero in heroes)), MAX_TITLE) or None


def _first(names: Iterator[str]) -> Iterator[str]:
    yield from (name for _, name in zip(range(_HEROES), names, strict=False))
