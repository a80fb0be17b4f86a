"""An update that is sent to the daemon is answered with 2xx once it is in the log, and only its sender is heard."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from adapters.chat.telegram_webhook import TelegramWebhook
from adapters.contract import Finding
from ingest.health import SourceState
from ingest.log.contract import LogError
from schemas.captured import decode_record
from tests.support.fake_botapi import TOKEN, FakeBotApi
from tests.support.messengers import case
from tests.support.served import Answer, Served
from tests.support.sources import MemoryLog, until
from tests.support.telegram import update

SECRET = "a-secret-of-enough-characters"  # noqa: S105 - of a server that lives for one test
HEADER = "X-Telegram-Bot-Api-Secret-Token"
PATH = "/v1/telegram/ops"


@pytest.fixture
def server() -> Iterator[FakeBotApi]:
    with FakeBotApi() as fake:
        yield fake


def hook(server: FakeBotApi, secret: str = SECRET) -> TelegramWebhook:
    return TelegramWebhook("telegram.ops", "ops", lambda: TOKEN, lambda: secret, frozenset({99}), server.url)


def run(server: FakeBotApi, work: Callable[[Served], Awaitable[Any]], log: MemoryLog | None = None) -> Served:
    """Serve while `work` lasts."""

    async def serve() -> Served:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(32))  # as the daemon does
        async with Served([hook(server)], log or MemoryLog()) as served:
            await work(served)
        return served

    return asyncio.run(serve())


async def send(served: Served, body: object, secret: str | None = SECRET) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await served.send(PATH, raw, {} if secret is None else {HEADER: secret})


def texts(log: MemoryLog) -> list[str]:
    records = [decode_record(record.value) for record in log.records if record.topic.endswith("captured")]
    return [event.text for record in records for event in record.events]


def test_what_is_sent_is_in_the_log_when_it_is_answered(server) -> None:
    """One after another, as the server sends them; nothing is left at the server, and the answer calls no method."""
    server.queue += [update(number, text=f"t{number}") for number in range(1, 21)]

    async def work(served: Served) -> None:
        answers = await asyncio.to_thread(server.push, served.url + PATH, SECRET)
        assert answers == [200] * 20
        assert (await send(served, update(21, text="t21"))).body == ""

    served = run(server, work)
    assert texts(served.log) == [f"t{number}" for number in range(1, 22)]
    assert server.pending == []


def test_a_log_that_refuses_keeps_it_at_the_server(server) -> None:
    """No 2xx before the commit: the server repeats it, under the same id."""
    log = MemoryLog(refusals=[LogError("disk full")] * 3)

    async def work(served: Served) -> None:
        waiting = asyncio.create_task(send(served, update(1)))
        await until(lambda: "refused" in log.journal)
        assert not waiting.done()
        assert (await waiting).status == 200

    run(server, work, log)
    assert log.journal[-1] == "appended"
    assert texts(log) == ["words"]


def test_a_source_that_stops_answers_that_it_must_come_again(server) -> None:
    log = MemoryLog(refusals=[LogError("disk full")] * 100_000)

    async def serve() -> Answer:
        async with Served([hook(server)], log) as served:
            waiting = asyncio.create_task(send(served, update(1)))
            await until(lambda: "refused" in log.journal)
            await served.capturing.stop()
            answer = await waiting
            assert (await send(served, update(1))).status == 503
            return answer

    assert asyncio.run(serve()).status == 503
    assert log.records == []


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET[:-1], SECRET + "x", "ä" * 20])
def test_nobody_else_is_read(server, secret) -> None:
    async def work(served: Served) -> None:
        presented = secret if secret is None else secret.encode().decode("latin-1")
        assert (await send(served, update(1), presented)).status == 401

    assert run(server, work).log.records == []


def test_a_poisoned_update_is_kept_and_answered(server) -> None:
    """Case 05: refusing it would bring it back for ever."""

    async def work(served: Served) -> None:
        for each in (*json.loads(case(5))["result"], b"{", b"[1]", b"\xff", b""):
            assert (await send(served, each)).status == 200

    log = run(server, work).log
    assert texts(log) == ["before", "after", "[holographic_call]"]
    assert (log.counts["rejected:no-date"], log.counts["rejected"]) == (1, 5)


def test_too_large_a_body_is_refused(server) -> None:
    async def work(served: Served) -> None:
        assert (await send(served, b'{"update_id": 1, "message": "' + b"x" * 1_100_000 + b'"}')).status == 413

    assert run(server, work).log.records == []


def test_parallel_repeats_have_one_id(server) -> None:
    """A handler that is slow is sent the same again, beside the first."""

    async def work(served: Served) -> None:
        answers = await asyncio.gather(*(send(served, update(1 + n % 4, text=f"t{n % 4}")) for n in range(24)))
        assert {answer.status for answer in answers} <= {200, 503}

    log = run(server, work).log
    events = {
        (event.id, event.text)
        for record in log.records
        for event in decode_record(record.value).events
    }  # fmt: skip
    assert sorted(text for _, text in events) == ["t0", "t1", "t2", "t3"]


def test_the_owner_of_a_business_account_is_asked_for_and_remembered(server) -> None:
    """The first delivery of an unknown connection is sent again; nobody's thread waits for the answer."""
    server.connections["bc1"] = 55
    chat = {"id": 7, "type": "private"}
    body = update(1, "business_message", chat=chat, business_connection_id="bc1", **{"from": {"id": 55}})

    async def work(served: Served) -> None:
        assert [(await send(served, body)).status for _ in range(3)] == [503, 200, 200]

    log = run(server, work).log
    record = decode_record(log.records[0].value)
    assert (record.thread.account, record.events[0].role) == ("ops/business/55", "self")
    assert json.loads(log.points["connections"])["pairs"] == [["bc1", 55]]
    assert [method for method, _ in server.requests].count("getbusinessconnection") == 1


