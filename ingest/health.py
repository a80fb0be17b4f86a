"""What the daemon knows about its own state: each source, what is under way, and whether it is ready.

Alive means that nothing that was begun hangs; ready means that the log is open, every source has been swept once, and
records get through. Silence of a source is no fault.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from adapters.contract import Adapter

IDLE_AFTER_SECONDS: Final = 5.0
"""A source that has given nothing for this long counts as idle, and as swept: it waits for something new."""

STUCK_AFTER_SECONDS: Final = 120.0
"""Longer than the slowest honest disk sync, batch or sweep: a step that takes this long makes no progress."""


LOG_PART: Final = "log"
"""Under this name `Health.problems` says what is wrong with the log."""


class SourceState(StrEnum):
    """What a source does now."""

    STARTING = "starting"
    RUNNING = "running"
    IDLE = "idle"
    BACKING_OFF = "backing-off"
    FAILED = "failed"
    STOPPED = "stopped"


class FileStats(Protocol):
    """What a source that follows files tells."""

    @property
    def pending_bytes(self) -> int: ...  # noqa: D102 - named as in the adapters' figures
    @property
    def bytes_read(self) -> int: ...  # noqa: D102
    @property
    def open_files(self) -> int: ...  # noqa: D102


class InboxStats(Protocol):
    """What a source that is fed over HTTP tells."""

    @property
    def deliveries(self) -> int: ...  # noqa: D102 - named as in the adapters' figures
    @property
    def bytes(self) -> int: ...  # noqa: D102
    @property
    def refused(self) -> Mapping[str, int]: ...  # noqa: D102


@dataclass(slots=True)
class SourceHealth:
    """The state of one source; times are Unix seconds."""

    name: str
    clock: Callable[[], float] = time.time
    counts: Counter[str] = field(default_factory=Counter)
    last_error: str | None = None
    last_commit: float | None = None
    last_event: float | None = None
    restarts: int = 0
    stats: Callable[[], FileStats] | None = None
    """Figures of a source that follows files."""
    inbox: Callable[[], InboxStats] | None = None
    """Figures of a source that is fed over HTTP."""
    undecrypted: Callable[[], int] | None = None
    """How many encrypted messages of a source wait for their keys."""
    drift: dict[str, str] = field(default_factory=dict)
    """Signs that the source's format has changed, in words by kind (`ingest.drift`)."""
    _state: SourceState = SourceState.STARTING
    _since: float = 0.0
    _asked: float | None = None
    _swept: bool = False

    def __post_init__(self) -> None:
        self._since = self.clock()

    @classmethod
    def of(cls, adapter: Adapter) -> "SourceHealth":
        """The health of an adapter, with the figures that its kind has."""
        inbox = getattr(adapter, "inbox", None)
        stats, undecrypted = getattr(adapter, "stats", None), getattr(adapter, "undecrypted", None)
        return cls(adapter.name, stats=stats, inbox=inbox and inbox.stats, undecrypted=undecrypted)

    @property
    def state(self) -> SourceState:
        """What the source does; one that has been asked and gives nothing is idle."""
        return SourceState.IDLE if self._state is SourceState.RUNNING and self._waits() else self._state

    @property
    def since(self) -> float:
        """Since when it does so, without telling idle from running."""
        return self._since

    @property
    def swept(self) -> bool:
        """Whether the source has once given all that was there."""
        return self._swept or (self._state is SourceState.RUNNING and self._waits())

    @property
    def up(self) -> bool:
        """Whether the source is followed now."""
        return self._state in {SourceState.STARTING, SourceState.RUNNING}

    def turn(self, state: SourceState, error: str | None = None) -> None:
        """Enter a state; an error stays readable until the next one."""
        if self.swept:
            self._swept = True
        if state is not self._state:
            self._state, self._since = state, self.clock()
        self.last_error = error or self.last_error
        self._asked = None

    def asked(self) -> None:
        """Note that the source is asked for more."""
        self.turn(SourceState.RUNNING)
        self._asked = self.clock()

    def caught_up(self) -> None:
        """Note that the source said it has nothing more for now."""
        self._swept = True

    def committed(self, counts: Counter[str]) -> None:
        """Note that a capture is in the log."""
        self.counts.update(counts)
        self.last_commit = self.clock()
        if counts["emitted"]:
            self.last_event = self.last_commit

    def _waits(self) -> bool:
        return self._asked is not None and self.clock() - self._asked >= IDLE_AFTER_SECONDS


class Activity:
    """Steps under way, so that a step that hangs is noticed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: dict[int, tuple[str, float]] = {}
        self._next = 0

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Mark a step as under way."""
        self._next += 1
        key = self._next
        self._begun[key] = (what, self._clock())
        try:
            yield
        finally:
            del self._begun[key]

    def stuck(self, seconds: float = STUCK_AFTER_SECONDS) -> list[str]:
        """What has been under way for longer, in words."""
        now = self._clock()
        return [f"{what} for {now - since:.0f} s" for what, since in self._begun.values() if now - since >= seconds]


@dataclass(slots=True)
class Health:
    """All that `/healthz` and `/readyz` tell; `problems` holds what stops a part of the daemon, by part."""

    activity: Activity = field(default_factory=Activity)
    sources: dict[str, SourceHealth] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    advice: dict[str, str] = field(default_factory=dict)
    """What a person should see to, by source, though everything works (`ingest.advice`)."""
    expiring: dict[str, int] = field(default_factory=dict)
    """Unread files that their own program is about to delete, by source."""
    round_ended: float | None = None
    """When the processors of this process last went round without a fault (monotonic seconds); None without any."""
    log_open: bool = False
    stopping: bool = False

    @property
    def tried(self) -> bool:
        """Whether the start is over: every source was swept, or has failed for a reason that needs a person."""
        over = {SourceState.FAILED, SourceState.STOPPED}
        return self.log_open and all(source.swept or source.state in over for source in self.sources.values())

    def not_ready(self) -> list[str]:
        """Why the daemon is not ready, one reason a line; empty when it is."""
        reasons = ["the log is not open"] if not self.log_open else []
        reasons += ["stopping"] if self.stopping else []
        reasons += [f"{part}: {problem}" for part, problem in self.problems.items()]
        for source in self.sources.values():
            if not source.up:
                reasons.append(f"source {source.name}: {source.state}: {source.last_error or 'no reason given'}")
            elif not source.swept:
                reasons.append(f"source {source.name}: first sweep not done")
        return reasons

    def warnings(self) -> list[str]:
        """What a person should look at though the daemon is ready, one matter a line."""
        told = [(source.name, words) for source in self.sources.values() for words in source.drift.values()]
        told += [
            (source.name, f"{waiting} encrypted messages wait for keys that nobody has shared with this device")
            for source in self.sources.values()
            if source.undecrypted and (waiting := source.undecrypted())
        ]
        return [f"source {name}: {words}" for name, words in [*told, *self.advice.items()]]

    def describe(self) -> dict[str, Any]:
        """Every source in plain values, for JSON."""
        return {source.name: _describe(source) for source in self.sources.values()}


def _describe(source: SourceHealth) -> dict[str, Any]:
    return {
        "state": str(source.state),
        "since": source.since,
        "swept": source.swept,
        "lastError": source.last_error,
        "lastEvent": source.last_event,
        "lastCommit": source.last_commit,
        "restarts": source.restarts,
        "counts": dict(source.counts),
    }
