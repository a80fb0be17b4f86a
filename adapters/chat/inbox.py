"""The inbox of a source that is fed over HTTP: a delivery is answered once what it gave is in the log.

A sender's webhook has no cursor: the answer is its acknowledgement, and what is answered with 2xx never comes again.
So a delivery waits until its capture is committed. Room is bounded and taken before a body is read; who finds none, or
a source that is not followed now, is told to come again. Deliveries that wait together are committed together.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from adapters.chat.refusal import Refusal
from adapters.contract import Capture

MAX_DELIVERIES: Final = 64
"""Requests of one source at once, from their first byte to their answer; senders repeat what finds no room."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""Body bytes of all of them; decoded they take up to ten times as much memory."""

MAX_CAPTURE_BYTES: Final = 4 * 1024 * 1024
"""Body bytes that are committed together, one delivery at least: a transaction of some tens of milliseconds."""

MAX_CAPTURE_DELIVERIES: Final = 32
"""Deliveries that are committed together: a failure between commit and answer makes as many senders repeat."""

ANSWER_SECONDS: Final = 10.0
"""How long a delivery waits for its commit. Senders give up after 10 s (Meta) to a minute (Telegram) and repeat in
parallel; an answer that says so is better than none."""

FULL_RETRY_SECONDS: Final = 2
STOPPED_RETRY_SECONDS: Final = 5
"""About the first pause of a source that starts again; a restart of the daemon takes as long."""

LATE_RETRY_SECONDS: Final = 15


@dataclass(frozen=True, slots=True)
class InboxStats:
    """Present figures of an inbox, and how many deliveries it has refused by reason (`full`, `late`, `stopped`)."""

    deliveries: int
    bytes: int
    refused: Mapping[str, int]


@dataclass(slots=True, eq=False)
class _Waiting:
    capture: Capture
    size: int
    committed: asyncio.Future[None]


class Delivery:
    """One request's place in an inbox."""

    def __init__(self, inbox: "Inbox") -> None:
        self._inbox = inbox
        self.size = 0
        """Body bytes that were read so far."""

    def grow(self, size: int) -> None:
        """Take room for `size` more bytes; raises `Refusal` when there is none."""
        self._inbox._take_room(size)  # noqa: SLF001 - a delivery is a part of its inbox
        self.size += size

    async def commit(self, capture: Capture) -> None:
        """Hand over what the request gave, and return once it is in the log.

        Raises `Refusal` when that is not known in time, or the source stops: it may be in the log all the same, so the
        sender must repeat it, and ids must not depend on when or how often it came.
        """
        await self._inbox._commit(capture, self.size)  # noqa: SLF001


@dataclass(slots=True)
class Inbox:
    """Deliveries of one source between its HTTP handler and its follower; all of it runs in one event loop.

    `answer_seconds` is how long a delivery waits for its commit.
    """

    max_deliveries: int = MAX_DELIVERIES
    max_bytes: int = MAX_BYTES
    answer_seconds: float = ANSWER_SECONDS
    _followed: bool = False
    _deliveries: int = 0
    _bytes: int = 0
    _waiting: deque[_Waiting] = field(default_factory=deque)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _refused: Counter[str] = field(default_factory=Counter)

    def stats(self) -> InboxStats:
        """Figures for metrics."""
        return InboxStats(self._deliveries, self._bytes, dict(self._refused))

    @asynccontextmanager
    async def delivery(self) -> AsyncIterator[Delivery]:
        """A place for one request, given back at the end; raises `Refusal` when there is none."""
        if not self._followed:
            raise self._refusal("stopped", "this source does not take anything now", STOPPED_RETRY_SECONDS)
        if self._deliveries >= self.max_deliveries:
            raise self._refusal("full", "too many requests at once", FULL_RETRY_SECONDS)
        delivery = Delivery(self)
        self._deliveries += 1
        try:
            yield delivery
        finally:
            self._deliveries -= 1
            self._bytes -= delivery.size

    async def captures(self) -> AsyncIterator[Capture]:
        """Give what arrives, as `Adapter.captures` does: asking for more answers those whose capture was given last.

        Whoever waits when the iterator is closed is told to come again.
        """
        under_way: list[_Waiting] = []
        self._followed = True
        try:
            yield Capture(())  # nothing is ever left from before: senders keep what was not answered
            while True:
                await self._arrived.wait()
                if under_way := self._next():
                    yield _together(under_way)
                    _answer(under_way)
        finally:
            self._followed = False
            left = [each for each in (*under_way, *self._waiting) if not each.committed.done()]
            self._waiting.clear()
            self._arrived.clear()
            for each in left:
                each.committed.set_exception(
                    self._refusal("stopped", "this source stopped before it was in the log", STOPPED_RETRY_SECONDS)
                )

    def _next(self) -> list[_Waiting]:
        """The deliveries to commit together now, in order of arrival."""
        taken: list[_Waiting] = []
        size = 0
        while self._waiting and len(taken) < MAX_CAPTURE_DELIVERIES:
            if taken and size + self._waiting[0].size > MAX_CAPTURE_BYTES:
                break
            size += self._waiting[0].size
            taken.append(self._waiting.popleft())
        if not self._waiting:
            self._arrived.clear()
        return taken

    async def _commit(self, capture: Capture, size: int) -> None:
        if not self._followed:
            raise self._refusal("stopped", "this source does not take anything now", STOPPED_RETRY_SECONDS)
        waiting = _Waiting(capture, size, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._arrived.set()
        try:
            await asyncio.wait_for(waiting.committed, self.answer_seconds)
        except TimeoutError:
            words = f"not in the log after {self.answer_seconds:.0f} s"
            raise self._refusal("late", words, LATE_RETRY_SECONDS) from None
        finally:
            # Nobody waits for it any longer, and its sender will repeat it: memory is for those who wait.
            with suppress(ValueError):
                self._waiting.remove(waiting)

    def _take_room(self, size: int) -> None:
        if self._bytes + size > self.max_bytes:
            raise self._refusal("full", "too many bytes are waiting for the log", FULL_RETRY_SECONDS)
        self._bytes += size

    def _refusal(self, reason: str, words: str, retry_seconds: int) -> Refusal:
        self._refused[reason] += 1
        return Refusal(503, words, {"Retry-After": str(retry_seconds)})


def _together(deliveries: Iterable[_Waiting]) -> Capture:
    """One capture of several; of a part's checkpoints the last counts."""
    captures = [each.capture for each in deliveries]
    checkpoints: dict[str, bytes | None] = {}
    for capture in captures:
        checkpoints |= capture.checkpoints
    return Capture([element for capture in captures for element in capture.elements], checkpoints)


def _answer(deliveries: Iterable[_Waiting]) -> None:
    for each in deliveries:
        if not each.committed.done():  # whoever gave up is gone
            each.committed.set_result(None)
