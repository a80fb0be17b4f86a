"""A delivery is answered once its capture is committed, never before; room is bounded, and nobody waits for ever.

Asking an inbox for its next capture says that the former is in the log (`adapters.contract`): that is what answers.
"""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.inbox import MAX_CAPTURE_BYTES, MAX_CAPTURE_DELIVERIES, Inbox
from adapters.chat.refusal import Refusal
from adapters.contract import Capture
from tests.support.sources import heard


async def opened(inbox: Inbox):
    """The captures of an inbox, after the first one, which says that nothing waits."""
    captures = inbox.captures()
    assert await anext(captures) == Capture(())
    return captures


async def deliver(inbox: Inbox, capture: Capture, size: int = 1) -> None:
    async with inbox.delivery() as delivery:
        delivery.grow(size)
        await delivery.commit(capture)


async def settled(*tasks: asyncio.Task) -> None:
    """Let everything that can run, run."""
    for _ in range(10):
        await asyncio.sleep(0)


def refused(task: asyncio.Task) -> tuple[int, str]:
    error = task.exception()
    assert isinstance(error, Refusal)
    return error.status, error.headers["Retry-After"]


def test_the_answer_waits_for_the_commit():
    async def run():
        inbox = Inbox()
        async with aclosing(await opened(inbox)) as captures:
            sender = asyncio.create_task(deliver(inbox, Capture([heard(1)])))
            assert [event.event.id for event in (await anext(captures)).elements] == ["1"]
            await settled()
            assert not sender.done(), "given to the log, and not known to be in it"
            asking = asyncio.create_task(anext(captures))
            await settled()
            assert sender.done()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await sender

    asyncio.run(run())


def test_what_waits_together_is_committed_together_in_order_of_arrival():
    async def run():
        inbox = Inbox()
        async with aclosing(await opened(inbox)) as captures:
            senders = [asyncio.create_task(deliver(inbox, Capture([heard(n)], {"room": b"%d" % n}))) for n in range(5)]
            await settled()
            capture = await anext(captures)
            assert [element.event.id for element in capture.elements] == ["0", "1", "2", "3", "4"]
            assert capture.checkpoints == {"room": b"4"}, "of a part's checkpoints the last counts"
            asking = asyncio.create_task(anext(captures))
            await asyncio.gather(*senders)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(run())


