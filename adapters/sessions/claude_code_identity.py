"""Who an entry of a Claude Code session is: its line's uuid and the block, never `message.id`, which lines share.

A resumed session copies earlier lines with their uuids, so a copy has the ids of its original whatever the session.
Lines without a uuid are known by their content and time. Source: section 3.1 of the format page; B28.
"""

from typing import Final

from adapters.sessions.identity import Identities
from schemas import ids
from schemas.ids import Part

PROVIDER: Final = "claude-code"

_TITLE: Final = "title"


class ClaudeIdentities:
    """Gives event ids within one file: one dict slot an event, about 90 bytes."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._unnamed = Identities(PROVIDER)

    def event_id(self, uuid: str, identity: tuple[Part, ...]) -> str | None:
        """Give the id of what a block of a line says; None when the same line said it before.

        Other words under a uuid and block that were seen are something else, and are not lost.
        """
        first, said = ids.event_id(PROVIDER, uuid, identity[1]), hash(identity)
        if hash(first) not in self._seen:
            self._seen[hash(first)] = said
            return first
        other = ids.event_id(PROVIDER, uuid, *identity)
        if self._seen[hash(first)] == said or hash(other) in self._seen:
            return None
        self._seen[hash(other)] = said
        return other

    def unnamed_id(self, when: Part, identity: tuple[Part, ...]) -> str | None:
        """Give the id of an event of a line without a uuid; equal ones are told apart by their number."""
        return self._unnamed.event_id(None, (when, *identity))

    def title_id(self, identity: tuple[Part, ...]) -> str | None:
        """Give the id of a title, which the program writes again and again; None when it was seen."""
        return self._unnamed.event_id(_TITLE, identity)
