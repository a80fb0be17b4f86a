"""Forgetting on Kafka what retention has taken from the log, as the embedded log does when it trims.

`trim` runs in whichever daemon has `retention.keep`; the workers need no setting, since what the topics still have says
what is needed (`ingest.log.retention.needed_since`). A pass looks at all that one partition remembers, a page with each
tick of its lane, and gives what no longer counts. Whoever commits that does it as any other work: a deletion in the
changelog, in a transaction of the partition's producer, and then in the copy. So a worker that was replaced forgets
nothing, and one that dies in the middle leaves changelog and copy alike.
"""

from typing import TYPE_CHECKING, Final

from aiokafka.structs import TopicPartition

from ingest.log.contract import StateKey, Topic
from ingest.log.kafka.offsets import Offsets
from ingest.log.kafka.topics import topic_name
from ingest.log.retention import REMEMBERING_STORE, TIME_BYTES, needed_since
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust.stores import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

PASS_MS: Final = 3600 * 1000
"""Between the beginnings of two passes: as often as the daemon trims."""

PAGE: Final = 20_000
"""Entries looked at in one go: some 20 ms of the thread that processes all partitions. Under load, when ticks are a
minute apart, a pass of an hour then sees more than a million."""

_NEEDING: Final = (Topic.CAPTURED, Topic.EVENTS)


async def oldest_needed(settings: KafkaSettings, offsets: Offsets, number: int, now_ms: int) -> bytes:
    """Ask from which time on entries of a partition are needed; raises `KafkaError`, `TimeoutError`."""
    places = [TopicPartition(topic_name(settings, topic), number) for topic in _NEEDING]
    first = await offsets.at_times(dict.fromkeys(places, 0))
    return needed_since((None if at is None else at[1] for at in first.values()), now_ms)


class Forgetting:
    """What one partition may forget; has its store for as long as the partition is held."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due_ms = 0
        self._since = b""
        self._pages: Iterator[list[tuple[bytes, bytes]]] = iter(())

    def due(self, now_ms: int) -> bool:
        """Whether it is time for another pass."""
        return now_ms >= self._due_ms

    def begin(self, since: bytes, now_ms: int) -> None:
        """Begin a pass; an unfinished one is given up, as the new one looks at everything."""
        self._since = since
        self._due_ms = now_ms + PASS_MS
        self._pages = self._store.pages(REMEMBERING_STORE, PAGE)

    def next_page(self) -> dict[StateKey, bytes | None]:
        """Look at the next page; gives the deletions that are due, as a commit takes them. Raises `LogError`."""
        page = next(self._pages, ())
        return {(REMEMBERING_STORE, key): None for key, value in page if value[:TIME_BYTES] < self._since}
