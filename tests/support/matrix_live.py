"""A Matrix source that is followed into a log in memory, and events of its rooms."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from adapters.chat.matrix import MatrixSource
from ingest.capture import Capturing, Pauses
from ingest.health import Health, SourceHealth
from ingest.metrics import Metrics
from schemas.captured import CapturedEvent, CapturedRecord, decode_record
from tests.support.fake_homeserver import TOKEN, USER, FakeHomeserver
from tests.support.messengers import matrix_event
from tests.support.sources import MemoryLog, until

ROOM = "!room:hs.test"
OPERATOR = "@op:hs.test"
FAST = Pauses(first=0.02, longest=0.2, permanent=0.05)


def said(number: int, body: str | None = None, **members: Any) -> dict[str, Any]:
    """A message as a timeline has it, which names no room."""
    event = matrix_event(number, {"msgtype": "m.text", "body": body or f"m{number}"}, **members)
    del event["room_id"]
    return event


def state(number: int, kind: str, content: dict[str, Any], key: str = "", **members: Any) -> dict[str, Any]:
    """An event that changes a room."""
    event = matrix_event(number, content, kind, state_key=key, **members)
    del event["room_id"]
    return event


def source(server: FakeHomeserver, token: str = TOKEN, **options: Any) -> MatrixSource:
    """A source of the server's account, which its owner calls `ops`."""
    options = {"wait_seconds": 1.0, "operators": frozenset({OPERATOR})} | options
    return MatrixSource("matrix.ops", "ops", server.url, USER, lambda: token, **options)


class Run:
    """A source that is followed into a log in memory, until a condition holds."""

    def __init__(
        self, server: FakeHomeserver, log: MemoryLog | None = None, pauses: Pauses = FAST, **options: Any
    ) -> None:
        self.server, self.log, self.pauses = server, log or MemoryLog(), pauses
        self.adapter = source(server, **options)

    def __call__(self, condition: Callable[["Run"], object], seconds: float = 30.0) -> "Run":
        asyncio.run(self._follow(condition, seconds))
        return self

    async def _follow(self, condition: Callable[["Run"], object], seconds: float) -> None:
        whole = Health()
        capturing = Capturing(self.log, [self.adapter], whole, Metrics(), pauses=self.pauses)
        self.health: SourceHealth = whole.sources["matrix.ops"]
        capturing.start()
        try:
            await until(lambda: condition(self), seconds)
        finally:
            await capturing.stop()

    @property
    def records(self) -> list[CapturedRecord]:
        return [decode_record(r.value) for r in self.log.records if r.topic.endswith("captured")]

    @property
    def events(self) -> list[CapturedEvent]:
        return [event for record in self.records for event in record.events]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.events]

    @property
    def since(self) -> str | None:
        """What is committed as the `since` to ask for."""
        return json.loads(self.log.points["position"])["since"] if "position" in self.log.points else None


def follow(server: FakeHomeserver, condition: Callable[[Run], object], **options: Any) -> Run:
    return Run(server, **options)(condition)


def reached(since: str) -> Callable[[Run], object]:
    """Whether the source has asked with a `since`, which says that all before it is in the log."""
    return lambda run: since in run.server.sinces


def points(since: str, **rooms: str) -> dict[str, bytes]:
    """Checkpoints of a source that has read up to `since`, and knows rooms by their titles."""
    found = {"position": {"user": USER, "since": since, "version": 1}}
    if rooms:
        found["rooms"] = {"pairs": list(rooms.items()), "version": 1}
    return {part: json.dumps(value).encode() for part, value in found.items()}
