"""What happens to messages of WhatsApp's Cloud API after they were sent, and to the ids of people, told as statuses.

States come out of order and each counts: its id is made of the message, the state and its time. Source: section 4.2 of
the chat platform notes; case 45.
"""

from collections.abc import Iterator
from typing import Final

from adapters.chat.identity import whatsapp_event_id
from adapters.chat.whatsapp_content import errors_of
from adapters.chat.whatsapp_messages import PROVIDER, BadElementError, Line
from adapters.chat.whatsapp_people import person_id
from adapters.chat.words import bracket, unix
from adapters.contract import Element, Heard, Skipped
from adapters.exports.fields import Object, first_word, identifier, obj
from schemas.captured import CapturedEvent
from schemas.ids import event_id

STATES: Final = frozenset({"sent", "delivered", "read", "played", "failed", "deleted", "warning"})


def status_elements(status: Object, line: Line) -> Iterator[Element]:
    """Give a delivery state of a message that a program sent; raises `BadElementError`."""
    wamid, state, time = (identifier(status.get("id")), identifier(status.get("status")), _time(status))
    if wamid is None or state is None:
        raise BadElementError("no-id", "a delivery state without a message or without a state")
    group = person_id(status.get("recipient_id")) if status.get("recipient_type") == "group" else None
    member = line.people.key(status.get("recipient_participant_user_id"), status.get("recipient_participant_id"))
    person = None if group else line.people.key(status.get("recipient_user_id"), status.get("recipient_id"))
    key = group or person or line.alone
    if key is None:
        raise BadElementError("no-person", "a delivery state without a recipient")
    why = errors_of(status)
    event = CapturedEvent(
        id=whatsapp_event_id(wamid, "status", state, time, *((member,) if member else ())),
        type="status",
        role="service",
        text=f"{state}: {why}" if why else state,
        times=[time],
        labels=["delivery"],
        author_id=member,
        message_id=f"{wamid}#{state}",
        parent_message_id=wamid,
        raw_type=f"statuses/{state}",
    )
    yield Heard(line.thread(key, group), event)
    if state not in STATES:
        yield Skipped("empty", "unknown delivery state")  # beside its event: a sign of a new format


def user_id_elements(update: Object, line: Line) -> Iterator[Element]:
    """Join the ids of somebody whose user id changed, and tell it; raises `BadElementError`."""
    ids, time = obj(update.get("user_id")), _time(update)
    before, after = ids.get("previous"), ids.get("current")
    key = line.people.changed(before, update.get("wa_id"), after)
    if key is None:
        raise BadElementError("no-person", "a change of a user id that names nobody")
    event = CapturedEvent(
        id=event_id(PROVIDER, "user-id-update", line.account, person_id(before), person_id(after), time),
        type="status",
        role="service",
        text=first_word(update.get("detail")) or bracket("user id changed"),
        times=[time],
        labels=["service"],
        raw_type="user_id_update",
    )
    yield Heard(line.thread(key), event)


def _time(element: Object) -> int:
    found = unix(element.get("timestamp"))
    if found is None:
        raise BadElementError("no-date", "a timestamp that is no time")
    return found
