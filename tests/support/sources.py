"""Scripted counterparts of adapters and logs, and short ways to make elements."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.contract import Capture, Heard
from ingest.log.contract import LogStatus, NewRecord, SourceProgress, SourceStatus
from schemas.captured import CapturedEvent, Thread, decode_record

NO_PROGRESS = SourceProgress()
THREAD = Thread(provider="pi", thread_id="t1")


def heard(number: int | str, text: str = "words", thread: Thread = THREAD, **more: object) -> Heard:
    """An event that was heard, with `number` as its id."""
    return Heard(thread, CapturedEvent(id=str(number), type="message", role="user", text=text, **more))


def ids_of(records: Iterable[NewRecord]) -> list[str]:
    """The ids of all events in captured records, in order."""
    return [event.id for record in records for event in decode_record(record.value).events]


@dataclass
class ScriptedAdapter:
    """Plays steps: a capture is given, an exception raised, a callable called; at the end it waits for ever.

    `journal` tells in which order things happened; each start plays the next script, the last one again and again.
    """

    name: str
    scripts: Sequence[Sequence[Capture | Exception | Callable[[], object]]]
    journal: list[str] = field(default_factory=list)
    starts: list[dict[str, bytes]] = field(default_factory=list)
    closed: int = 0

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        script = self.scripts[min(len(self.starts), len(self.scripts) - 1)]
        self.starts.append(dict(checkpoints))
        try:
            for number, step in enumerate(script):
                self.journal.append(f"asked {number}")
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, Capture):
                    yield step
                else:
                    step()
            self.journal.append("waits")
            await asyncio.Event().wait()
        finally:
            self.closed += 1


@dataclass
class MemoryLog:
    """A log in memory; `refusals` are raised by the next appends, one each."""

    records: list[NewRecord] = field(default_factory=list)
    points: dict[str, bytes] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    refusals: list[Exception] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    before_append: Callable[[], object] = lambda: None
    source: str = ""

    def open_source(self, source: str) -> "MemoryLog":
        self.opened.append(source)
        self.source = source
        return self

    def checkpoints(self) -> dict[str, bytes]:
        return dict(self.points)

    def status(self) -> LogStatus:
        return LogStatus([], [SourceStatus(self.source, dict(self.counts), None, None, None, len(self.points))], [], 0)

    def append(
        self,
        records: Sequence[NewRecord],
        checkpoints: Mapping[str, bytes | None],
        progress: SourceProgress = NO_PROGRESS,
    ) -> None:
        self.before_append()
        if self.refusals:
            self.journal.append("refused")
            raise self.refusals.pop(0)
        self.records.extend(records)
        for part, state in checkpoints.items():
            if state is None:
                self.points.pop(part, None)
            else:
                self.points[part] = state
        for name, count in progress.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.journal.append("appended")


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait for a condition; a condition that never comes fails the test."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - it asks about things that have no event
            await asyncio.sleep(0.002)
