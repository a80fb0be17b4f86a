"""A Matrix source at a real homeserver, followed into a log in memory until a condition holds."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix import MatrixSource
from adapters.contract import Capture, Warned
from ingest.capture import Capturing, Pauses
from ingest.health import Health, SourceHealth
from ingest.metrics import Metrics
from schemas.captured import CapturedEvent, CapturedRecord, decode_record
from tests.support.matrix import Person
from tests.support.sources import MemoryLog, until

NAME = "matrix.ops"
PAUSES = Pauses(first=0.02, longest=0.2, permanent=0.1)


class Reader:
    """What reads as the account of `person`, which its owner calls `ops`, by way of `url`.

    Each call follows a new source from what the log has; `health` is that of the last one, in `whole`.
    """

    def __init__(self, person: Person, url: str = "", **options: Any) -> None:
        self.person, self.url = person, url or person.url
        self.log, self.options = MemoryLog(), options
        self.warnings: list[str] = []
        self.health: SourceHealth
        self.whole: Health

    def __call__(self, condition: Callable[["Reader"], object], seconds: float = 60.0) -> "Reader":
        asyncio.run(self._follow(condition, seconds))
        return self

    def source(self) -> MatrixSource:
        """A source with the reader's options."""
        options = {"wait_seconds": 2.0} | self.options
        if "password" not in options:
            options["token"] = lambda: self.person.token
        return MatrixSource(NAME, "ops", self.url, self.person.user, **options)

    async def _follow(self, condition: Callable[["Reader"], object], seconds: float) -> None:
        self.whole = whole = Health()
        capturing = Capturing(self.log, [_Noted(self.source(), self.warnings)], whole, Metrics(), pauses=PAUSES)
        self.health = whole.sources[NAME]
        capturing.start()
        try:
            await until(lambda: condition(self), seconds)
        finally:
            await capturing.stop()

    @property
    def records(self) -> list[CapturedRecord]:
        """What was captured, in the order of the log."""
        return [decode_record(r.value) for r in self.log.records if r.topic.endswith("captured")]

    @property
    def events(self) -> list[CapturedEvent]:
        """All events, in the order of the log."""
        return [event for record in self.records for event in record.events]

    def of_room(self, room: str) -> list[CapturedEvent]:
        """The events of one room, in order."""
        return [event for record in self.records if record.thread.thread_id == room for event in record.events]

    def said(self, room: str) -> list[str]:
        """The texts of one room's messages, in order."""
        return [event.text for event in self.of_room(room) if event.type == "message"]

    def get(self, event: str) -> CapturedEvent:
        """The one captured event that a Matrix event has become."""
        (found,) = [each for each in self.events if each.id == matrix_event_id(event)]
        return found

    @property
    def since(self) -> str | None:
        """What is committed as the `since` to ask for."""
        point = self.log.points.get("position")
        return json.loads(point)["since"] if point else None


class _Noted:
    """A source whose warnings are noted, which otherwise stand in the daemon's log only."""

    def __init__(self, source: MatrixSource, warnings: list[str]) -> None:
        self.name, self._source, self._warnings = source.name, source, warnings
        self.undecrypted = source.undecrypted

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        async with aclosing(self._source.captures(checkpoints)) as captures:
            async for capture in captures:
                self._warnings += [each.message for each in capture.elements if isinstance(each, Warned)]
                yield capture


def has(*events: str) -> Callable[[Reader], bool]:
    """Whether events are in the log, and a `since` after them."""
    wanted = {matrix_event_id(event) for event in events}

    def condition(reader: Reader) -> bool:
        in_a_gap = any(part.startswith("gap:") for part in reader.log.points)
        return wanted <= {event.id for event in reader.events} and reader.health.swept and not in_a_gap

    return condition
