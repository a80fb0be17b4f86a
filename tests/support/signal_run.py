"""A Signal source that is followed into a log in memory, step by step."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adapters.chat.signal import SignalSource
from adapters.chat.signal_address import Address
from adapters.chat.signal_intake import Patience
from ingest.capture import Capturing, Pauses
from ingest.health import Health, SourceHealth
from ingest.metrics import Metrics
from schemas.captured import decode_record
from tests.support.fake_signal import ACCOUNT
from tests.support.signal_live import data, envelope
from tests.support.sources import MemoryLog, until

FAST = Pauses(first=0.02, longest=0.2, permanent=0.05)
QUICK = Patience(log=0.1, tick=0.02, silence=0.2)


class Run:
    """A source that is followed until one condition after the other holds; it can be started again."""

    def __init__(self, daemon: Any, path: Path, log: MemoryLog | None = None, patience: Patience = QUICK) -> None:
        self.daemon, self.log = daemon, log or MemoryLog()
        self.adapter = SignalSource("signal.ops", ACCOUNT, Address.of(daemon.address), path / "j", patience)

    def __call__(self, *steps: Callable[["Run"], object]) -> "Run":
        asyncio.run(self._follow(steps))
        return self

    async def _follow(self, steps: tuple[Callable[["Run"], object], ...]) -> None:
        whole = Health()
        capturing = Capturing(self.log, [self.adapter], whole, Metrics(), pauses=FAST)
        self.health: SourceHealth = whole.sources["signal.ops"]
        capturing.start()
        try:
            for step in steps:
                await until(lambda step=step: step(self))
        finally:
            await capturing.stop()

    @property
    def texts(self) -> list[str]:
        """What is in the log."""
        records = [decode_record(r.value) for r in self.log.records if r.topic.endswith("captured")]
        return [event.text for record in records for event in record.events]


def has(*texts: str) -> Callable[[Run], object]:
    """Whether the log has these texts, and no others."""
    return lambda run: run.texts == list(texts)


def words(number: int, text: str) -> dict[str, Any]:
    """What comes for a message of Ana."""
    return envelope(number, body=data(number, text))
