"""What happens in Telegram without a message: reactions, deletions, pressed buttons, members, polls, connections.

Each becomes a `status` that says what happened, also when its kind is not known yet (`meta.rawType` names it). What the
provider numbers in a chat has the id that an export gives; the rest is known by the bot, the kind and the update's id.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from adapters.chat.identity import telegram_event_id
from adapters.chat.telegram_content import person_name, shared
from adapters.chat.telegram_memory import Memory
from adapters.chat.telegram_people import People
from adapters.chat.telegram_places import BadUpdateError, Places
from adapters.chat.telegram_words import PROVIDER, reaction, reaction_sign
from adapters.chat.words import UNKNOWN_LABEL, bracket, integer, nested_words, unix
from adapters.contract import Skipped
from adapters.exports.fields import Object, array, identifier, obj, objects, word
from schemas.captured import CapturedEvent, Thread
from schemas.ids import event_id


@dataclass(frozen=True, slots=True)
class Happening:
    """One update of a `kind`, numbered by the server, and what is known around it."""

    kind: str
    body: Object
    number: int
    people: People
    places: Places
    memory: Memory

    @property
    def times(self) -> list[str | int | float]:
        """When it happened, where the update says so."""
        date = unix(self.body.get("date"))
        return [] if date is None else [date]

    def status(self, said: str, label: str) -> CapturedEvent:
        """Give an event that says what happened."""
        name = identifier(self.kind) or "update"
        return CapturedEvent(
            # The server may count anew after a week of silence: the date keeps two updates of one number apart.
            id=event_id(PROVIDER, self.places.account, "update", name, self.number, *map(str, self.times)),
            type="status",
            role="service",
            text=said,
            times=self.times,
            labels=[label],
            raw_type=name,
        )

    @property
    def message(self) -> int:
        """The id of the message that it is about; raises `BadUpdateError`."""
        found = integer(self.body.get("message_id"))
        if found is None:
            raise BadUpdateError("no-id", "no id of the message")
        return found


Events = Iterator[tuple[Thread, CapturedEvent] | Skipped]


def _deleted(update: Happening) -> Events:
    place = update.places.of(update.body)
    where = update.places.thread(place, obj(update.body.get("chat")))
    for message in map(integer, array(update.body.get("message_ids"))):
        if message is None:
            continue
        event = update.status("[deleted]", "deletion")
        event.id = telegram_event_id(place.chat, message, "deleted", account=place.account)
        event.message_id, event.parent_message_id = f"{message}#deleted", str(message)
        yield where, event


def _reaction(update: Happening) -> Events:
    """Tell what was added and what was taken away; what is given again after that counts once, as in exports."""
    body, message = update.body, update.message
    place, actor = update.places.of(body), update.people.actor(body)
    where = update.places.thread(place, obj(body.get("chat")))
    before = dict.fromkeys(map(reaction_sign, objects(body.get("old_reaction"))))
    after = dict.fromkeys(map(reaction_sign, objects(body.get("new_reaction"))))
    for sign in (sign for sign in after if sign not in before):
        yield where, reaction(place.chat, message, place.account, sign, *actor, update.times)
    for sign in (sign for sign in before if sign not in after):
        event = reaction(place.chat, message, place.account, sign, *actor, update.times)
        parts = ("reaction", actor.author, sign, "removed", *map(str, update.times))
        event.id = telegram_event_id(place.chat, message, *parts, account=place.account)
        event.text, event.labels = bracket("removed", sign), ["reaction", "removed"]
        yield where, event
    if before.keys() == after.keys():
        yield Skipped("empty", "reaction without a change")


def _reaction_count(update: Happening) -> Events:
    counts = (
        f"{reaction_sign(obj(one.get('type')))} ({integer(one.get('total_count')) or 0})"
        for one in objects(update.body.get("reactions"))
    )
    event = update.status(", ".join(counts) or "[no reactions]", "reaction")
    event.parent_message_id = str(update.message)
    yield update.places.thread_of(update.body), event


def _callback(update: Happening) -> Events:
    message = obj(update.body.get("message"))
    event = update.status(word(update.body.get("data")) or bracket("button"), "callback")
    event.role, event.author_id = update.people.actor(update.body)
    pressed = integer(message.get("message_id"))
    event.parent_message_id = None if pressed is None else str(pressed)
    yield update.places.thread_of(message), event


def _membership(update: Happening) -> Events:
    old, new = obj(update.body.get("old_chat_member")), obj(update.body.get("new_chat_member"))
    person = person_name(obj(new.get("user")) or obj(update.body.get("from")))
    change = " → ".join(filter(None, (word(old.get("status")), word(new.get("status")))))
    told = (person, change or update.kind.replace("_", " "), word(update.body.get("bio")))
    event = update.status(": ".join(filter(None, told)), "membership")
    event.author_id = update.people.actor(update.body).author
    yield update.places.thread_of(update.body), event


def _poll(update: Happening) -> Events:
    yield update.places.thread_of(update.body), update.status(shared({"poll": update.body}), "poll")


def _poll_answer(update: Happening) -> Events:
    chosen = ", ".join(
        str(option) for option in map(integer, array(update.body.get("option_ids"))) if option is not None
    )
    poll = identifier(update.body.get("poll_id")) or "unknown"
    event = update.status(bracket("poll answer", f"{poll}: {chosen or 'taken back'}"), "poll")
    event.role, event.author_id = update.people.actor(update.body)
    yield update.places.thread_of(update.body), event


def _connection(update: Happening) -> Events:
    connection, owner = identifier(update.body.get("id")), integer(obj(update.body.get("user")).get("id"))
    if connection and owner is not None:
        update.memory.connections.put(connection, owner)
    state = "enabled" if update.body.get("is_enabled") is True else "disabled"
    event = update.status(bracket("business connection", state), "service")
    event.author_id = None if owner is None else str(owner)
    private = {**obj(update.body.get("user")), "id": update.body.get("user_chat_id")}
    yield update.places.thread_of({"chat": private}), event


def _other(update: Happening) -> Events:
    said = nested_words(update.body) or f"[{identifier(update.kind) or 'update'}]"
    label = "service" if update.kind in HANDLERS or update.kind in NOT_ASKED_FOR else UNKNOWN_LABEL
    yield update.places.thread_of(update.body), update.status(said, label)


HANDLERS: Final[dict[str, Callable[[Happening], Events]]] = {
    "deleted_business_messages": _deleted,
    "message_reaction": _reaction,
    "message_reaction_count": _reaction_count,
    "callback_query": _callback,
    "my_chat_member": _membership,
    "chat_member": _membership,
    "chat_join_request": _membership,
    "poll": _poll,
    "poll_answer": _poll_answer,
    "business_connection": _connection,
    **dict.fromkeys(("chat_boost", "removed_chat_boost", "managed_bot", "purchased_paid_media"), _other),
}
"""The kinds that are asked for, and who tells each."""

NOT_ASKED_FOR: Final = frozenset({"inline_query", "chosen_inline_result", "shipping_query", "pre_checkout_query"})
"""What somebody types elsewhere, and what a shop must answer within seconds; kept when it comes all the same."""


def happenings(update: Happening) -> Events:
    """Tell an update of any kind that is no message; raises `BadUpdateError`."""
    return HANDLERS.get(update.kind, _other)(update)
