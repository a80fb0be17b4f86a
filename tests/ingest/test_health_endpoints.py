"""Health is true over HTTP: alive while nothing hangs, ready with reasons, metrics by the rules, no rebinding."""

import asyncio
import json
import logging
import socket
from collections import Counter

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from adapters.contract import Rejected
from ingest.endpoints import HttpServer, PortInUseError, application, is_loopback, listen, url_of
from ingest.health import IDLE_AFTER_SECONDS, Activity, Health, SourceHealth, SourceState
from ingest.log.contract import GroupStatus, LogError, LogStatus, Record, Topic
from ingest.metrics import MAX_REASONS, Metrics
from ingest.packing import pack
from tests.support.daemon import fetch
from tests.support.sources import heard


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def health():
    return Health(log_open=True)


def ask(health, path, *, host=None, metrics=None, routes=(), only_local=True, names=()):
    """Serve, ask once, stop; gives status and body."""

    async def run():
        bound = listen("127.0.0.1", 0)
        server = HttpServer(
            application(health, metrics or Metrics(), routes, only_local=only_local, names=names), bound
        )
        server.start()
        try:
            return await asyncio.to_thread(fetch, url_of(bound) + path, host)
        finally:
            await server.stop()

    return asyncio.run(run())


def test_alive_while_nothing_hangs(health):
    assert ask(health, "/healthz") == (200, '{"status":"ok","reasons":[]}')


def test_a_step_that_hangs_is_named():
    clock = Clock()
    health = Health(activity=Activity(clock), log_open=True)
    with health.activity.doing("appending pi"):
        clock.now += 500
        status, body = ask(health, "/healthz")
    assert (status, json.loads(body)["reasons"]) == (503, ["appending pi for 500 s"])
    assert ask(health, "/healthz")[0] == 200


def test_readiness_gives_its_reasons():
    health = Health(problems={"processors": "disk full"}, sources={"pi": SourceHealth("pi")})
    status, body = ask(health, "/readyz")
    assert status == 503
    assert json.loads(body)["reasons"] == [
        "the log is not open",
        "processors: disk full",
        "source pi: first sweep not done",
    ]


def test_ready_when_every_source_was_swept(health):
    health.sources["pi"] = source = SourceHealth("pi")
    source.asked()
    source.caught_up()
    status, body = ask(health, "/readyz")
    assert status == 200
    assert json.loads(body)["sources"]["pi"]["state"] == "running"


def test_stopping_is_not_ready(health):
    health.stopping = True
    assert health.not_ready() == ["stopping"]


def test_a_source_that_is_asked_and_gives_nothing_is_idle_and_swept():
    clock = Clock()
    source = SourceHealth("pi", clock)
    source.asked()
    assert (source.state, source.swept) == (SourceState.RUNNING, False)
    clock.now += IDLE_AFTER_SECONDS
    assert (source.state, source.swept) == (SourceState.IDLE, True)
    source.turn(SourceState.BACKING_OFF, "why")
    assert (source.state, source.swept, source.up, source.last_error) == (SourceState.BACKING_OFF, True, False, "why")


def test_a_source_that_says_so_is_swept_at_once():
    """An empty capture says that nothing more is there for now (`adapters.contract.Capture`)."""
    source = SourceHealth("pi", Clock())
    source.asked()
    source.caught_up()
    assert (source.state, source.swept) == (SourceState.RUNNING, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8917", "127.0.0.1.evil.example"])
def test_a_foreign_host_name_is_refused_on_loopback(health, host):
    """A page of the web must not read it through a name that resolves here."""
    assert ask(health, "/metrics", host=host)[0] == 421
    assert ask(health, "/healthz", host=host, only_local=False)[0] == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:99", "[::1]:5", "[::1]"])
def test_names_of_loopback_are_served(health, host):
    assert ask(health, "/healthz", host=host)[0] == 200


def test_other_parts_bring_their_routes(health):
    """The seam for webhooks and pages."""

    async def hello(_):
        return PlainTextResponse("hello")

    assert ask(health, "/hook", routes=[Route("/hook", hello)]) == (200, "hello")


@pytest.mark.parametrize("only_local", [True, False])
def test_the_names_of_a_proxy_reach_the_routes_of_sources_and_nothing_else(health, only_local):
    """What is passed on from outside proves itself at its route; health and metrics are not for everybody."""

    async def hello(_):
        return PlainTextResponse("hello")

    more = {"routes": [Route("/hook", hello)], "names": ["hooks.example.org"], "only_local": only_local}
    assert ask(health, "/hook", host="Hooks.example.org:443", **more) == (200, "hello")
    assert ask(health, "/metrics", host="hooks.example.org", **more)[0] == 404
    assert ask(health, "/hook", host="other.example.org", **more)[0] == (421 if only_local else 200)
    assert ask(health, "/hook", **more)[0] == 200


def test_a_port_in_use_is_said_with_what_to_do():
    refused = pytest.raises(PortInUseError, match=r"Address already in use; set http\.port")
    with listen("127.0.0.1", 0) as bound, refused:
        listen("127.0.0.1", bound.getsockname()[1])


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("192.0.2.1", False), ("::", False),
    ("example.org", False),
])  # fmt: skip
def test_what_counts_as_loopback(host, local):
    assert is_loopback(host) is local


