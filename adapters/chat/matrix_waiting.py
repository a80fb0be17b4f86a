"""Encrypted events that wait for their key: which to fetch again when it has come, across restarts.

Keys travel apart from the messages, and may come minutes or days after them. The list is one part of the source's
checkpoints, written with the capture that changed it. Source: section 3.4 of the chat platform notes.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from adapters.chat.recent import VERSION, Parts, encode
from adapters.contract import Warned

WAITING: Final = "waiting"

MAX_WAITING: Final = 1000
"""Events that wait: more than a busy day of a room whose keys were not shared; some 200 KB of checkpoint."""


class Waits(Struct):
    """Rooms, events and what they wait for (`Keys.waits_for`), oldest first."""

    events: list[tuple[str, str, str]]
    version: int = VERSION


class Waiting:
    """The events that wait, from the checkpoints of a source named `source`."""

    def __init__(self, parts: Parts, source: str) -> None:
        waits = parts.read(WAITING, Waits)
        self._source = source
        self._waits = {(room, event): session for room, event, session in (waits.events if waits else [])}
        self._dropped = 0
        self.changed = False
        """Whether it differs from what was written last."""

    def __len__(self) -> int:
        return len(self._waits)

    def add(self, room: str, event: str, session: str) -> None:
        """Let an event wait; the oldest is given up when there are too many."""
        if self._waits.get((room, event)) == session:
            return
        self._waits[room, event] = session
        self.changed = True
        if len(self._waits) > MAX_WAITING:
            del self._waits[next(iter(self._waits))]
            self._dropped += 1

    def ready(self, has: Callable[[str, str], bool]) -> list[tuple[str, str]]:
        """Give the events (room, event) whose key is there by `has`, as `Keys` has it; each stays until it leaves."""
        known: dict[tuple[str, str], bool] = {}
        found = []
        for (room, event), session in self._waits.items():
            if (room, session) not in known:
                known[room, session] = has(room, session)
            if known[room, session]:
                found.append((room, event))
        return found

    def leave(self, room: str, event: str) -> None:
        """Let an event go: it was read, or turned out to be unreadable or gone."""
        if self._waits.pop((room, event), None) is not None:
            self.changed = True

    def encoded(self) -> bytes:
        """Write it for the checkpoint store."""
        self.changed = False
        return encode(Waits([(room, event, session) for (room, event), session in self._waits.items()]))

    def given_up(self) -> list[Warned]:
        """Say how many events were given up since this was last asked."""
        dropped, self._dropped = self._dropped, 0
        words = f"{dropped} events that could not be decrypted are no longer waited for: more than {MAX_WAITING} wait"
        return [Warned(self._source, words)] if dropped else []
