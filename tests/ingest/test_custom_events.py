"""`POST /v1/events`: who has the token may send canonical events, and 2xx says that they are in the log.

The same event gets the same answer, however often, in whatever order and in whatever company it comes.
"""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat import receive
from adapters.chat.custom import MAX_EVENTS, MIN_TOKEN_CHARS, CustomAdapter, _answer
from adapters.contract import Heard, PermanentSourceError
from ingest.log.contract import LogError, Topic
from ingest.packing import pack
from tests.support.served import Served
from tests.support.sources import ids_of, until

TOKEN = "a-token-of-enough-characters"  # noqa: S105 - of a server that lives for one test
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}


def event(number: int | str, text: str = "words", **source: str) -> dict:
    return {
        "schemaVersion": "1.0",
        "source": {"provider": "mine", "providerAccountKey": "mine", "threadId": "t", **source},
        "event": {
            "id": str(number), "type": "message", "timestampIso": "2026-01-31T12:00:00.000Z", "role": "user",
            "text": text,
        },
    }  # fmt: skip


def body(*events: dict) -> bytes:
    return json.dumps(events).encode()


def door(name: str = "custom.main", token: str = TOKEN, **more) -> CustomAdapter:
    return CustomAdapter(name, lambda: token, **more)


def posts(*requests, adapters=None, log=None, path="/v1/events"):
    """Send one request after the other; gives the answers and the log."""

    async def run():
        async with Served(adapters or [door()], **({"log": log} if log else {})) as served:
            answers = [await served.send(path, each, headers, *method) for each, headers, *method in requests]
        return answers, served.log

    return asyncio.run(run())


def post(raw: bytes, headers=AUTHORISED, **more):
    answers, log = posts((raw, headers), **more)
    return answers[0], log


def captured(log):
    return [record for record in log.records if record.topic is Topic.CAPTURED]


def test_what_is_accepted_is_in_the_log_and_named_in_the_answer():
    answer, log = post(body(event(1), event(2)))
    assert answer.status == 200
    assert answer.body == {
        "accepted": 2, "skipped": 0, "rejected": 0,
        "events": [{"outcome": "accepted", "id": "1"}, {"outcome": "accepted", "id": "2"}],
    }  # fmt: skip
    assert ids_of(captured(log)) == ["1", "2"]


@pytest.mark.parametrize("raw", [
    json.dumps(event(1)).encode(),
    json.dumps(event(1), indent=2).encode(),
    b"\xef\xbb\xbf" + json.dumps(event(1)).encode(),
    json.dumps({"events": [event(1)]}).encode(),
    json.dumps(event(1)).encode() + b"\r\n\r\n",
], ids=["object", "pretty", "bom", "wrapped", "line"])  # fmt: skip
def test_a_body_may_have_any_form_that_a_file_of_canonical_events_has(raw):
    answer, log = post(raw)
    assert (answer.status, ids_of(captured(log))) == (200, ["1"])


def test_the_answer_is_the_same_for_a_repeat_in_other_company_and_order():
    """Idempotence does not depend on what the log holds already."""
    answers, _ = posts(
        (body(event(1), event(2)), AUTHORISED), (body(event(2), event(1)), AUTHORISED), (body(event(1)), AUTHORISED)
    )
    assert [answer.status for answer in answers] == [200] * 3
    first, second, third = (answer.body["events"] for answer in answers)
    assert first == second[::-1]
    assert third == first[:1]


def test_an_event_without_id_gets_the_same_one_whenever_it_comes():
    flat = {"role": "user", "text": "words", "timestamp": "2026-01-31T12:00:00Z"}
    answers, _ = posts((body(flat), AUTHORISED), (body(event(1), flat), AUTHORISED))
    assert answers[0].body["events"][0] == answers[1].body["events"][1]


def test_one_bad_element_costs_only_itself_and_is_named_with_its_place():
    lines = [json.dumps(event(1)), '{"broken', "7", json.dumps(event(2, "  ")), json.dumps(event(3))]
    answer, log = post("\n".join(lines).encode())
    assert answer.status == 200
    outcomes = answer.body["events"]
    assert [each["outcome"] for each in outcomes] == ["accepted", "rejected", "rejected", "skipped", "accepted"]
    assert [each["reason"] for each in outcomes[1:3]] == ["invalid-json", "not-an-object"]
    assert outcomes[1]["where"] == f"body: byte {len(lines[0]) + 1}"
    assert outcomes[3]["what"] == "message without words"
    assert ids_of(captured(log)) == ["1", "3"]
    assert len(log.records) == len(captured(log)) + 2, "what was rejected is kept, too"


