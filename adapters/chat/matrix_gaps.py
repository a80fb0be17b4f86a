"""Fills what a sync answer leaves out of a room: page by page, each in the log before the next is asked for.

A limited timeline has only the latest events; those between the last `since` and its `prev_batch` are read forward.
How far that went is a checkpoint, so that a stop in the middle of a long gap goes on at its page, also when the server
has meanwhile more to say: the token of a page is good for any later answer to the same `since`. Source: section 3.2 of
the chat platform notes; the Matrix specification, `/rooms/{}/messages`.
"""

from collections.abc import AsyncIterator
from typing import Final

from adapters.chat.matrix_api import LargeAnswerError, MatrixApi, Page
from adapters.chat.matrix_memory import Memory

PAGE: Final = 100
"""Events asked for at once, the most that Synapse gives."""

SMALLER: Final = (PAGE, 10, 1)
"""What is asked for when an answer is too large."""


class Gaps:
    """Reads the gaps of one account's rooms."""

    def __init__(self, api: MatrixApi, memory: Memory) -> None:
        self._api = api
        self._memory = memory

    async def pages(self, room: str, start: str | None, end: str) -> AsyncIterator[Page]:
        """Give the events of a room from `start` (None: its beginning) to `end`, oldest first.

        Each page has the token up to which the room is then read; the last one has `end`. Goes on where it was left.
        Raises `SourceError`, of which `RefusedError` says that the room's events are not for us.
        """
        at = self._memory.gap(room) or start
        while True:
            page = await self._page(room, at, end)
            if page.end is None or page.end == at:
                yield Page(page.events, end)
                return
            at = page.end
            yield page

    async def _page(self, room: str, start: str | None, end: str) -> Page:
        for most in SMALLER[:-1]:
            try:
                return await self._api.messages(room, start, end, most)
            except LargeAnswerError:
                continue  # fewer at once; if one is too large, that is told
        return await self._api.messages(room, start, end, SMALLER[-1])
