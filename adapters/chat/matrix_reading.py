"""Makes captures of sync answers: rooms one after another, gaps before what follows them, the `since` last of all.

An answer is asked for again, by its old `since`, until its last capture is in the log; what was read of it before is
then given again, with equal ids. Source: section 3.2 of the chat platform notes; cases 23 and 29.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from adapters.chat.matrix_api import RefusedError
from adapters.chat.matrix_gaps import PAGE, Gaps
from adapters.chat.matrix_memory import Memory
from adapters.chat.matrix_rooms import Rooms
from adapters.chat.matrix_timeline import Timeline
from adapters.chat.words import one_line
from adapters.contract import (
    MAX_SAMPLE_BYTES,
    Capture,
    Element,
    Rejected,
    Skipped,
    TransientSourceError,
    Warned,
)
from adapters.exports.fields import MAX_ID_CHARS, Object, obj, text, word
from adapters.files.json_line import compact_json

if TYPE_CHECKING:
    from adapters.chat.matrix_secrets import Secrets

Backfill = Literal["start", "now"]

MAX_ELEMENTS: Final = 500
"""Elements of one capture before the next is begun: many rooms of an answer are not held as one."""

_COUNTED: Final = re.compile(r"s?([0-9]{1,18})")
"""How Synapse's tokens begin: with the number of the last event. Of other servers' nothing is known."""


@dataclass(slots=True)
class Reading:
    """What makes captures of the answers to one account."""

    source: str
    memory: Memory
    rooms: Rooms
    timeline: Timeline
    gaps: Gaps
    backfill: Backfill = "start"
    secrets: "Secrets | None" = None
    _pending: list[Element] = field(default_factory=list, init=False)
    _paged: list[str] = field(default_factory=list, init=False)
    """The last events of the gap that was read."""

    async def captures(self, answer: Object, before: list[Element]) -> AsyncIterator[Capture]:
        """Give the elements `before` and those of an answer to the remembered `since`, and at last the new `since`.

        Raises `SourceError`.
        """
        since = word(answer.get("next_batch"))
        if since is None:
            raise TransientSourceError("the answer to /sync has no next_batch: is this a homeserver at all?")
        self.rooms.begin()
        self._pending = [*before, *_backwards(self.source, self.memory.position.since, since)]
        if self.secrets is not None:
            async for capture in self._opened(self.secrets, answer):
                yield capture
        rooms = self._object(answer, "rooms", "the answer")
        for kind in ("invite", "join", "leave"):
            for room, body in self._object(rooms, kind, "the answer").items():
                async for capture in self._room(kind, room, body):
                    yield capture
        self._pending += await self.rooms.join_waiting()
        yield Capture(self._taken(), self.memory.moved(since))

    async def _opened(self, secrets: "Secrets", answer: Object) -> AsyncIterator[Capture]:
        """Take the keys of an answer first, and give what they open of what was read before."""
        self._pending += await secrets.take(answer)
        async for room, event in secrets.late():
            self._pending += await self.timeline.elements(room, [event])
            if len(self._pending) >= MAX_ELEMENTS:
                yield Capture(self._taken(), self.memory.changed())

    async def _room(self, kind: str, room: str, body: Any) -> AsyncIterator[Capture]:
        if not isinstance(body, dict) or not room.strip() or len(room) > MAX_ID_CHARS:
            self._reject(f"room {one_line(room) or 'without an id'}", "an object under a room's id was expected", body)
        elif kind == "invite":
            self._pending += await self.rooms.invited(room, body)
        else:
            async for capture in self._events(room, body, present=kind == "join"):
                yield capture
        if len(self._pending) >= MAX_ELEMENTS:
            yield Capture(self._taken(), self.memory.changed())

    async def _events(self, room: str, body: Object, *, present: bool) -> AsyncIterator[Capture]:
        """Give the captures of a room's gap; its timeline stays pending."""
        timeline = self._object(body, "timeline", f"room {one_line(room)}")
        known = self.memory.rooms.get(room) is not None
        if present:
            self.rooms.learn(room, body)
        events = timeline.get("events", [])
        if not isinstance(events, list):
            self._reject(f"room {one_line(room)}", "a list of events was expected", events)
            events = []
        if self.memory.position.since is None and self.backfill == "now" and not self.memory.restarted:
            if events:
                self._pending.append(Skipped("hidden", "from before the start", len(events)))
            return
        end, self._paged = word(timeline.get("prev_batch")), []
        whole = self.backfill == "start" and present and (not known or self.memory.position.since is None)
        start = None if whole else self.memory.position.since
        limited = timeline.get("limited") is True
        if end and (whole or (limited and start)):
            async for capture in self._gap(room, start, end, present=present):
                yield capture
        elif limited:
            words = "what was said there before is left out, and the homeserver does not say where it begins"
            self._pending.append(Warned(f"{self.source}: room {one_line(room)}", words))
        fresh = [event for event in events if _name(event) not in self._paged]
        if len(fresh) < len(events):
            self._pending.append(Skipped("duplicate", "shown in the gap and after it", len(events) - len(fresh)))
        self._pending += await self.timeline.elements(room, fresh, present=present)
        if not present:
            self._pending += self.rooms.left(room)

    async def _gap(self, room: str, start: str | None, end: str, *, present: bool) -> AsyncIterator[Capture]:
        try:
            async for events, read_to in self.gaps.pages(room, start, end):
                # Synapse may count what it shows to the gap too (measured); more than a page it shows never.
                self._paged = [*self._paged, *map(_name, events)][-2 * PAGE :]
                self._pending += await self.timeline.elements(room, events, present=present)
                yield Capture(self._taken(), self.memory.paged(room, read_to or end))
        except RefusedError as error:
            where = f"{self.source}: room {one_line(room)}"
            self._pending.append(Warned(where, f"what was said there since the last reading is not for us: {error}"))

    def _object(self, holder: Object, name: str, where: str) -> Object:
        """Give a member that is an object; one that is not there is an empty one, and any other is rejected."""
        found = holder.get(name, {})
        if not isinstance(found, dict):
            self._reject(where, f"{name}: an object was expected", found)
        return obj(found)

    def _reject(self, where: str, detail: str, found: object) -> None:
        raw = compact_json(found).encode("utf-8", "replace")
        where = f"{self.source}: {where}"
        self._pending.append(Rejected(where, "not-a-room", detail, raw[:MAX_SAMPLE_BYTES], len(raw)))

    def _taken(self) -> list[Element]:
        taken, self._pending = self._pending, []
        return taken


def _name(event: Any) -> str:
    return text(obj(event).get("event_id"))


def _backwards(source: str, before: str | None, now: str) -> list[Warned]:
    """Say that the server's position runs backwards: it was restored from a copy, or is another one."""
    numbers = [int(found[1]) for token in (before or "", now) if (found := _COUNTED.match(token))]
    if before is None or len(numbers) != 2 or numbers[1] >= numbers[0]:  # noqa: PLR2004 - before and now
        return []
    words = f"the homeserver counts from {numbers[1]} on, but was read up to {numbers[0]}: was it restored from a copy?"
    return [Warned(source, words)]
