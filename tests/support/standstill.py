"""What must hold of a daemon with all live sources while its log takes nothing, and after."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from tests.support.daemon import Home, eventually, fetch
from tests.support.every_source import EverySource
from tests.support.load import Burst, faults, resident_bytes

EACH: Final = 2
"""Speakers of a source."""

FEW: Final = 5
MANY: Final = 120
"""Words of a speaker while the log takes nothing: of two, more than a batch of Telegram's."""

PATIENCE: Final = 240.0
"""Seconds for what takes half a minute at most on a machine that is not busy: pauses grow to a minute."""


def reasons(home: Home) -> list[str]:
    """Why a daemon is not ready."""
    told: list[str] = json.loads(fetch(f"{home.url}/readyz")[1])["reasons"]
    return told


@dataclass
class Standstill:
    """One daemon with all sources; `texts` are what is in the stream by thread, `why` words that its reasons have.

    `offset` and `since` are how far Telegram and Matrix had been confirmed when the log still took something.
    """

    sources: EverySource
    texts: Callable[[], Mapping[str, Sequence[str]]]
    why: str
    offset: int = 0
    since: int = 0
    pid: int = 0

    def begin(self) -> None:
        """Start the daemon and let everybody say some words, which arrive."""
        self.pid = self.sources.home.process.pid  # type: ignore[union-attr]  # it has been started
        burst = Burst(self.sources.everybody, FEW)
        burst.start()
        burst.join()
        self.arrives(PATIENCE)
        eventually(lambda: not self.sources.bots.pending, PATIENCE)
        self.offset = max(self.sources.bots.offsets)
        self.since = FEW * EACH
        eventually(lambda: self.sources.rooms.reached == self.since, PATIENCE)

    def arrives(self, seconds: float) -> None:
        """Everything that was said comes: once, in order, in its thread."""
        with suppress(AssertionError):  # what did not arrive is told below
            eventually(lambda: faults(self.sources.said, self.texts()) == [], seconds)
        assert faults(self.sources.said, self.texts()) == []

    @contextmanager
    def refused(self) -> Iterator[Burst]:
        """Let everybody say many words, of which none is taken; whoever sends gets no 2xx."""
        for door in self.sources.doors.values():
            door.refusals.clear()
        burst = Burst(self.sources.everybody, MANY)
        burst.start()
        self.is_told()
        self.no_cursor_moves()
        yield burst
        self.no_cursor_moves()

    def is_told(self) -> None:
        """Readiness and `status` say in words why; alive is the daemon all the same."""
        home = self.sources.home
        eventually(lambda: any(self.why in reason for reason in reasons(home)), PATIENCE)
        assert fetch(f"{home.url}/readyz")[0] == 503
        assert fetch(f"{home.url}/healthz")[0] == 200
        status = home.command("status").stdout
        assert "not ready" in status
        assert self.why in status

    def no_cursor_moves(self) -> None:
        """Telegram and Matrix see no higher cursor, senders are told to come again, and nobody listens to Signal."""
        eventually(lambda: self.sources.signal.subscriptions == 0, PATIENCE)
        for name, door in self.sources.doors.items():
            eventually(lambda door=door: door.refusals, PATIENCE)
            assert all(status == 503 and int(pause or 0) > 0 for status, pause in door.refusals), (name, door.refusals)
        assert max(self.sources.bots.offsets) == self.offset
        said = sum(len(each.texts) for each in self.sources.speakers["telegram.ops"])
        assert len(self.sources.bots.pending) == said - FEW * EACH
        assert self.sources.rooms.reached == self.since

    def end(self, burst: Burst) -> None:
        """The log takes it again: everything comes without a restart."""
        eventually(lambda: not burst.alive, PATIENCE)
        self.arrives(PATIENCE)
        eventually(self.sources.home.ready, PATIENCE)
        assert self.sources.home.process.pid == self.pid  # type: ignore[union-attr]
        eventually(lambda: self.sources.signal.subscriptions == 1, PATIENCE)
        assert self.sources.home.stop() == 0


def most_memory(pid: int, seconds: float) -> int:
    """The most resident memory of a process during so many seconds."""
    most, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        most = max(most, resident_bytes(pid))
        time.sleep(0.05)
    return most
