"""What encryption adds to reading: keys before events, and events again whose keys have come late.

The keys of an answer are stored before its events are read, and an event that cannot be decrypted yet is fetched again
once its key is there: under the id that it would have had in time, beside the placeholder. Source: section 3.4 of the
chat platform notes.
"""

from collections.abc import AsyncIterator
from typing import Final

from adapters.chat.matrix_api import MatrixApi
from adapters.chat.matrix_keys import Keys, RefusedEventError
from adapters.chat.matrix_timeline import SealedError
from adapters.chat.matrix_waiting import Waiting
from adapters.contract import Warned
from adapters.exports.fields import Object, identifier

UNKNOWN_ENCRYPTION: Final = "unknown-encryption"


class Secrets:
    """The keys of one device, and the events that wait for some."""

    def __init__(self, keys: Keys, waiting: Waiting, api: MatrixApi) -> None:
        self._keys = keys
        self._waiting = waiting
        self._api = api

    async def take(self, answer: Object) -> list[Warned]:
        """Store the keys that came with a sync answer; raises `SourceError`."""
        return await self._keys.take(answer, self._api.call) + self._waiting.given_up()

    def opened(self, room: str, event: Object) -> Object | None:
        """Give an encrypted event as it was before, None while its key is missing: then it waits.

        Raises `SealedError` for what must not be read, and `SourceError` when the keys cannot be.
        """
        try:
            found = self._keys.decrypt(room, event)
        except RefusedEventError as error:
            if error.reason == UNKNOWN_ENCRYPTION:
                return None  # no fault of anybody: it stays closed
            raise SealedError(error.reason, str(error)) from None
        name, session = identifier(event.get("event_id")), self._keys.waits_for(event)
        if name is not None and found is None and session is not None:
            self._waiting.add(room, name, session)
        return found

    async def late(self) -> AsyncIterator[tuple[str, Object]]:
        """Give the events (room, event) whose keys have come since they were read; raises `SourceError`."""
        if not self._keys.arrived:
            return
        for room, name in self._waiting.ready(self._keys.has):
            event = await self._api.event(room, name)
            self._waiting.leave(room, name)  # it is read now, or gone
            if event is not None:
                yield room, event
