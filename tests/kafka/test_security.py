"""Brokers with TLS and SASL for real: right credentials work everywhere, wrong ones are named and cost no secret."""

import json
import time
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from tests.support.daemon import Home, eventually, fetch, session_file
from tests.support.kafka import require_kafka
from tests.support.secure_kafka import MECHANISMS, PASSWORD, USER, secure_broker, unsigned_token
from tests.support.worker import settings_of
from tests.support.worker_outcome import read_all

pytestmark = pytest.mark.timeout(400)

PARTITIONS = 2
WRONG = "not-the-s3cret"
QUICK = ("SCRAM-SHA-512", "OAUTHBEARER")
"""Mechanisms that are tried each time: the strongest with a password, and the one without; all are in the soak."""


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    require_kafka()
    with secure_broker(tmp_path_factory.mktemp("secure")) as node:
        yield node


@pytest.fixture
def home_with(secure, prefix, tmp_path):
    """Make a home whose daemon has these settings of Kafka."""
    homes = []

    def make(port: int, **settings: object) -> Home:
        told = {
            "bootstrap_servers": f"localhost:{port}",
            "topic_prefix": prefix,
            "partitions": PARTITIONS,
            "ca_file": secure.ca.cert,
            **settings,
        }
        variables = {f"SESSION_INGEST__KAFKA__{name.upper()}": str(value) for name, value in told.items()}
        homes.append(Home(tmp_path / f"home-{len(homes)}", {"SESSION_INGEST__ENGINE": "kafka", **variables}))
        return homes[-1]

    yield make
    for home in homes:
        home.close()


def credentials(mechanism: str, folder: Path, secret: str | None = None) -> dict[str, object]:
    """Settings of one who logs in so; `secret` takes the place of the right password or token."""
    told: dict[str, object] = {"security_protocol": "SASL_SSL", "sasl_mechanism": mechanism}
    file = folder / "secret"
    if mechanism == "OAUTHBEARER":
        file.write_text(secret or unsigned_token(USER))
        return {**told, "oauth_token_file": file}
    file.write_text(secret or PASSWORD)
    return {**told, "username": USER, "password_file": file}


def must_work(home: Home, secure, prefix: str) -> None:
    """Topics are made, captured records and events come through, and status tells of them."""
    made = home.command("topics", "--create")
    assert made.returncode == 0, made.stderr
    session = session_file(home, 1)
    session.append(5)
    home.start("--only", "capture", "--only", "process")
    open_settings = settings_of(secure.broker.bootstrap, prefix, PARTITIONS)
    eventually(lambda: len(read_all(open_settings, Topic.EVENTS)) == 5, 120)
    status = home.command("status", "--json")
    assert status.returncode == 0, status.stderr
    told = json.loads(status.stdout)
    assert told["log"]["records"][Topic.EVENTS] >= 5
    assert [view["name"] for view in told["processors"]].count("process") == 1
    home.stop(seconds=20)


@pytest.mark.parametrize(
    "mechanism", [pytest.param(each, marks=[] if each in QUICK else pytest.mark.soak) for each in MECHANISMS]
)
def test_right_credentials_work_for_capture_workers_topics_and_status(secure, home_with, prefix, tmp_path, mechanism):
    home = home_with(secure.sasl_port, **credentials(mechanism, tmp_path))
    must_work(home, secure, prefix)
    assert PASSWORD not in home.errors()


def test_a_certificate_of_the_clients_own_works_as_well(secure, home_with, prefix):
    client = {"cert_file": secure.client.cert, "key_file": secure.client.key}
    must_work(home_with(secure.mutual_port, security_protocol="SSL", **client), secure, prefix)


def refused(secure, home_with, folder: Path, case: str) -> tuple[Home, str]:
    """A home that brokers refuse, and what a person must be told."""
    kind, _, mechanism = case.partition(" ")
    match kind:
        case "password":
            home = home_with(secure.sasl_port, **credentials(mechanism, folder, WRONG))
            return home, "refuses this user"
        case "authority":
            stranger = {"ca_file": secure.stranger.cert}
            return home_with(secure.sasl_port, **credentials("PLAIN", folder), **stranger), "check kafka.ca_file"
        case "name":
            return home_with(secure.misnamed_port, **credentials("PLAIN", folder)), "named as in their certificates"
        case "certificate":
            return home_with(secure.mutual_port, security_protocol="SSL"), "kafka.cert_file and kafka.key_file"
        case "token":
            home = home_with(secure.sasl_port, **credentials("OAUTHBEARER", folder))
            (folder / "secret").unlink()
            return home, "secret: No such file"
    raise AssertionError(case)


@pytest.mark.parametrize(
    "case", ["password SCRAM-SHA-256", "password OAUTHBEARER", "authority", "name", "certificate", "token"]
)
def test_topics_names_what_is_wrong_and_ends(secure, home_with, tmp_path, case):
    home, words = refused(secure, home_with, tmp_path, case)
    topics = home.command("topics")
    assert topics.returncode == 1
    assert words in topics.stderr
    must_hide_secrets(topics.stdout + topics.stderr)


def test_status_names_what_is_wrong(secure, home_with, tmp_path):
    home, words = refused(secure, home_with, tmp_path, "password PLAIN")
    status = home.command("status")
    assert status.returncode == 1
    assert words in status.stdout
    must_hide_secrets(status.stdout + status.stderr)


@pytest.mark.parametrize("case", ["password SCRAM-SHA-512", pytest.param("authority", marks=pytest.mark.soak)])
def test_a_daemon_says_so_waits_and_goes_on_once_it_is_mended(secure, home_with, prefix, tmp_path, case):
    """It neither ends nor tries without a pause; a secret in a file needs no restart."""
    home, words = refused(secure, home_with, tmp_path, case)
    session = session_file(home, 1)
    session.append(3)
    home.start(wait=False)
    eventually(lambda: home.url, 120)
    told = eventually(lambda: (body := fetch(f"{home.url}/readyz")[1]).count(words) and body, 120)
    time.sleep(3)
    assert home.process.poll() is None
    if case.startswith("password"):
        right = home_with(secure.sasl_port, **credentials("SCRAM-SHA-512", tmp_path))
        assert right.command("topics", "--create").returncode == 0
        open_settings = settings_of(secure.broker.bootstrap, prefix, PARTITIONS)
        eventually(lambda: len(read_all(open_settings, Topic.EVENTS)) == 3, 120)
    home.stop(seconds=20)
    must_hide_secrets(told + home.errors())
    assert "Traceback" not in home.errors()


def must_hide_secrets(said: str) -> None:
    assert WRONG not in said
    assert PASSWORD not in said
    assert unsigned_token(USER)[:40] not in said
