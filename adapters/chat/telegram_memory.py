"""What a bot's source remembers between runs: how far it has read, who owns which business account, names of topics.

Each is one part of the source's checkpoints, JSON of a version, written in the transaction of the capture that changed
it. A part that cannot be used is named and costs little: the server still has what was not confirmed, and says who owns
a connection when asked.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from adapters.chat.recent import VERSION, Parts, Recent, changed_parts, encode, load_all

MAX_CONNECTIONS: Final = 1000
"""Business accounts remembered, those used longest ago forgotten first; the server knows them all."""

MAX_TOPICS: Final = 2000
"""Names of topics remembered; a forgotten one leaves a thread with the chat's title alone."""

POSITION: Final = "position"
CONNECTIONS: Final = "connections"
TOPICS: Final = "topics"


class Position(Struct, frozen=True):
    """The `offset` to ask for next, of which bot, and the time of its last update (Unix seconds), 0 when none."""

    bot: int
    offset: int
    time: int = 0
    version: int = VERSION


class Memory:
    """All that is remembered, from the checkpoints of a source named `source`; `warnings` say what was no use."""

    def __init__(self, checkpoints: Mapping[str, bytes], bot: int, source: str) -> None:
        parts = Parts(checkpoints, source)
        self.warnings = parts.warnings
        self.connections, self.topics = Recent(MAX_CONNECTIONS), Recent(MAX_TOPICS)
        load_all(self._recent, parts)
        position = parts.read(POSITION, Position)
        if position and position.bot != bot:
            # Another bot counts its own updates: an offset above them all could confirm what was never read.
            parts.warn(f"the token is that of bot {bot} now, not of {position.bot}: reading begins at what is there")
            position = None
        self.position = position or Position(bot, 0)

    @property
    def _recent(self) -> dict[str, Recent]:
        return {CONNECTIONS: self.connections, TOPICS: self.topics}

    def moved(self, offset: int, time: int) -> dict[str, bytes]:
        """Move on, and give the checkpoints that changed."""
        self.position = Position(self.position.bot, offset, time)
        return {POSITION: encode(self.position), **changed_parts(self._recent)}

    def not_saved(self) -> None:
        """Note that the checkpoints given last may not be in the log: they are given again."""
        self.connections.changed = self.topics.changed = True
