"""Events of one room become elements one by one, so that a bad one costs itself alone.

An edit whose target's sender is not remembered is checked at the server, an encrypted event is opened where its key is
there, and a tombstone leads into the room's replacement. Source: sections 3.2 to 3.4 of the chat platform notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from adapters.chat.matrix_api import MatrixApi
from adapters.chat.matrix_events import ENCRYPTED, PROVIDER, RoomEvents, edited
from adapters.chat.matrix_memory import Senders
from adapters.chat.matrix_rooms import Rooms
from adapters.chat.words import UNKNOWN_LABEL, one_line, unix
from adapters.contract import MAX_SAMPLE_BYTES, Element, Heard, Rejected, Skipped, SourceError
from adapters.exports.fields import Object, identifier, obj, text
from adapters.files.json_line import compact_json
from schemas.captured import CapturedEvent, Thread

_MS: Final = 1000


class SealedError(ValueError):
    """An encrypted event that must not be read; `reason` is of a closed set, the message says what it is about."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Opener(Protocol):
    """Opens what is encrypted (`matrix_secrets`, which needs the libraries of the extra)."""

    def opened(self, room: str, event: Object) -> Object | None:
        """Give an encrypted event as it was before, None while its key is missing. Raises `SealedError`."""
        ...


@dataclass(slots=True)
class Timeline:
    """Makes elements of the events of one account's rooms.

    `account` is what the account is called here, `source` what rejections name as their place. Without `secrets`
    nothing that is encrypted can be read.
    """

    api: MatrixApi
    events: RoomEvents
    senders: Senders
    rooms: Rooms
    source: str
    account: str
    secrets: Opener | None = None
    _time: int = field(default=0, init=False)
    """When something last happened (Unix, ms): what says no usable time of its own is given this one."""

    async def elements(self, room: str, events: Sequence[Any], *, present: bool = True) -> list[Element]:
        """Give what events of a room are, in their order; `present` says that the account is in the room.

        Raises `SourceError` when the server cannot be asked.
        """
        thread = Thread(
            provider=PROVIDER,
            thread_id=room,
            account=self.account,
            channel_id=room,
            title=self.rooms.title(room),
        )
        found: list[Element] = []
        for event in events:
            try:
                found += await self._read(thread, event)
                if present and isinstance(event, dict):
                    found += await self.rooms.replaced(event)
            except SourceError:
                raise
            except SealedError as error:
                found.append(self._rejected(room, event, error.reason, str(error)))
            except Exception as error:  # noqa: BLE001 - a fault of this program must not stop all that comes after it
                found.append(self._rejected(room, event, "not-understood", type(error).__name__))
        return found

    async def _read(self, thread: Thread, event: Any) -> list[Element]:
        room = thread.thread_id
        if not isinstance(event, dict):
            return [self._rejected(room, event, "not-an-object", "an event was expected")]
        if identifier(event.get("event_id")) is None:
            return [self._rejected(room, event, "no-id", "an event without an id")]
        if self.secrets is not None and _sealed(event):
            event = self.secrets.opened(room, event) or event
        await self._learn_sender(room, event)
        found = [self._element(thread, event, each) for each in self.events.events(event)]
        if any(isinstance(each, Heard) and UNKNOWN_LABEL in each.event.labels for each in found):
            found.append(Skipped("empty", "unknown kind of event"))  # beside its event: a sign of a new format
        return found

    def _element(self, thread: Thread, event: Object, found: CapturedEvent | Skipped) -> Element:
        if isinstance(found, Skipped):
            return found
        sent = event.get("origin_server_ts")
        if isinstance(sent, int) and unix(sent // _MS):
            self._time = sent
        return Heard(thread, found, (self._time,) if self._time else ())

    async def _learn_sender(self, room: str, event: Object) -> None:
        """Ask who sent what an edit changes, where nobody remembers it; what is not there any more stays unknown."""
        target = edited(obj(event.get("content"))) if event.get("type") == "m.room.message" else None
        if target and self.senders.get(target) is None:
            original = await self.api.event(room, target)
            if original is not None:
                self.senders.put(target, text(original.get("sender")))

    def _rejected(self, room: str, event: Any, reason: str, detail: str) -> Rejected:
        raw = compact_json(event).encode("utf-8", "replace")
        name = one_line(text(obj(event).get("event_id")))
        where = f"{self.source}: room {one_line(room)}: event {name or 'without an id'}"
        return Rejected(where, reason, detail, raw[:MAX_SAMPLE_BYTES], len(raw))


def _sealed(event: Object) -> bool:
    """Whether an event is encrypted; of one that was redacted nothing is left."""
    return event.get("type") == ENCRYPTED and "state_key" not in event and bool(obj(event.get("content")))