def test_a_capture_is_bounded_in_bytes_and_deliveries():
    async def sizes(deliveries: int, size: int) -> list[int]:
        inbox = Inbox(max_bytes=1 << 40)
        found = []
        async with aclosing(await opened(inbox)) as captures:
            senders = [asyncio.create_task(deliver(inbox, Capture([heard(n)]), size)) for n in range(deliveries)]
            await settled()
            while sum(found) < deliveries:
                found.append(len((await anext(captures)).elements))
        await asyncio.gather(*senders, return_exceptions=True)
        return found

    assert asyncio.run(sizes(MAX_CAPTURE_DELIVERIES + 3, 1)) == [MAX_CAPTURE_DELIVERIES, 3]
    assert asyncio.run(sizes(3, MAX_CAPTURE_BYTES // 2 + 1)) == [1, 1, 1]
    assert asyncio.run(sizes(2, MAX_CAPTURE_BYTES * 2)) == [1, 1], "one is taken whatever its size"


@pytest.mark.parametrize("asked_again", [False, True], ids=["waiting", "under way"])
def test_a_stop_tells_every_sender_to_come_again(asked_again):
    """Also the one whose capture was given last: nobody has said that it is committed."""

    async def run():
        inbox = Inbox()
        captures = await opened(inbox)
        sender = asyncio.create_task(deliver(inbox, Capture([heard(1)])))
        await settled()
        if asked_again:
            await anext(captures)
        await captures.aclose()
        await asyncio.wait({sender})
        assert refused(sender) == (503, "5")
        assert inbox.stats().deliveries == 0
        assert inbox.stats().bytes == 0
        assert inbox.stats().refused == {"stopped": 1}

    asyncio.run(run())


def test_a_source_that_is_not_followed_takes_nothing_before_a_body_is_read():
    async def run():
        inbox = Inbox()
        with pytest.raises(Refusal) as caught:
            await deliver(inbox, Capture(()))
        assert caught.value.status == 503
        captures = await opened(inbox)
        await captures.aclose()
        with pytest.raises(Refusal):
            await deliver(inbox, Capture(()))

    asyncio.run(run())


def test_who_finds_no_place_is_told_when_to_come_again():
    async def run():
        inbox = Inbox(max_deliveries=2)
        async with aclosing(await opened(inbox)):
            senders = [asyncio.create_task(deliver(inbox, Capture([heard(n)]))) for n in range(3)]
            await settled()
            assert refused(senders[2]) == (503, "2")
            assert inbox.stats().deliveries == 2
        await asyncio.gather(*senders, return_exceptions=True)
        assert inbox.stats().refused == {"full": 1, "stopped": 2}

    asyncio.run(run())


def test_bytes_are_bounded_over_all_bodies():
    async def run():
        inbox = Inbox(max_bytes=10)
        async with aclosing(await opened(inbox)):
            async with inbox.delivery() as first, inbox.delivery() as second:
                first.grow(7)
                with pytest.raises(Refusal, match="too many bytes"):
                    second.grow(4)
                second.grow(3)
            assert inbox.stats().bytes == 0

    asyncio.run(run())


def test_a_log_that_takes_too_long_answers_late_and_keeps_nothing_in_memory():
    """The sender repeats it: what is no longer waited for must not pile up behind a log that refuses."""

    async def run():
        inbox = Inbox(answer_seconds=0.02)
        async with aclosing(await opened(inbox)) as captures:
            under_way = asyncio.create_task(deliver(inbox, Capture([heard(1)])))
            await anext(captures)
            behind = asyncio.create_task(deliver(inbox, Capture([heard(2)])))
            await asyncio.wait({under_way, behind})
            assert refused(under_way) == refused(behind) == (503, "15")
            sender = asyncio.create_task(deliver(inbox, Capture([heard(3)])))
            capture = await anext(captures)
            assert [element.event.id for element in capture.elements] == ["3"]
        await asyncio.gather(sender, return_exceptions=True)
        assert inbox.stats().deliveries == 0

    asyncio.run(run())


@given(steps=st.lists(st.sampled_from(["send", "take", "restart", "give up"]), max_size=30))
def test_whatever_happens_a_sender_is_answered_with_success_only_for_what_was_committed(steps):
    """The model: committed is what was given by the iterator and followed by a further asking."""

    async def run():
        inbox = Inbox(max_deliveries=8)
        captures = await opened(inbox)
        given_last: list[str] = []
        committed: set[str] = set()
        senders: dict[str, asyncio.Task] = {}
        for number, step in enumerate(steps):
            if step == "send":
                senders[str(number)] = asyncio.create_task(deliver(inbox, Capture([heard(number)])))
            elif step == "give up" and senders:
                senders[min(senders)].cancel()
            elif step == "restart":
                await captures.aclose()
                given_last = []
                captures = await opened(inbox)
            elif step == "take":
                asking = asyncio.create_task(anext(captures))
                committed.update(given_last)
                await settled()
                if asking.done():
                    given_last = [element.event.id for element in asking.result().elements]
                else:
                    asking.cancel()
                    await asyncio.gather(asking, return_exceptions=True)
                    given_last = []
                    captures = await opened(inbox)
            await settled()
            for name, sender in senders.items():
                assert not sender.done() or sender.cancelled() or sender.exception() or name in committed
        await captures.aclose()
        await asyncio.gather(*senders.values(), return_exceptions=True)
        assert (inbox.stats().deliveries, inbox.stats().bytes) == (0, 0)

    asyncio.run(run())