def test_a_body_of_which_nothing_can_be_read_is_refused_for_good():
    """422: the sender must not repeat it; what it was stands in conversations.rejected."""
    answer, log = post(b"<html>")
    assert (answer.status, answer.body["rejected"]) == (422, 1)
    assert [record.topic for record in log.records] == [Topic.REJECTED]


def test_an_empty_body_is_a_greeting():
    for raw in (b"", b"[]", b"\n"):
        answer, log = post(raw)
        assert (answer.status, answer.body["accepted"], log.records) == (200, 0, [])


@pytest.mark.parametrize("headers", [
    {},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer  "},
    {"Authorization": f"Basic {TOKEN}"},
    {"Authorization": f"Bearer {TOKEN}x"},
    {"Authorization": f"Bearer {TOKEN[:-1]}"},
    {"Authorization": "Bearer \xe9\xff"},
    {"X-Token": TOKEN},
])  # fmt: skip
def test_without_the_token_nothing_is_read(headers):
    answer, log = post(body(event(1)), headers)
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert TOKEN not in str(answer.body)
    assert log.records == []


def test_the_scheme_knows_no_case():
    answer, _ = post(body(event(1)), {"Authorization": f"bEARER {TOKEN}"})
    assert answer.status == 200


def test_the_token_says_which_source_it_is_for():
    doors = [door("custom.a", "a" * MIN_TOKEN_CHARS), door("custom.b", "b" * MIN_TOKEN_CHARS, account="team")]
    answer, log = post(body(event(1)), {"Authorization": "Bearer " + "b" * MIN_TOKEN_CHARS}, adapters=doors)
    assert answer.status == 200
    assert [record.key for record in log.records] == ["mine/team/t"]


def test_a_token_that_can_be_guessed_is_none():
    async def run():
        adapter = door("custom.main", "short")
        with pytest.raises(PermanentSourceError, match="5 characters and can be guessed"):
            await anext(adapter.captures({}))
        return await adapter.check()

    (finding,) = asyncio.run(run())
    assert finding.level == "problem"
    assert "short" not in finding.what


def test_other_methods_and_paths_are_not_there():
    answers, _ = posts((None, AUTHORISED, "GET"), (b"", AUTHORISED, "PUT"))
    assert [answer.status for answer in answers] == [405, 405]
    assert post(b"", path="/v1/events/x")[0].status == 404


def test_without_such_a_source_there_is_no_route():
    async def run():
        async with Served([]) as served:
            return await served.send("/v1/events", b"[]", AUTHORISED)

    assert asyncio.run(run()).status == 404


def test_a_body_above_the_limit_is_refused_and_leaves_nothing():
    raw = body(event(1, "x" * 5_000_000))
    answer, log = post(raw)
    assert (answer.status, log.records) == (413, [])
    assert "4,194,304 bytes" in answer.body["error"]


def test_a_body_of_unknown_length_is_bounded_as_well():
    """Chunked: the length is not declared, so it is counted."""

    async def run():
        async with Served([door()]) as served:
            host, port = served.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            head = f"POST /v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
            writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
            for _ in range(80):
                writer.write(chunk)
            await writer.drain()
            status = await reader.readline()
            writer.close()
            return status, served.adapters[0].inbox.stats()

    status, stats = asyncio.run(run())
    assert b" 413 " in status
    assert (stats.deliveries, stats.bytes) == (0, 0)


def test_a_sender_without_a_token_reads_why_though_its_body_is_large():
    """Its body is thrown away, not cut off: a broken connection would say nothing."""
    answer, _ = post(b" " * 4_000_000, {"Authorization": "Bearer x"})
    assert answer.status == 401


def test_a_sender_that_stalls_gives_up_its_place(monkeypatch):
    monkeypatch.setattr(receive, "BODY_SECONDS", 0.05)

    async def run():
        async with Served([door()]) as served:
            host, port = served.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            head = f"POST /v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
            writer.write(f"{head}Content-Length: 100\r\n\r\n[".encode())
            status = await reader.readline()
            writer.close()
            return status, served.adapters[0].inbox.stats().deliveries

    status, deliveries = asyncio.run(run())
    assert b" 408 " in status
    assert deliveries == 0


def test_more_events_than_a_body_may_have_are_refused_together():
    lines = b"\n".join(json.dumps({"text": str(number)}).encode() for number in range(MAX_EVENTS + 1))
    answer, log = post(lines)
    assert (answer.status, log.records) == (413, [])


