"""Updates of the Bot API become elements one by one, so that a bad one costs itself alone.

The library's own classes refuse a whole batch for one member that does not fit; here the raw JSON is read and what does
not matter may be wrong. Source: sections 2.3 and 2.4 of the chat platform notes; case 05.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.chat.telegram_happenings import HANDLERS, Happening, happenings
from adapters.chat.telegram_memory import Memory
from adapters.chat.telegram_messages import message_event
from adapters.chat.telegram_people import People
from adapters.chat.telegram_places import BadUpdateError, Places
from adapters.chat.words import UNKNOWN_LABEL, unix
from adapters.contract import MAX_SAMPLE_BYTES, Element, Heard, Rejected, Skipped
from adapters.exports.fields import Object, identifier, obj
from adapters.files.json_line import BadLine, LineDecoder
from schemas.captured import CapturedEvent, Thread

MESSAGES: Final = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "business_message",
    "edited_business_message",
    "guest_message",
)

KINDS: Final = (*MESSAGES, *HANDLERS)
"""All that belongs to conversations: what the server is asked for."""

MAX_UPDATE_ID: Final = 2**31 - 1
"""The server counts in 32 bits (tdlib, `TQueue`); a bigger number would carry the offset past everything to come."""

_decoder: Final = LineDecoder[Object](dict[str, Any])


@dataclass(frozen=True, slots=True)
class Update:
    """One update as it came: its number, its kind and what it holds, as far as it has them."""

    raw: bytes
    number: int | None = None
    kind: str | None = None
    body: Object = field(default_factory=dict)
    fault: BadLine | None = None

    @classmethod
    def read(cls, raw: bytes) -> "Update":
        """Decode an update."""
        try:
            members = _decoder.decode(raw)
        except BadLine as fault:
            return cls(raw, fault=fault)
        number = members.pop("update_id", None)
        usable = isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MAX_UPDATE_ID
        kinds = [name for name, body in members.items() if isinstance(body, dict)]
        kind = next((name for name in kinds if name in KINDS), kinds[0] if kinds else None)
        return cls(raw, number if usable else None, kind, {} if kind is None else members[kind])

    @property
    def connection(self) -> str | None:
        """The business connection that it came over."""
        return identifier(self.body.get("business_connection_id"))


class Updates:
    """Makes the elements of one bot's updates, in their order.

    `account` is what the bot is called here, `source` what rejections name as their place. `time` is when something
    last happened (Unix seconds): updates that say no time of their own stand there, labelled as inferred.
    """

    def __init__(self, account: str, people: People, memory: Memory, source: str) -> None:
        self._people = people
        self._memory = memory
        self._places = Places(account, memory)
        self._source = source
        self.time = memory.position.time

    def batch(self) -> None:
        """Begin a new batch: titles may have changed."""
        self._places.forget()

    def elements(self, update: Update) -> list[Element]:
        """Give what one update holds; never raises, whatever it holds."""
        try:
            return list(self._read(update))
        except BadUpdateError as error:
            return [self._rejected(update, error.reason, str(error))]
        except Exception as error:  # noqa: BLE001 - a fault of this program must not stop all that comes after it
            return [self._rejected(update, "not-understood", type(error).__name__)]

    def _rejected(self, update: Update, reason: str, detail: str) -> Rejected:
        raw = update.raw
        return Rejected(f"{self._source}: update {update.number}", reason, detail, raw[:MAX_SAMPLE_BYTES], len(raw))

    def _read(self, update: Update) -> Iterator[Element]:
        if update.fault is not None:
            raise BadUpdateError(update.fault.reason, str(update.fault))
        if update.number is None:
            raise BadUpdateError("no-id", "an update without an id")
        kind, body = update.kind, update.body
        if kind is None:
            raise BadUpdateError("no-kind", "an update that holds nothing")
        if kind in MESSAGES:
            found = self._message(kind, body)
        else:
            found = happenings(Happening(kind, body, update.number, self._people, self._places, self._memory))
        nothing = True
        for each in found:
            nothing = False
            yield each if isinstance(each, Skipped) else self._heard(*each)
            if not isinstance(each, Skipped) and UNKNOWN_LABEL in each[1].labels:
                yield Skipped("empty", "unknown kind of update or message")  # beside its event: a sign of a new format
        if nothing:
            yield Skipped("empty", "update that changes nothing")
        self.time = unix(body.get("edit_date")) or unix(body.get("date")) or self.time

    def _message(self, kind: str, message: Object) -> Iterator[tuple[Thread, CapturedEvent] | Skipped]:
        place = self._places.of(message)
        event = message_event(message, kind, place, self._people)
        self._places.name_topic(place, message)
        if event is None:
            yield Skipped("empty", "message without words")
        else:
            yield self._places.thread(place, obj(message.get("chat"))), event

    def _heard(self, where: Thread, event: CapturedEvent) -> Heard:
        return Heard(where, event, () if event.times or not self.time else (self.time,))
