"""How far a move has come, kept on Kafka among the checkpoints and written by the transactions that do the moving.

So a move that was killed goes on exactly where its last transaction ended: nothing twice, nothing missing.
"""

from collections.abc import Mapping
from typing import Final, Self

import msgspec
from msgspec import Struct

from ingest.log.contract import Topic

MOVE: Final = "migrate"
"""The source under whose name progress is kept; no source of the daemon is called so."""

DONE: Final = "done"
"""The part that is there once everything is moved."""

SUMMARIES: Final = "state.summaries"
"""The part for what is remembered of threads."""

CHECKPOINTS: Final = "checkpoints"
"""The part for the checkpoints of sources."""


class Copied(Struct, rename="camel", frozen=True):
    """How far one part is copied: the last offset (or step), and how many records (or entries) that were."""

    offset: int = 0
    records: int = 0


class Progress:
    """The progress of all parts."""

    def __init__(self, parts: Mapping[str, Copied]) -> None:
        self._parts = dict(parts)

    @classmethod
    def read(cls, checkpoints: Mapping[str, bytes]) -> Self:
        """Read what was kept; raises `msgspec.DecodeError` for checkpoints of something else."""
        return cls({part: msgspec.json.decode(value, type=Copied) for part, value in checkpoints.items()})

    def __bool__(self) -> bool:
        """Whether a move has begun."""
        return bool(self._parts)

    @property
    def done(self) -> bool:
        """Whether everything is moved."""
        return DONE in self._parts

    def of(self, part: Topic | str) -> Copied:
        """How far a part is; nowhere before it is begun."""
        return self._parts.get(str(part), Copied())

    def after(self, part: str, copied: Copied) -> "Progress":
        """The progress once a part is that far."""
        return Progress({**self._parts, part: copied})


def encode(copied: Copied) -> bytes:
    """Give the checkpoint of a part."""
    return msgspec.json.encode(copied)
