"""What a Matrix source remembers between runs: its `since`, how far gaps are filled, rooms, and what waits.

Each is a part of the source's checkpoints, written in the transaction of the capture that changed it. A gap has a part
of its own for each room, since one changes with every page.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from adapters.chat.matrix_waiting import WAITING, Waiting
from adapters.chat.recent import VERSION, Parts, Recent, changed_parts, encode, load_all

MAX_ROOMS: Final = 5000
"""Rooms and their titles remembered, 500 KB; the history of a forgotten one is read again, with equal ids."""

MAX_JOINS: Final = 100
"""Rooms that wait to be joined after a join has failed; a person has a handful."""

MAX_SENDERS: Final = 20_000
"""Latest messages whose senders are remembered, 5 MB; the server knows the others."""

POSITION: Final = "position"
ROOMS: Final = "rooms"
JOINS: Final = "joins"
GAP: Final = "gap:"
"""Begins the name of a gap's part; the room's id follows."""


class Position(Struct, frozen=True):
    """The `since` to ask for next, of which user; None before the first answer."""

    user: str
    since: str | None
    version: int = VERSION


class Gap(Struct, frozen=True):
    """From which token on a room's events are not yet read; of the answer to which `since`."""

    since: str | None
    start: str
    version: int = VERSION


class Memory:
    """All that is remembered, from the checkpoints of a source named `source`; `warnings` say what was no use.

    `rooms` are the rooms that were read, with their titles ("" for none), `joins` the rooms still to be joined with
    how often that was tried, `waiting` the events whose keys are still to come.
    """

    def __init__(self, checkpoints: Mapping[str, bytes], user: str, source: str) -> None:
        parts = Parts(checkpoints, source)
        self.warnings = parts.warnings
        self.rooms, self.joins = Recent(MAX_ROOMS), Recent(MAX_JOINS)
        self.senders = Senders()
        self.restarted = False
        """Whether `since` was lost: what the server gives then is no beginning."""
        position = parts.read(POSITION, Position)
        if position and position.user != user:
            parts.warn(f"the account is {user} now, not {position.user}: reading begins anew")
            position = None
        self.position = position or Position(user, None)
        self.waiting = Waiting(parts if position else Parts({}, source), source)
        if position:
            load_all(self._recent, parts)
        self._gaps = {part: parts.read(part, Gap) for part in checkpoints if part.startswith(GAP)}

    @property
    def _recent(self) -> dict[str, Recent]:
        return {ROOMS: self.rooms, JOINS: self.joins}

    def gap(self, room: str) -> str | None:
        """Give the token up to which the events of a room are read beyond `since`."""
        gap = self._gaps.get(GAP + room)
        return gap.start if gap and gap.since == self.position.since else None

    def paged(self, room: str, start: str) -> dict[str, bytes | None]:
        """Note that a gap is filled up to `start`, and give the checkpoints that changed."""
        gap = self._gaps[GAP + room] = Gap(self.position.since, start)
        return {GAP + room: encode(gap), **self.changed()}

    def moved(self, since: str) -> dict[str, bytes | None]:
        """Move on, which ends all gaps, and give the checkpoints that changed."""
        ended = dict.fromkeys(self._gaps)
        self._gaps.clear()
        if since != self.position.since or ended:
            self.position = Position(self.position.user, since)
            return {POSITION: encode(self.position), **ended, **self.changed()}
        return self.changed()

    def lost(self) -> None:
        """Forget `since`, which the server does not know any more: reading begins anew."""
        self.position = Position(self.position.user, None)
        self.restarted = True

    def changed(self) -> dict[str, bytes | None]:
        """Give the checkpoints that changed beside the position."""
        changed: dict[str, bytes | None] = {**changed_parts(self._recent)}
        if self.waiting.changed:
            changed[WAITING] = self.waiting.encoded()
        return changed


class Senders:
    """Who sent the latest messages: an edit by anybody else is none."""

    def __init__(self, most: int = MAX_SENDERS) -> None:
        self._most = most
        self._senders: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._senders)

    def get(self, event: str) -> str | None:
        """Give who sent an event, None when that is not remembered."""
        return self._senders.get(event)

    def put(self, event: str, sender: str) -> None:
        """Remember who sent an event, and forget the oldest when there are too many."""
        self._senders[event] = sender
        if len(self._senders) > self._most:
            self._senders.popitem(last=False)
