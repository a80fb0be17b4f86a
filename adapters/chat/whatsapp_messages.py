"""Messages of WhatsApp's Cloud API become captured events: those of people, the operator's echoes, and old ones.

What is said is a message; edits refer to what they change; reactions, revocations and what the system says are
statuses. Ids are made of what WhatsApp calls the message, so that the same one live, repeated and from the history is
one event. Source: sections 1 and 4.2 of the chat platform notes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from adapters.chat.identity import whatsapp_event_id
from adapters.chat.whatsapp_content import citations_of, read_content, type_of
from adapters.chat.whatsapp_people import Directory, person_id
from adapters.chat.words import UNKNOWN_LABEL, bracket, unix
from adapters.contract import Element, Heard, Skipped
from adapters.exports.fields import Object, identifier, misplaced, obj, word
from schemas.captured import CapturedEvent, Thread
from schemas.event import EventType

PROVIDER: Final = "whatsapp"
UNKNOWN_MESSAGE: Final = Skipped("empty", "unknown type of message")
ECHOES: Final = "message_echoes"


class BadElementError(ValueError):
    """An element without what makes an event; `reason` is of a closed set, the message says what is missing."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Line:
    """One business number, and the people whom a change names beside its messages.

    `account` is the number's id at WhatsApp, `number` its digits, `names` what people call themselves, by key, `alone`
    the key of the one person named: whom a message without a sender is from.
    """

    people: Directory
    account: str | None
    number: str | None
    names: Mapping[str, str] = field(default_factory=dict)
    alone: str | None = None

    def thread(self, key: str, group: str | None = None) -> Thread:
        """Give the thread of a person, or of a group; raises `BadElementError` when nobody knows whose number it is."""
        if self.account is None:
            raise BadElementError("no-account", "no id of the business number")
        found = group or key
        title = None if group else self.names.get(key)
        return Thread(provider=PROVIDER, thread_id=found, account=self.account, channel_id=found, title=title)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A message with what any has: its id and time, whose thread it is in, who speaks."""

    message: Object
    kind: str
    wamid: str
    time: int
    thread: Thread
    role: str
    author: str | None

    def event(self, event_type: EventType, said: str, *labels: str) -> CapturedEvent:
        context = obj(self.message.get("context"))
        forwarded = context.get("forwarded") is True or context.get("frequently_forwarded") is True
        return CapturedEvent(
            id=whatsapp_event_id(self.wamid),
            type=event_type,
            role=self.role,
            text=said,
            times=[self.time],
            labels=[*labels, *(["forwarded"] if forwarded else [])],
            author_id=self.author,
            message_id=self.wamid,
            parent_message_id=identifier(context.get("id")),
            raw_type=self.kind,
        )


def message_elements(message: Object, line: Line, origin: str, other: str | None = None) -> Iterator[Element]:
    """Give what a message is; raises `BadElementError`.

    `origin` is the array that holds it; `other` is whose thread it stands in, in a history.
    """
    kind = type_of(message)
    spoken = _spoken(message, f"{origin}/{kind}", line, origin, other)
    if kind == "edit":
        yield from _edit(spoken)
    elif kind == "revoke":
        yield Heard(spoken.thread, _revocation(spoken))
    elif kind == "reaction":
        yield Heard(spoken.thread, _reaction(spoken))
    elif kind == "system":
        yield Heard(spoken.thread, _service(spoken))
    elif kind == "media_placeholder":
        yield Heard(spoken.thread, _placeholder(spoken))
    else:
        yield from _content(spoken, message)


def _spoken(message: Object, kind: str, line: Line, origin: str, other: str | None) -> _Spoken:
    wamid, time = identifier(message.get("id")), unix(message.get("timestamp"))
    if wamid is None:
        raise BadElementError("no-id", "a message without an id")
    if time is None:
        raise BadElementError("no-date", "a message whose timestamp is no time")
    group, outbound = person_id(message.get("group_id")), _is_own(message, line, origin)
    person = _recipient(message, line) if outbound else _sender(message, line)
    key = person or other or line.alone or group
    if key is None:
        raise BadElementError("no-person", "nobody who is written to" if outbound else "nobody who writes")
    author = (line.number or line.account) if outbound else person or other or line.alone
    return _Spoken(message, kind, wamid, time, line.thread(key, group), "self" if outbound else "user", author)


def _is_own(message: Object, line: Line, origin: str) -> bool:
    """Whether it was sent from the business number: by its owner, since programs see states of theirs alone."""
    by_me = obj(message.get("history_context")).get("from_me") is True
    own = line.number is not None and person_id(message.get("from")) == line.number
    return origin == ECHOES or by_me or own


def _recipient(message: Object, line: Line) -> str | None:
    return line.people.key(message.get("to_user_id"), message.get("to"))


def _sender(message: Object, line: Line) -> str | None:
    """Give who writes. A change of number or of user id names both: they are one person, and one thread."""
    user_id, number = message.get("from_user_id"), message.get("from")
    if type_of(message) != "system":
        return line.people.key(user_id, number)
    said = obj(message.get("system"))
    after = (said.get(name) for name in ("wa_id", "new_wa_id", "user_id", "new_user_id"))
    return line.people.changed(said.get("previous_user_id"), user_id, number, said.get("customer"), *after)


def _content(spoken: _Spoken, message: Object) -> Iterator[Element]:
    body = obj(message.get(type_of(message)))
    if misplaced(body.get("body")) or misplaced(body.get("caption")):
        raise BadElementError("bad-text", "a message whose words are no text")
    said = read_content(message)
    if said is None:
        yield Skipped("empty", "message without words")
        return
    event = spoken.event("message", said.text)
    event.attachments, event.citations = said.attachments, citations_of(message)
    if not said.known:
        event.labels.append(UNKNOWN_LABEL)
    yield Heard(spoken.thread, event)
    if not said.known:
        yield UNKNOWN_MESSAGE  # beside its event: a sign of a new format


def _edit(spoken: _Spoken) -> Iterator[Element]:
    edit = obj(spoken.message.get("edit"))
    target = identifier(edit.get("original_message_id")) or spoken.wamid
    for element in _content(spoken, obj(edit.get("message"))):
        if isinstance(element, Heard):
            event = element.event
            event.id = whatsapp_event_id(target, "edit", spoken.wamid, spoken.time)
            event.message_id = target
            event.labels.insert(0, "edit")
        yield element


def _revocation(spoken: _Spoken) -> CapturedEvent:
    target = identifier(obj(spoken.message.get("revoke")).get("original_message_id"))
    if target is None:
        raise BadElementError("no-target", "a revocation that does not say of what")
    event = spoken.event("status", "[deleted]", "deletion")
    event.id = whatsapp_event_id(target, "deleted")
    event.message_id, event.parent_message_id = f"{target}#deleted", target
    return event


def _reaction(spoken: _Spoken) -> CapturedEvent:
    """Tell a reaction; one without a sign takes the former away."""
    reaction = obj(spoken.message.get("reaction"))
    target, sign = identifier(reaction.get("message_id")), word(reaction.get("emoji"))
    event = spoken.event("status", sign or bracket("removed"), "reaction", *(() if sign else ("removed",)))
    event.parent_message_id = target
    return event


def _service(spoken: _Spoken) -> CapturedEvent:
    said = obj(spoken.message.get("system"))
    event = spoken.event("status", word(said.get("body")) or bracket(word(said.get("type")) or "system"), "service")
    event.role = "service"
    return event


def _placeholder(spoken: _Spoken) -> CapturedEvent:
    """Stand for media of the history, which may come later under the same id: that message must not count as known."""
    event = spoken.event("status", "[media]", "media-placeholder")
    event.id = whatsapp_event_id(spoken.wamid, "placeholder")
    event.message_id, event.parent_message_id = f"{spoken.wamid}#placeholder", spoken.wamid
    return event
