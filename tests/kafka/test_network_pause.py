"""A network that falls silent for longer than a session or a transaction lasts, and then delivers what was on its way.

Whoever was cut off is replaced, or is told that it lost its transaction; at the end each input is there once, in order.
"""

import time
from collections import Counter

import pytest

from ingest.daemon import DRAIN_SECONDS
from ingest.log.contract import Topic
from ingest.log.kafka.log import KafkaLog
from tests.support.daemon import Home, eventually, session_file
from tests.support.kafka import Broker, Listener, free_ports, require_kafka
from tests.support.kafka_capture import SOURCE, Capturing
from tests.support.kafka_log import captured_texts, make_topics, settings_for, variables_of
from tests.support.log import everything
from tests.support.network import Network
from tests.support.worker import Capturer, declare, settings_of
from tests.support.worker_outcome import must_be_exact, wait_for_events
from tests.support.worker_process import SESSION_MS, Fleet

pytestmark = pytest.mark.timeout(400)

SILENCE_S = 2 * SESSION_MS / 1000
"""In which a member that is not heard has surely lost its partitions."""

SHORT_TRANSACTIONS = """
from ingest.log.kafka import client
client.TRANSACTION_TIMEOUT_MS = 3_000  # brokers abort after this what they hear nothing more of
"""

END = 2_400

SLOW_S = 2.5
"""For each piece, either way: a transaction of some round trips takes longer than a stop leaves it."""


@pytest.fixture(scope="module")
def network():
    with Network() as between:
        yield between


@pytest.fixture(scope="module")
def broker(network, tmp_path_factory):
    """A node with two listeners: one as usual, and one that clients are sent to through the network."""
    require_kafka()
    (port,) = free_ports(1)
    network.target = port
    far = Listener("FAR", port, advertised=network.port)
    with Broker(tmp_path_factory.mktemp("kafka"), listeners=[far]) as node:
        yield node


@pytest.fixture(autouse=True)
def speaking(network):
    yield
    network.delay = 0.0
    network.speak()


@pytest.fixture
def far(network):
    return f"127.0.0.1:{network.port}"


def fall_silent(network, seconds: float = SILENCE_S) -> None:
    network.silence()
    time.sleep(seconds)
    network.speak()


def must_be_all_numbers(settings, end: int, what: str) -> None:
    """Each number once, in order of its key; prints the counts."""
    with KafkaLog.open(settings, read_only=True) as log:
        records = everything(log, Topic.CAPTURED)
    found = Counter(int(record.value) for record in records)
    lost, foreign = set(range(end)) - set(found), set(found) - set(range(end))
    twice = {number for number, count in found.items() if count > 1}
    counts = f"{len(lost)} lost, {len(twice)} twice, {len(foreign)} foreign"
    print(f"{what}: {end} captured, {len(records)} records, {counts}")  # noqa: T201 - the figures are asked for
    assert (lost, twice, foreign) == (set(), set(), set())
    by_key: dict[str, list[int]] = {}
    for record in records:
        by_key.setdefault(record.key, []).append(int(record.value))
    assert all(numbers == sorted(numbers) for numbers in by_key.values())


def test_capture_goes_on_once_the_network_speaks(broker, network, far, prefix):
    """Twice, in the middle of transactions, and longer than one may last: the brokers abort it meanwhile."""
    near = make_topics(settings_for(broker.bootstrap, prefix))
    capturing = Capturing(settings_for(far, prefix), END, before=SHORT_TRANSACTIONS)
    for _ in range(2):
        before = capturing.told
        eventually(lambda before=before: capturing.next() and capturing.told >= before + 60, 60)
        fall_silent(network)
    assert capturing.told < END
    assert capturing.wait(180) == 0
    must_be_all_numbers(near, END, "capture, the network silent twice")


def test_a_source_that_was_cut_off_is_fenced_by_its_replacement(broker, network, far, prefix):
    near = make_topics(settings_for(broker.bootstrap, prefix))
    cut_off = Capturing(settings_for(far, prefix), 10 * END, before=SHORT_TRANSACTIONS)
    for _ in range(20):
        cut_off.until("told")
    network.silence()
    replacement = Capturing(near, END)
    assert replacement.wait(180) == 0
    network.speak()
    assert cut_off.wait(180) == 3
    assert replacement.began >= 60
    must_be_all_numbers(near, END, "a source cut off and replaced")
    with KafkaLog.open(near) as log:
        assert log.open_source(SOURCE).checkpoints() == {"file": str(END).encode()}


def test_a_worker_that_is_cut_off_is_replaced_and_does_no_harm_when_it_is_heard_again(
    broker, network, far, prefix, tmp_path
):
    settings = settings_of(broker.bootstrap, prefix)
    declare(settings)
    capturer = Capturer(settings)
    cut_off = Fleet(settings_of(far, prefix), tmp_path / "far", "rocksdb")
    near = Fleet(settings, tmp_path / "near", "rocksdb")
    try:
        first = cut_off.add()
        with capturer.load():
            wait_for_events(settings, 1)
            second = near.add()
            time.sleep(2)
            fall_silent(network)
            time.sleep(2)
        must_be_exact(settings, capturer.ids, "a worker cut off and heard again")
        assert (first.running, second.running) == (True, True)
    finally:
        cut_off.end()
        near.end()


@pytest.mark.soak
def test_all_workers_cut_off_at_once_go_on_where_they_were(broker, network, far, prefix, tmp_path):
    settings = settings_of(broker.bootstrap, prefix)
    declare(settings)
    capturer, fleet = Capturer(settings), Fleet(settings_of(far, prefix), tmp_path)
    try:
        workers = [fleet.add(), fleet.add()]
        with capturer.load():
            wait_for_events(settings, 1)
            fall_silent(network)
            time.sleep(2)
        must_be_exact(settings, capturer.ids, "all workers cut off at once")
        assert fleet.running == workers
    finally:
        fleet.end()


def test_a_stop_cuts_off_what_slow_brokers_take_too_long_for(broker, network, far, prefix, tmp_path):
    """The daemon ends in its time; what was in the middle of a transaction comes once, with the next start."""
    near = make_topics(settings_for(broker.bootstrap, prefix))
    home = Home(tmp_path, variables_of(settings_for(far, prefix)))
    session = session_file(home, 1)
    session.append(1)
    try:
        for _ in range(3):
            home.start("--only", "capture")
            eventually(lambda: captured_texts(near) == session.texts, 60)
            network.delay = SLOW_S
            session.append(5)
            time.sleep(SLOW_S)  # the transaction has begun, and takes some more of these
            begun = time.monotonic()
            assert home.stop(seconds=12) == 0, home.errors()
            assert time.monotonic() - begun < DRAIN_SECONDS
            assert captured_texts(near) != session.texts, "the stop came too late to cut anything off"
            network.delay = 0.0
        home.start("--only", "capture")
        eventually(lambda: captured_texts(near) == session.texts, 60)
        assert home.stop() == 0, home.errors()
    finally:
        home.close()