def test_an_owner_that_cannot_be_asked_for_is_waited_for(server) -> None:
    """Guessing would give ids that change once the server answers again."""
    body = update(1, "business_message", chat={"id": 7}, business_connection_id="bc1")

    async def work(served: Served) -> None:
        server.failing.add("getbusinessconnection")
        assert [(await send(served, body)).status for _ in range(2)] == [503, 503]
        server.failing.clear()
        server.connections["bc1"] = 55
        assert [(await send(served, body)).status for _ in range(2)] == [503, 200]

    assert texts(run(server, work).log) == ["words"]


def test_an_owner_whom_the_server_does_not_know_is_not_waited_for(server) -> None:
    body = update(1, "business_message", chat={"id": 7}, business_connection_id="gone")

    async def work(served: Served) -> None:
        assert [(await send(served, body)).status for _ in range(3)] == [503, 200, 200]

    record = decode_record(run(server, work).log.records[0].value)
    assert record.thread.account == "ops/business/gone"


def test_what_a_refused_delivery_told_is_remembered_with_the_next(server) -> None:
    """Checkpoints that did not land are given again."""
    log = MemoryLog()

    async def work(served: Served) -> None:
        served.capturing._followers[0].adapter.inbox.answer_seconds = 0.05
        log.refusals += [LogError("busy")] * 8
        connected = {"id": "bc1", "user": {"id": 55}, "user_chat_id": 55, "date": 1700000000, "is_enabled": True}
        assert (await send(served, update(1, "business_connection", connected))).status == 503
        await until(lambda: not log.refusals)
        log.points.pop("connections", None)  # as if the delivery had been dropped before it was appended
        served.capturing._followers[0].adapter.inbox.answer_seconds = 5
        assert (await send(served, update(2))).status == 200

    run(server, work, log)
    assert json.loads(log.points["connections"])["pairs"] == [["bc1", 55]]


def test_no_offset_is_kept(server) -> None:
    """Deliveries overtake each other: polling must begin at what is there, should somebody change to it."""

    async def work(served: Served) -> None:
        assert (await send(served, update(900))).status == 200

    assert json.loads(run(server, work).log.points["position"])["offset"] == 0


@pytest.mark.parametrize("secret", ["", "short", "with spaces in its words", "with/slash/in/the/middle"])
def test_a_secret_that_can_be_guessed_is_refused(server, secret) -> None:
    async def serve() -> str:
        log = MemoryLog()
        served = Served([hook(server, secret)], log)
        task = asyncio.create_task(served.__aenter__())
        await until(lambda: hasattr(served, "capturing") and served.health.sources)
        await until(lambda: served.health.sources["telegram.ops"].state is SourceState.FAILED)
        assert (await send(served, update(1), secret)).status == 503
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await served.__aexit__()
        return str(served.health.sources["telegram.ops"].last_error)

    assert "must have at least 16" in asyncio.run(serve())


def check(server: FakeBotApi) -> list[Finding]:
    return asyncio.run(hook(server).check())


def test_a_check_names_what_stands_in_the_way(server) -> None:
    assert check(server)[-1].what == "no webhook is set, so that nothing comes"
    server.webhook |= {"url": "https://example.test/v1/telegram/other?key=x", "last_error_date": 1700000000,
                       "last_error_message": "Connection refused", "allowed_updates": ["message"]}  # fmt: skip
    found = [(each.level, each.what) for each in check(server)[-5:]]
    assert found[0] == ("ok", "updates are sent to example.test")
    assert found[1] == ("warning", f"they are sent to /v1/telegram/other, which is not this source's {PATH}")
    assert found[2] == ("warning", "the last delivery failed at 2023-11-14T22:13:20+00:00: Connection refused")
    assert found[3][1].startswith("several deliveries come at once")
    assert "edited_message" in found[4][1]
