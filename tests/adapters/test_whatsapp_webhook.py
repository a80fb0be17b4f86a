"""What Meta delivers is answered with 2xx once all of it is in the log; repeats and bursts give each event once."""

import asyncio
import random
from dataclasses import replace

from adapters.contract import Element
from ingest.import_sinks import MemoryState
from ingest.log.contract import LogError, Record, Topic
from ingest.processors.normalize import NormalizeProcessor
from schemas.captured import decode_record
from schemas.event import CanonicalEvent, decode
from tests.support.messengers import case
from tests.support.served import Served
from tests.support.sources import MemoryLog, heard, until
from tests.support.whatsapp import change, message, messages, payload, status
from tests.support.whatsapp_hook import HANDSHAKE, PATH, hook, run, send


def texts(log: MemoryLog) -> list[str]:
    records = [decode_record(record.value) for record in log.records if record.topic is Topic.CAPTURED]
    return [event.text for record in records for event in record.events]


def canonical(log: MemoryLog) -> list[CanonicalEvent]:
    """What the stream holds of the log: each event once."""
    normalize, state = NormalizeProcessor(), MemoryState()
    records = [Record(each.topic, 0, each.key, each.value, 0) for each in log.records if each.topic is Topic.CAPTURED]
    outputs = [output for record in records for output in normalize.process([record], state)]
    return [decode(output.value) for output in outputs if output.topic is Topic.EVENTS]


def test_all_of_a_body_is_in_the_log_when_it_is_answered() -> None:
    """Case 45: all elements of all arrays, one answer."""

    async def work(served: Served) -> None:
        answer = await send(served, case(45))
        assert (answer.status, answer.body) == (200, "")
        assert texts(served.log) == ["um", "dois", "delivered", "read", "três"]

    log = run(work).log
    assert {event.source.account for event in canonical(log)} == {"pn1", "pn2"}
    assert log.counts["empty"] == 1


def test_a_log_that_refuses_keeps_it_at_meta() -> None:
    """No 2xx before the commit."""
    log = MemoryLog(refusals=[LogError("disk full")] * 3)

    async def work(served: Served) -> None:
        waiting = asyncio.create_task(send(served, case(45)))
        await until(lambda: "refused" in log.journal)
        assert not waiting.done()
        assert (await waiting).status == 200

    run(work, log)
    assert log.journal[-1] == "appended"


def test_a_source_that_stops_answers_that_it_must_come_again() -> None:
    log = MemoryLog(refusals=[LogError("disk full")] * 100_000)

    async def serve() -> list[int]:
        async with Served([hook()], log) as served:
            waiting = asyncio.create_task(send(served, case(45)))
            await until(lambda: "refused" in log.journal)
            await served.capturing.stop()
            after = await served.send(f"{PATH}?{HANDSHAKE}", None, {}, "GET")
            return [(await waiting).status, (await send(served, case(45))).status, after.status]

    assert asyncio.run(serve()) == [503] * 3
    assert log.records == []


def test_what_was_read_before_a_new_start_is_refused(monkeypatch) -> None:
    """It was read with what was known of people then; the new start knows what the log knows."""
    adapters = []

    def starts_anew(*_: object) -> list[Element]:
        adapters[0]._followed = replace(adapters[0]._followed)
        return [heard(1)]

    async def work(served: Served) -> None:
        adapters.append(served.capturing._followers[0].adapter)
        monkeypatch.setattr("adapters.chat.whatsapp_payload.Payloads.elements", starts_anew)
        assert (await send(served, case(45))).status == 503

    assert run(work).log.records == []


def test_bad_bodies_are_kept_and_answered() -> None:
    """They are signed, so they are Meta's: refusing them would bring them back for days."""

    async def work(served: Served) -> None:
        for body in (b"{", b"[1]", b"\xff", messages(message(1), None, message(2)), {"object": "page"}):
            assert (await send(served, body)).status == 200

    log = run(work).log
    assert texts(log) == ["words", "words"]
    assert log.counts["rejected"] == 5


def test_too_large_a_body_is_refused() -> None:
    async def work(served: Served) -> None:
        assert (await send(served, b'{"x": "' + b"x" * (4 * 1024 * 1024) + b'"}')).status == 413

    assert run(work).log.records == []


def test_bursts_and_parallel_repeats_give_each_event_once() -> None:
    """As a sender that finds the answers slow: everything many times, at once, in any company and order.

    Words, states and ids of people come in all mixtures, and every event stands in one thread.
    """
    chance = random.Random(7)
    elements = [message(number, f"t{number}", from_user_id=chance.choice(["US.1349", ...])) for number in range(30)]
    states = [status(number, state) for number in range(10) for state in ("sent", "delivered", "read")]

    def body() -> dict:
        some = chance.sample(elements, 6)
        return payload(
            change(messages=some[:3]), change(messages=some[3:], statuses=chance.sample(states, 5), contacts=...)
        )

    bodies = [*(body() for _ in range(20)), payload(change(messages=elements, statuses=states))]

    async def until_taken(served: Served, each: dict) -> None:
        while (answer := await send(served, each)).status != 200:
            assert answer.status == 503
            await asyncio.sleep(0.01)

    async def work(served: Served) -> None:
        again = bodies * 4
        chance.shuffle(again)
        await asyncio.gather(*(until_taken(served, each) for each in again))

    log = run(work).log
    events = canonical(log)
    assert sorted(event.event.text for event in events) == sorted(
        [f"t{number}" for number in range(30)] + ["sent", "delivered", "read"] * 10
    )
    captured = [decode_record(each.value) for each in log.records if each.topic is Topic.CAPTURED]
    assert len({record.thread.thread_id for record in captured}) == 1
    assert sum(len(record.events) for record in captured) > len(events)


def test_what_is_known_of_people_is_saved_with_their_words() -> None:
    async def first(served: Served) -> None:
        assert (await send(served, payload(change(contacts=..., statuses=[status(1, "sent")])))).status == 200

    async def second(served: Served) -> None:
        assert (await send(served, messages(message(2)))).status == 200

    log = MemoryLog()
    run(first, log)
    assert list(log.points) == ["person:15550100002"]
    run(second, log)
    assert {decode_record(each.value).thread.thread_id for each in log.records} == {"15550100002"}


def test_what_a_refused_delivery_taught_is_saved_with_the_next() -> None:
    log = MemoryLog()

    async def work(served: Served) -> None:
        inbox = served.capturing._followers[0].adapter.inbox
        inbox.answer_seconds = 0.05
        log.refusals += [LogError("busy")] * 8
        assert (await send(served, messages(message(1)))).status == 503
        await until(lambda: not log.refusals)
        log.points.clear()  # as if the delivery had been dropped before it was appended
        inbox.answer_seconds = 5
        assert (await send(served, messages(message(2)))).status == 200

    run(work, log)
    assert "person:US.1349" in log.points


def test_damaged_memory_does_not_stop_the_source() -> None:
    async def work(served: Served) -> None:
        assert (await send(served, messages(message(1)))).status == 200

    assert texts(run(work, MemoryLog(points={"person:1": b"{"})).log) == ["words"]
