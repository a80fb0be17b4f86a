"""Parts of the daemon that live on the floors above: found by the entry-point group `session_triage.parts`.

A part runs in the daemon's event loop beside capture and processing. It is started once the log is open and stopped
before the log is closed. What goes wrong with it later is its own to mend, and `Health.problems` says so meanwhile; its
start must not wait for anything that may be away.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Protocol

from ingest.health import Health
from ingest.log.contract import EventLog
from ingest.metrics import Metrics
from ingest.settings import Settings

GROUP: Final = "session_triage.parts"


@dataclass(frozen=True, slots=True)
class Context:
    """What a part is given of the daemon."""

    settings: Settings
    log: EventLog
    health: Health
    metrics: Metrics


class Part(Protocol):
    """One part; the entry point is a function without arguments that makes it."""

    name: str

    async def start(self, context: Context) -> None:
        """Begin to work in tasks of one's own; returns at once."""
        ...

    async def stop(self) -> None:
        """Finish what is under way within a few seconds; after a start that failed, or none, do nothing."""
        ...


def part_names() -> list[str]:
    """Give the names of the parts that are installed, without importing any."""
    return sorted(_found())


def load_parts(names: Collection[str]) -> list[Part]:
    """Make the parts of those names, in order of their names."""
    found = _found()
    return [found[name].load()() for name in sorted(names) if name in found]


async def start_parts(parts: Iterable[Part], context: Context) -> None:
    """Start parts, one after another."""
    for part in parts:
        await part.start(context)


async def stop_parts(parts: Iterable[Part]) -> None:
    """Stop parts, the last one first."""
    for part in reversed(list(parts)):
        await part.stop()


def _found() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
