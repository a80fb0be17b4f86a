"""What workers on Kafka are given to do: settings, topics, and captured records."""

import asyncio
import functools
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ingest.log.contract import NewRecord, Topic
from ingest.log.kafka.topics import partition_of, specification, topic_name
from ingest.settings_kafka import KafkaSettings
from schemas.captured import encode_record
from tests.support.processors import captured, record_of


def settings_of(bootstrap: str, prefix: str, partitions: int = 4) -> KafkaSettings:
    """Settings of an installation of its own."""
    return KafkaSettings(bootstrap_servers=[bootstrap], topic_prefix=prefix, partitions=partitions, compression="none")


def declare(settings: KafkaSettings, changed: Mapping[str, Mapping[str, str]] | None = None) -> None:
    """Make the topics, some of them with other configs."""
    configs = {topic_name(settings, topic): dict(config) for topic, config in (changed or {}).items()}
    admin = AdminClient({"bootstrap.servers": settings.bootstrap_servers[0]})
    topics = [
        NewTopic(s.name, s.partitions, 1, config={**s.configs, **configs.get(s.name, {})})
        for s in specification(settings)
    ]
    for made in admin.create_topics(topics).values():
        made.result(60)


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run


class Capturer:
    """Appends captured records in transactions, as a source does; remembers what it appended."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._producer = Producer(
            {
                "bootstrap.servers": settings.bootstrap_servers[0],
                "transactional.id": f"{settings.topic_prefix}source.test",
                # A broker that was killed takes more than the usual minute to come back on a busy machine.
                "transaction.timeout.ms": 300_000,
                "message.timeout.ms": 300_000,
                "log_level": 0,
            }
        )
        self._producer.init_transactions(60)
        self.ids: dict[str, list[str]] = defaultdict(list)
        """By thread, in order."""

    @property
    def count(self) -> int:
        """How many events were appended."""
        return sum(len(ids) for ids in self.ids.values())

    def events(self, thread: str, count: int, time_ms: int = 0) -> None:
        """Append one record with the next events of a thread; they are due when the transaction is committed.

        `time_ms` is the record's time (Unix), by default now.
        """
        ids = self.ids[thread]
        new = [f"{thread}-{number}" for number in range(len(ids), len(ids) + count)]
        record = record_of(
            *(captured(f"I am blocked: {name}", id=name, role="assistant") for name in new), thread_id=thread
        )
        ids += new
        self.record(NewRecord(Topic.CAPTURED, f"pi/{thread}", encode_record(record)), time_ms)

    def threads(self, count: int, events: int, name: str = "t") -> None:
        """Append the next events of so many threads, whose names begin so, in one transaction."""
        with self.transaction():
            for number in range(count):
                self.events(f"{name}{number}", events)

    def record(self, record: NewRecord, time_ms: int = 0) -> None:
        """Append any record."""
        self._producer.produce(
            topic_name(self._settings, record.topic),
            record.value,
            record.key.encode(),
            partition_of(record.key, self._settings.partitions),
            timestamp=time_ms,
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is appended in here appears at once."""
        self._producer.begin_transaction()
        yield
        self._producer.commit_transaction(120)  # brokers that were killed may take their time

    @contextmanager
    def load(self, pause_s: float = 0.01, threads: int = 20) -> Iterator[None]:
        """Append in the background, in transactions of one to twenty events, repeated ones among them."""
        stop = threading.Event()
        failures: list[BaseException] = []

        def append() -> None:
            dice = random.Random(1)
            try:
                while not stop.is_set():
                    with self.transaction():
                        for _ in range(dice.randint(1, 4)):
                            self.events(f"t{dice.randrange(threads)}", dice.randint(1, 5))
                    stop.wait(pause_s)
            except BaseException as error:
                failures.append(error)
                raise

        thread = threading.Thread(target=append)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        assert not failures, failures
