"""A real Apache Kafka for tests: one KRaft node on loopback that can be killed, restarted and paused.

Its jars come from `make kafka`, and it runs on Java 17. Where either is missing the tests that need it are skipped, and
fail in CI.
"""

import base64
import gc
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.server_process import ServerProcess

JARS: Final = Path(os.environ.get("KAFKA_HOME", "~/.cache/session-triage/kafka")).expanduser()

START_SECONDS: Final = 60.0
"""A node is up in 4 seconds on an idle machine; a busy one with two cores takes its time."""

_SESSION_MS: Final = {True: 3_000, False: 9_000}
"""A node that was killed registers again after so long, which a test need not wait for: it takes longer to start. On a
busy machine it is taken for dead when it cannot say for so long that it lives; benchmarks, which kill none, have
Kafka's own default."""

_PROPERTIES: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
broker.heartbeat.interval.ms=200
broker.session.timeout.ms={session}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
"""


@dataclass(frozen=True)
class Listener:
    """One more way to a node: `advertised` is the port that clients are sent to, by default its own.

    `properties` are those of this listener, without their prefix. Source: Kafka's documentation, "Broker Configs".
    """

    name: str
    port: int
    protocol: str = "PLAINTEXT"
    advertised: int | None = None
    host: str = "127.0.0.1"
    properties: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Its own lines of the node's properties."""
        for name, value in self.properties.items():
            yield f"listener.name.{self.name.lower()}.{name}={value}"


def _listeners(plain: int, controller: int, more: Sequence[Listener]) -> Iterator[str]:
    own = [Listener("PLAINTEXT", plain), *more]
    bound = [f"{each.name}://127.0.0.1:{each.port}" for each in own]
    yield "listeners=" + ",".join([*bound, f"CONTROLLER://127.0.0.1:{controller}"])
    yield "advertised.listeners=" + ",".join(
        f"{each.name}://{each.host}:{each.advertised or each.port}" for each in own
    )
    protocols = [f"{each.name}:{each.protocol}" for each in own]
    yield "listener.security.protocol.map=" + ",".join([*protocols, "CONTROLLER:PLAINTEXT"])
    for each in more:
        yield from each.lines()


def missing_kafka() -> str | None:
    """Why no Kafka can run here, and what to do; None where one can."""
    if not shutil.which("java"):
        return "Apache Kafka needs Java 17: there is no `java`"
    if next(JARS.glob("kafka_2.13-*.jar"), None) is None:
        return "Apache Kafka is not there: `make kafka` (needs Maven)"
    return None


def require_kafka() -> None:
    """Skip the test where no Kafka can run, and fail it in CI."""
    reason = missing_kafka()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Broker(ServerProcess):
    """One node; its port and its data outlive a restart. It is its own context manager."""

    def __init__(
        self,
        folder: Path,
        *,
        heap: str = "384m",
        quick: bool = True,
        listeners: Sequence[Listener] = (),
        scram_users: Mapping[str, str] | None = None,
    ) -> None:
        """`folder` takes its data and its log; `quick` starts sooner and runs slower, which benchmarks do not want.

        `scram_users` are the passwords of users whom SCRAM lets in.
        """
        self.folder = folder
        self.port, controller = free_ports(2)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._properties = folder / "server.properties"
        self._java = ["java", f"-Xmx{heap}", "-cp", f"{JARS}/*"]
        if quick:
            self._java[1:1] = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(_listeners(self.port, controller, listeners))
        own = _PROPERTIES.format(controller=controller, data=folder / "data", session=_SESSION_MS[quick])
        self._properties.write_text(f"{own}{lines}\n", encoding="utf-8")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        known = [
            part
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for user, password in (scram_users or {}).items()
            for part in ("--add-scram", f"{mechanism}=[name={user},password={password}]")
        ]
        self._run("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(self._properties), *known)

    def start(self) -> None:
        """Start, and wait until it answers."""
        with (self.folder / "broker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._java, "kafka.Kafka", str(self._properties)], stdout=log, stderr=subprocess.STDOUT
            )
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                if admin.list_topics(timeout=1).brokers:
                    return
            except KafkaException:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise AssertionError((self.folder / "broker.log").read_text()[-4000:]) from None
            time.sleep(0.1)

    def memory_bytes(self) -> int:
        """Its resident memory."""
        assert self._process is not None
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def _run(self, *arguments: str) -> None:
        done = subprocess.run([*self._java, *arguments], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        with closing(each):
            pass
    return ports


@contextmanager
def left_behind() -> Iterator[None]:
    """Let the connections of clients that were cut short be collected here, where they are expected.

    A client whose brokers are away does not end by itself; its sockets close when nobody holds it any longer. Use this
    with `LEFT_BEHIND`, which keeps what Python says of that from failing the test.
    """
    yield
    gc.collect()


LEFT_BEHIND: Final = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def new_prefix() -> str:
    """A topic prefix that nobody else uses."""
    return f"t{uuid.uuid4().hex[:12]}."
