"""Workers on Kafka as real processes, what they are given to do, and what must come of it."""

import asyncio
import functools
import gc
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ingest.commands.terminal import COLLECT_AFTER
from ingest.health import Health
from ingest.log.contract import NewRecord, Topic
from ingest.log.kafka.topics import partition_of, specification, topic_name
from ingest.metrics import Metrics
from ingest.processors.chain import processors
from ingest.settings_kafka import KafkaSettings
from ingest.streams.faust import transport
from ingest.streams.faust.shelf import Shelf, store_maker
from ingest.streams.faust.workers import Workers
from schemas.captured import encode_record
from schemas.event import decode
from tests.support.processors import captured, record_of

ROOT: Final = Path(__file__).parents[2]

SESSION_MS: Final = 3_000
"""A worker that is killed has lost its partitions after this; shorter than in earnest, for the tests' sake."""


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

    def events(self, thread: str, count: int) -> None:
        """Append one record with the next events of a thread; they are due when the transaction is committed."""
        ids = self.ids[thread]
        new = [f"{thread}-{number}" for number in range(len(ids), len(ids) + count)]
        record = record_of(
            *(captured(f"I am blocked: {name}", id=name, role="assistant") for name in new), thread_id=thread
        )
        ids += new
        self.record(NewRecord(Topic.CAPTURED, f"pi/{thread}", encode_record(record)))

    def record(self, record: NewRecord) -> None:
        """Append any record."""
        self._producer.produce(
            topic_name(self._settings, record.topic),
            record.value,
            record.key.encode(),
            partition_of(record.key, self._settings.partitions),
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is appended in here appears at once."""
        self._producer.begin_transaction()
        yield
        self._producer.commit_transaction(60)

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


class WorkerProcess:
    """One worker in a process of its own."""

    def __init__(self, settings: KafkaSettings, folder: Path, store: str = "memory") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.output = folder / "worker.log"
        arguments = [settings.bootstrap_servers[0], settings.topic_prefix, str(settings.partitions), str(folder), store]
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.worker", *arguments], cwd=ROOT, stdout=output, stderr=output
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self, seconds: float = 20) -> float:
        """End it as a service manager does; gives the seconds it took."""
        started = time.monotonic()
        if self.running:
            self._process.send_signal(signal.SIGTERM)
            assert self._process.wait(seconds) == 0, self.output.read_text()[-3000:]
        return time.monotonic() - started


class Fleet:
    """All the workers of a test."""

    def __init__(self, settings: KafkaSettings, folder: Path, store: str = "memory") -> None:
        self._settings, self._folder, self._store = settings, folder, store
        self.workers: list[WorkerProcess] = []

    def add(self, folder: Path | None = None) -> WorkerProcess:
        """Start one more; in its own folder unless it takes over an earlier one's."""
        place = folder or self._folder / f"worker-{len(self.workers)}"
        worker = WorkerProcess(self._settings, place, self._store)
        self.workers.append(worker)
        return worker

    @property
    def running(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.running]

    def end(self) -> None:
        for worker in self.running:
            worker.resume()
            worker.kill()


def read_all(settings: KafkaSettings, topic: str) -> list[tuple[int, str, bytes]]:
    """Every committed record of a topic: partition, key, value; in order within a partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": settings.bootstrap_servers[0],
            "group.id": f"{settings.topic_prefix}test",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    name = topic_name(settings, topic)
    consumer.assign([TopicPartition(name, number, 0) for number in range(settings.partitions)])
    found, ended = [], set()
    try:
        while len(ended) < settings.partitions:
            for message in consumer.consume(1000, 1.0):
                if message.error():
                    ended.add(message.partition())
                else:
                    found.append((message.partition(), (message.key() or b"").decode(), message.value()))
    finally:
        consumer.close()
    return found


def event_ids(settings: KafkaSettings, topic: str = Topic.EVENTS) -> list[str]:
    """The ids of a topic's events."""
    return [decode(value).event.id for _, _, value in read_all(settings, topic)]


def wait_for_events(settings: KafkaSettings, count: int, seconds: float = 120) -> None:
    """Wait until so many events are there."""
    deadline = time.monotonic() + seconds
    while (have := len(read_all(settings, Topic.EVENTS))) < count:
        assert time.monotonic() < deadline, f"{have} of {count} events in {seconds} s"
        time.sleep(0.5)


def must_be_exact(settings: KafkaSettings, expected: dict[str, list[str]], what: str) -> None:
    """Each event once by its id, in order within its thread, none lost, none foreign; prints the counts."""
    wait_for_events(settings, sum(len(ids) for ids in expected.values()))
    time.sleep(2)  # whatever would come twice, comes
    found = [decode(value) for _, _, value in read_all(settings, Topic.EVENTS)]
    times = Counter(event.event.id for event in found)
    wanted = {name for ids in expected.values() for name in ids}
    lost, foreign = wanted - set(times), set(times) - wanted
    twice = {name for name, count in times.items() if count > 1}
    counts = f"{len(lost)} lost, {len(twice)} twice, {len(foreign)} foreign"
    print(f"{what}: {len(wanted)} captured, {len(found)} events, {counts}")  # noqa: T201 - the figures are asked for
    assert (lost, twice, foreign) == (set(), set(), set())
    order: dict[str, list[str]] = defaultdict(list)
    for event in found:
        order[event.source.thread_id].append(event.event.id)
    assert dict(order) == {thread: ids for thread, ids in expected.items() if ids}
    signals = Counter(event_ids(settings, Topic.SIGNALS))
    assert len(signals) == len(wanted), "each of these events gives one signal"
    assert max(signals.values()) == 1
    assert read_all(settings, Topic.REJECTED) == []


async def run_worker(settings: KafkaSettings, folder: Path, store: str) -> None:
    """One worker until SIGTERM."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    health = Health()
    shelf = Shelf(store_maker(store, folder / "state"))
    workers = Workers(settings, folder, processors, shelf, health, Metrics())
    workers.start()
    await stop.wait()
    await workers.stop()


def main(arguments: Sequence[str]) -> None:
    """Run as a program of its own."""
    bootstrap, prefix, partitions, folder, store = arguments
    gc.set_threshold(COLLECT_AFTER)  # as the command line does
    transport.SESSION_TIMEOUT_MS, transport.HEARTBEAT_MS = SESSION_MS, SESSION_MS // 3
    asyncio.run(run_worker(settings_of(bootstrap, prefix, int(partitions)), Path(folder), store))


if __name__ == "__main__":
    main(sys.argv[1:])
