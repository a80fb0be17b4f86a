"""A source is asked for more, and thereby told that what it gave was received, only after the transaction committed.

Kafka answers a commit once it is decided and durable; what makes the records visible to committed readers, a marker in
each partition, may follow a moment later. So a reader is given that moment, and a broker that is held still must keep
the source waiting.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping

from adapters.contract import Capture
from ingest.capture import Capturing, Pauses
from ingest.health import Health
from ingest.log.contract import Topic
from ingest.log.kafka.log import KafkaLog
from ingest.metrics import Metrics
from schemas.captured import decode_record
from tests.support.kafka_log import on_broker
from tests.support.log import everything
from tests.support.sources import heard

CAPTURES = 40
MARKER_SECONDS = 10
"""Far longer than any broker needs for its markers."""


class RecordingSource:
    """Gives numbered captures, and looks into the log, as a reader would, each time that it is asked for more."""

    name = "recording"

    def __init__(self, reader: KafkaLog, broker) -> None:
        self._reader = reader
        self._broker = broker
        self.told: list[int] = []
        self.there: list[int] = []
        self.told_while_held: list[int] = []
        self._held = False
        self.done = asyncio.Event()

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        at = int(checkpoints.get("n", b"0"))
        while at < CAPTURES:
            at += 1
            if at % 10 == 5:
                self._hold()
            yield Capture([heard(f"event-{at}")], {"n": str(at).encode()})
            self.told.append(at)
            if self._held:
                self.told_while_held.append(at)
            self.there.append(await asyncio.to_thread(self._events, at))
        self.done.set()
        await asyncio.Event().wait()

    def _hold(self) -> None:
        self._broker.pause()
        self._held = True
        asyncio.get_running_loop().call_later(0.5, self._let_go)

    def _let_go(self) -> None:
        self._held = False
        self._broker.resume()

    def _events(self, at_least: int) -> int:
        end = time.monotonic() + MARKER_SECONDS
        while (found := self._count()) < at_least and time.monotonic() < end:
            time.sleep(0.01)
        return found

    def _count(self) -> int:
        return sum(len(decode_record(record.value).events) for record in everything(self._reader, Topic.CAPTURED))


def test_receipt_follows_the_commit(broker, prefix):
    settings = on_broker(broker, prefix, 1)

    async def run() -> RecordingSource:
        with KafkaLog.open(settings) as log, KafkaLog.open(settings, read_only=True) as reader:
            source = RecordingSource(reader, broker)
            capturing = Capturing(log, [source], Health(), Metrics(), pauses=Pauses(first=0.05, longest=0.2))
            capturing.start()
            await asyncio.wait_for(source.done.wait(), 120)
            await capturing.stop()
            return source

    source = asyncio.run(run())
    assert source.told == list(range(1, CAPTURES + 1))
    assert source.told_while_held == []
    assert source.there == source.told