def test_an_ipv6_address_is_written_in_brackets():
    with socket.socket(socket.AF_INET6) as bound:
        try:
            bound.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 loopback here")
        assert url_of(bound).startswith("http://[::1]:")


class StandingLog:
    """A log with one group that is three records behind."""

    def status(self):
        group = GroupStatus("normalize", Topic.CAPTURED, 4, 7, 3, {"emitted": 9}, None)
        return LogStatus([], [], [group], 4096)

    def read(self, topic, after, limit, max_bytes, partition=0):
        return [Record(topic, after + 1, "k", b"", 0)]


class BrokenLog:
    def status(self):
        raise LogError("disk full")


def test_while_the_log_cannot_be_read_its_gauges_are_missing_and_the_others_there(health):
    metrics = Metrics()
    health.sources["pi"] = SourceHealth("pi")
    metrics.watch(health, BrokenLog())
    status, body = ask(health, "/metrics", metrics=metrics)
    assert status == 200
    assert 'ingest_source_up{source="pi"} 1.0' in body
    assert "ingest_log_bytes" not in body


def test_metrics_hold_what_was_counted_and_follow_the_naming_rules(health):
    metrics = Metrics()
    health.sources["pi"] = SourceHealth("pi")
    health.sources["pi"].committed(Counter(emitted=1))
    metrics.watch(health, StandingLog())
    metrics.published("pi", pack([heard(1), Rejected("f", "bad-json")], "pi", lambda: "now"))
    status, body = ask(health, "/metrics", metrics=metrics)
    assert status == 200
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }
    assert samples["ingest_events_published_total", (("source", "pi"), ("topic", "conversations.captured"))] == 1
    assert samples["ingest_events_dead_lettered_total", (("reason", "bad-json"), ("source", "pi"))] == 1
    assert samples["ingest_source_up", (("source", "pi"),)] == 1
    assert samples["ingest_log_bytes", ()] == 4096
    lag = (("partition", "0"), ("processor", "normalize"), ("topic", "conversations.captured"))
    assert samples["processor_lag_messages", lag] == 3
    assert samples["processor_lag_seconds", lag[1:]] > 1_000_000
    assert samples["processor_events_total", (("outcome", "emitted"), ("processor", "normalize"))] == 9
    assert all(name.startswith(("ingest_", "processor_", "process_")) for name, _ in samples)
    assert any(name == "ingest_build_info" for name, _ in samples)


def test_labels_stay_few_whatever_an_adapter_says():
    metrics = Metrics()
    elements = [Rejected("f", f"reason-{number}") for number in range(MAX_REASONS + 50)]
    metrics.published("s", pack(elements, "s", lambda: "now"))
    reasons = {
        sample.labels["reason"]
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "ingest_events_dead_lettered_total"
    }
    assert len(reasons) == MAX_REASONS + 1
    value = metrics.registry.get_sample_value("ingest_events_dead_lettered_total", {"source": "s", "reason": "other"})
    assert value == 50


def test_a_stop_does_not_wait_for_a_client_that_keeps_its_connection(health):
    async def run():
        bound = listen("127.0.0.1", 0)
        server = HttpServer(application(health, Metrics(), only_local=True), bound)
        server.start()
        _, writer = await asyncio.open_connection(*bound.getsockname())
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.05)
        async with asyncio.timeout(8):
            await server.stop()
        writer.close()
        return True

    logging.getLogger("uvicorn.error").setLevel("CRITICAL")
    assert asyncio.run(run())
