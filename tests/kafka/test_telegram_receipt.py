"""A Telegram bot on Kafka: the server sees no offset above what a committed reader has, whoever is killed.

An offset confirms at the server all updates below it: they are gone there. So before it is asked for, it must be in
`conversations.checkpoints`, in the transaction that holds what was read.
"""

import json
import random
import time
from collections import Counter, defaultdict

import pytest
from confluent_kafka import Consumer, TopicPartition

from ingest.log.contract import Topic
from ingest.log.kafka.checkpoints import key_of
from ingest.log.kafka.topics import CHECKPOINTS, topic_name
from schemas.captured import decode_record
from tests.support.daemon import Home, eventually
from tests.support.fake_botapi import TOKEN, FakeBotApi
from tests.support.kafka_log import variables_of
from tests.support.telegram import GROUP, update
from tests.support.worker import declare, settings_of
from tests.support.worker_outcome import read_all

pytestmark = pytest.mark.timeout(400)

SOURCE = "telegram.ops"
ROUNDS = 3
SENT = 150
"""Updates of a round: a batch and a half, so that each round has several offsets."""

PATIENCE_S = 120
"""For a commit to become visible: a moment, or until brokers that were killed are back."""


class CommittedReader:
    """Follows the checkpoints as a reader of committed records does, and holds up each call until it has its offset.

    While a call is held up its caller waits for the answer: it can commit nothing more that would hide a fault.
    """

    def __init__(self, settings) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": settings.bootstrap_servers[0],
            "group.id": f"{settings.topic_prefix}test",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        })  # fmt: skip
        name = topic_name(settings, CHECKPOINTS)
        self._consumer.assign([TopicPartition(name, number, 0) for number in range(settings.partitions)])
        self.ahead: list[tuple[int, int]] = []
        self.calls = 0
        self._stored = 0

    def __call__(self, offset: int) -> None:
        self.calls += 1
        deadline = time.monotonic() + PATIENCE_S
        while offset > self._stored and time.monotonic() < deadline:
            for message in self._consumer.consume(100, 0.1):
                if not message.error() and message.key() == key_of(SOURCE, "position"):
                    self._stored = json.loads(message.value())["offset"]
        if offset > self._stored:
            self.ahead.append((offset, self._stored))

    def close(self) -> None:
        self._consumer.close()


@pytest.fixture
def settings(broker, prefix):
    made = settings_of(broker.bootstrap, prefix, partitions=2)
    declare(made)
    return made


@pytest.fixture
def server(settings):
    reader = CommittedReader(settings)
    with FakeBotApi() as fake:
        fake.on_poll = fake.reader = reader
        yield fake
    reader.close()


@pytest.fixture
def home(settings, server, tmp_path):
    telegram = {"TOKEN": TOKEN, "API_URL": server.url}
    made = Home(
        tmp_path,
        variables_of(settings, **{f"SOURCES__TELEGRAM__OPS__{name}": value for name, value in telegram.items()}),
    )
    yield made
    made.close()


class Sender:
    """Sends numbered messages in three topics of a group."""

    def __init__(self, server: FakeBotApi) -> None:
        self._server = server
        self._number = 0
        self.sent: dict[str, list[str]] = defaultdict(list)

    def send(self, count: int) -> None:
        for _ in range(count):
            self._number += 1
            topic = 1 + self._number % 3
            members = {"message_thread_id": topic, "is_topic_message": True} if topic > 1 else {}
            thread = f"{GROUP['id']}/{topic}" if topic > 1 else str(GROUP["id"])
            self.sent[thread].append(f"says {self._number}")
            self._server.add(update(self._number, text=self.sent[thread][-1], **members))


def must_be_captured(settings, sent: dict[str, list[str]]) -> None:
    """Each message once, in order of its thread; prints the counts."""
    found: dict[str, list[str]] = defaultdict(list)
    ids: Counter[str] = Counter()
    for _, _, value in read_all(settings, Topic.CAPTURED):
        record = decode_record(value)
        found[record.thread.thread_id] += [event.text for event in record.events if event.text.startswith("says ")]
        ids.update(event.id for event in record.events)
    count = sum(map(len, sent.values()))
    twice = sum(times > 1 for times in ids.values())
    print(f"{count} messages sent, {sum(map(len, found.values()))} captured, {twice} twice")  # noqa: T201 - the counts
    assert {thread: texts for thread, texts in found.items() if texts} == sent
    assert twice == 0


def test_no_offset_is_asked_for_before_it_is_committed(broker, settings, server, home):
    """Brokers are killed and restarted, the daemon is killed and started again, while messages come."""
    dice, sender = random.Random(5), Sender(server)
    for number in range(ROUNDS):
        before = server.reader.calls
        if home.process is None:
            home.start("--only", "capture", wait=False)
        sender.send(SENT)
        eventually(lambda before=before: server.reader.calls > before, PATIENCE_S)
        time.sleep(dice.uniform(0.0, 0.3))
        if number % 2:
            home.stop(9)
        else:
            broker.kill()
            sender.send(SENT)
            time.sleep(dice.uniform(0.5, 1.5))
            broker.start()
    if home.process is None:
        home.start("--only", "capture", wait=False)
    eventually(lambda: not server.pending, PATIENCE_S)
    home.stop(9)
    assert server.reader.ahead == []
    assert server.reader.calls > 2 * ROUNDS
    must_be_captured(settings, sender.sent)
