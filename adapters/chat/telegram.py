"""Telegram bots as live sources: `getUpdates` with an offset that moves only when the log has what was read.

An update is confirmed at the server by asking for more, so a batch is appended with the new offset as its checkpoint,
and only then is more asked for. A stop or a crash at any point repeats a batch, with equal ids, and loses none. Nothing
pending is ever dropped, and a webhook that somebody set is left alone. Source: sections 0 and 2 of the chat platform
notes; cases 01, 03, 05, 13, 15.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from adapters.chat.telegram_api import OFFICIAL_URL, TelegramApi
from adapters.chat.telegram_check import findings, of_polling
from adapters.chat.telegram_memory import Memory
from adapters.chat.telegram_people import People
from adapters.chat.telegram_updates import Update, Updates
from adapters.contract import Capture, Element, Finding, TransientSourceError, Warned
from adapters.exports.fields import identifier

LONG_POLL_SECONDS: Final = 30
"""How long a call waits for something new; less than what routers forget idle connections after."""


@dataclass(slots=True)
class TelegramSource:
    """One bot that is polled.

    `name` is the source's, `account` what the owner calls the bot: it becomes part of keys and ids. `token` gives the
    token at each start, so that a new one needs no restart; it raises `SourceError`. `operators` are ids of users whose
    words are the operator's.
    """

    name: str
    account: str
    token: Callable[[], str] = field(repr=False)
    operators: frozenset[int] = frozenset()
    url: str = OFFICIAL_URL
    wait_seconds: int = LONG_POLL_SECONDS

    async def captures(self, checkpoints: Mapping[str, bytes]) -> AsyncIterator[Capture]:
        """Follow the bot for ever, from the stored offset; see `Adapter.captures`. Raises `SourceError`."""
        async with TelegramApi(self.token(), self.url) as api:
            bot = (await api.me()).id
            memory = Memory(checkpoints, bot, self.name)
            reading = Reading(
                self.name, api, memory, Updates(self.account, People(bot, self.operators), memory, self.name)
            )
            wait = 0  # what is there already comes at once, and an empty answer says that it was all
            warnings: Sequence[Element] = memory.warnings
            while True:
                batch = await api.updates(memory.position.offset, wait)
                capture = await reading.capture(batch) if batch else Capture(())
                yield Capture([*warnings, *capture.elements], capture.checkpoints)
                warnings, wait = (), 0 if batch else self.wait_seconds

    async def check(self) -> list[Finding]:
        """See `Checked`."""
        return await findings(self.token, self.url, of_polling)


@dataclass(slots=True)
class Reading:
    """What makes captures of batches."""

    name: str
    api: TelegramApi
    memory: Memory
    updates: Updates
    numbers: list[int] = field(default_factory=list)
    """Those of the batch before."""

    async def capture(self, batch: Sequence[bytes]) -> Capture:
        """Give the elements of a batch and the checkpoints behind it; raises `SourceError`."""
        read = [Update.read(raw) for raw in batch]
        await self.learn_owners(read)
        self.updates.batch()
        elements = [element for update in read for element in self.updates.elements(update)]
        numbers = [update.number for update in read if update.number is not None]
        if not numbers:
            # Nothing moves the offset past these: the server gives them again, until it forgets them after a day.
            raise TransientSourceError("Telegram gives updates without ids; they cannot be confirmed")
        if numbers == self.numbers:
            raise TransientSourceError("Telegram gives what was confirmed again: is this a Bot API server at all?")
        self.numbers = numbers
        expected = self.memory.position.offset
        if expected and min(numbers) > expected:
            elements.insert(0, self._gap(expected, min(numbers)))
        # Not the highest of all times: after a week of silence the server counts anew, often from a lower number.
        return Capture(elements, self.memory.moved(max(numbers) + 1, self.updates.time))

    async def learn_owners(self, read: Sequence[Update]) -> None:
        """Ask whose business accounts these are, where nobody has said so; raises `SourceError`."""
        announced = {identifier(update.body.get("id")) for update in read if update.kind == "business_connection"}
        for connection in {update.connection for update in read} - announced:
            if connection is not None and self.memory.connections.get(connection) is None:
                owner = await self.api.owner(connection)
                if owner is not None:
                    self.memory.connections.put(connection, owner)

    def _gap(self, expected: int, first: int) -> Warned:
        return Warned(
            self.name,
            f"updates {expected} to {first - 1} never came: the server keeps them for about a day, "
            "and counts anew after a week of silence",
        )