def test_a_compressed_body_is_refused_in_words():
    answer, _ = post(b"\x1f\x8b", {**AUTHORISED, "Content-Encoding": "gzip"})
    assert (answer.status, answer.body["error"]) == (415, "a compressed body is not understood; send it as it is")


@pytest.mark.parametrize("raw", [
    b"[" * 100_000, b'{"a":' * 100_000, b'[{"event":' + b"[" * 50_000 + b"]" * 50_000 + b"}]",
], ids=["arrays", "objects", "inside"])  # fmt: skip
def test_deep_nesting_is_rejected_not_followed(raw):
    answer, log = post(raw)
    assert answer.status == 422
    assert not captured(log)


def test_a_huge_event_beside_its_text_is_rejected_and_a_huge_text_is_cut():
    answer, log = post(body(event(1, threadId="x" * 300_000), event(2, "y" * 900_000)))
    assert [each["outcome"] for each in answer.body["events"]] == ["rejected", "accepted"]
    assert answer.body["events"][0]["reason"] == "event-too-large"
    assert ids_of(captured(log)) == ["2"]


def test_while_the_log_refuses_nobody_is_told_of_success():
    """The sender waits; once the log is back everything arrives, and only then 2xx."""

    async def run():
        async with Served([door()]) as served:
            served.log.refusals = [LogError("disk full")] * 10_000
            senders = [asyncio.create_task(served.send("/v1/events", body(event(n)), AUTHORISED)) for n in range(5)]
            await until(lambda: "refused" in served.log.journal)
            await asyncio.sleep(0.1)
            assert not any(sender.done() for sender in senders)
            assert served.health.not_ready() == ["source custom.main: backing-off: the log refuses: disk full"]
            served.log.refusals.clear()
            answers = await asyncio.gather(*senders)
            return answers, ids_of(captured(served.log))

    answers, ids = asyncio.run(run())
    assert {answer.status for answer in answers} == {200}
    assert sorted(ids) == ["0", "1", "2", "3", "4"]


def test_a_stop_answers_whoever_waits():
    async def run():
        async with Served([door()]) as served:
            served.log.refusals = [LogError("disk full")] * 10_000
            sender = asyncio.create_task(served.send("/v1/events", body(event(1)), AUTHORISED))
            await until(lambda: "refused" in served.log.journal)
            await served.capturing.stop()
            return await sender

    answer = asyncio.run(run())
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


def test_a_burst_beyond_the_inbox_is_refused_not_stored():
    async def run():
        adapter = door()
        adapter.inbox.max_deliveries = 4
        async with Served([adapter]) as served:
            served.log.refusals = [LogError("disk full")] * 10_000
            senders = [asyncio.create_task(served.send("/v1/events", body(event(n)), AUTHORISED)) for n in range(12)]
            await until(lambda: sum(sender.done() for sender in senders) == 8)
            assert {sender.result().status for sender in senders if sender.done()} == {503}
            served.log.refusals.clear()
            answers = await asyncio.gather(*senders)
            return [answer.status for answer in answers], ids_of(captured(served.log))

    statuses, ids = asyncio.run(run())
    assert statuses.count(200) == len(ids) == 4


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20), lambda inner: st.lists(inner,
    max_size=4) | st.dictionaries(st.sampled_from([
        "event", "source", "meta", "id", "text", "timestamp", "timestampIso", "role", "type", "labels", "refs",
        "provider", "account", "threadId", "providerAccountKey", "taskIds", "attachments", "sizeBytes", "events",
        "content", "schemaVersion", "conversationTitle",
    ]), inner, max_size=6), max_leaves=30,
)  # fmt: skip


BODIES = VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)


@given(raw=BODIES)
def test_accepted_means_that_the_log_takes_it(raw):
    """What the answer says of an element, packing says too; and the same body is always answered alike."""
    elements = door()._read(raw).elements
    packed = pack(elements, "custom.main", lambda: "now")
    accepted = [element.event.id for element in elements if isinstance(element, Heard)]
    assert ids_of(record for record in packed.records if record.topic is Topic.CAPTURED) == accepted
    assert _answer(elements).body == _answer(door()._read(raw).elements).body


@settings(max_examples=10, deadline=None)  # it sends over real connections
@given(bodies=st.lists(BODIES, max_size=8))
def test_no_body_stops_the_source(bodies):
    """After whatever came, a good event is still accepted."""

    async def run():
        async with Served([door()]) as served:
            for raw in bodies:
                assert (await served.send("/v1/events", raw, AUTHORISED)).status in {200, 422}
            assert (await served.send("/v1/events", body(event("last")), AUTHORISED)).status == 200
            assert served.health.sources["custom.main"].restarts == 0

    asyncio.run(run())
