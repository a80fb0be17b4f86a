"""What all webhooks share: a body within bounds, and a parser's surprise that costs one body and not the source."""

import asyncio

import msgspec
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from adapters.chat.inbox import Inbox
from adapters.chat.receive import answering, receive
from adapters.chat.refusal import Refusal
from adapters.contract import Capture
from ingest.log.contract import Topic
from schemas.captured import RejectedRecord
from tests.support.served import Served
from tests.support.sources import heard, ids_of


class Hook:
    """A source whose route reads with `read`."""

    def __init__(self, read, **more):
        self.name = "hook"
        self.inbox = Inbox()
        self._read = read
        self._more = more

    def captures(self, checkpoints):
        return self.inbox.captures()

    def routes(self):
        async def post(request):
            await receive(request, self.inbox, self._read, **self._more)
            return PlainTextResponse("ok")

        return [Route("/hook", answering(post), methods=["POST"])]


def post(raw: bytes, read, headers=None, **more):
    async def run():
        async with Served([Hook(read, **more)]) as served:
            answer = await served.send("/hook", raw, headers)
            return answer, served

    return asyncio.run(run())


def test_the_raw_bytes_reach_the_reader_as_they_were_sent():
    """Signatures are made over them."""
    seen = []

    def read(raw: bytes) -> Capture:
        seen.append(raw)
        return Capture([heard(1)])

    raw = b'{"caf\\u00e9" : "\xc3\xa9"}\r\n'
    answer, served = post(raw, read)
    assert (answer.status, seen, ids_of(served.log.records)) == (200, [raw], ["1"])


def test_what_nobody_foresaw_rejects_the_body_and_is_answered():
    """Else its sender would repeat it for ever, and nothing behind it would come."""

    def read(raw: bytes) -> Capture:
        raise KeyError("surprise")

    answer, served = post(b"poison", read)
    assert answer.status == 200
    (record,) = served.log.records
    assert record.topic is Topic.REJECTED
    assert served.log.counts["rejected:parser-failed"] == 1
    assert served.health.sources["hook"].restarts == 0
    rejected = msgspec.json.decode(record.value, type=RejectedRecord)
    assert (rejected.sample, rejected.detail) == (b"poison", "KeyError: 'surprise'")


def test_a_reader_may_refuse_a_body_that_is_none():
    def read(raw: bytes) -> Capture:
        raise Refusal(400, "no JSON")

    answer, served = post(b"<xml>", read)
    assert (answer.status, answer.body, served.log.records) == (400, {"error": "no JSON"}, [])


@pytest.mark.parametrize(("size", "status"), [(100, 200), (101, 413)])
def test_the_limit_is_the_routes_own(size, status):
    answer, _ = post(b"x" * size, lambda raw: Capture([heard(1)]), max_bytes=100)
    assert answer.status == status


@pytest.mark.parametrize("length", ["-1", "x", "9" * 400])
def test_a_length_that_is_nonsense_stops_nothing(length):
    """Whatever the server makes of it, the next request is answered."""

    async def run():
        async with Served([Hook(lambda raw: Capture([heard(1)]))]) as served:
            host, port = served.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(f"POST /hook HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\nx".encode())
            writer.write_eof()
            status = await reader.readline()
            writer.close()
            return status, await served.send("/hook", b"x")

    status, answer = asyncio.run(run())
    assert b" 4" in status
    assert answer.status == 200


def test_a_sender_that_hangs_up_leaves_no_trace():
    async def run():
        async with Served([Hook(lambda raw: Capture([heard(1)]))]) as served:
            host, port = served.url.removeprefix("http://").split(":")
            for _ in range(5):
                _, writer = await asyncio.open_connection(host, int(port))
                writer.write(f"POST /hook HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\nhalf".encode())
                await writer.drain()
                writer.close()
                await writer.wait_closed()
            answer = await served.send("/hook", b"x")
            async with asyncio.timeout(10):
                while served.adapters[0].inbox.stats().deliveries:  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0.01)
            return answer, served

    answer, served = asyncio.run(run())
    assert (answer.status, len(served.log.records)) == (200, 1)


def test_metrics_tell_of_the_inbox():
    async def run():
        hook = Hook(lambda raw: Capture([heard(1)]))
        hook.inbox.max_deliveries = 0
        async with Served([hook]) as served:
            served.metrics.watch(served.health, served.log)
            assert (await served.send("/hook", b"x")).status == 503
            return served.metrics.registry.get_sample_value

    value = asyncio.run(run())
    assert value("ingest_inbox_refused_total", {"source": "hook", "reason": "full"}) == 1
    assert value("ingest_inbox_deliveries", {"source": "hook"}) == 0
