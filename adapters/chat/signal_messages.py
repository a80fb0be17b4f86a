"""Messages of Signal as signal-cli tells them become captured events, with the ids that Signal's own export gives.

Source: section 5.1 of the chat platform notes; case 51.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from adapters.chat.identity import signal_event_id, signal_message_id
from adapters.chat.signal_memory import Memory
from adapters.chat.signal_words import DELETED, files, kind_of, mentioned, service, shared
from adapters.chat.words import UNKNOWN_LABEL, bracket, unknown_body
from adapters.contract import Skipped
from adapters.exports.fields import Object, misplaced, number, obj, objects, text, word
from adapters.exports.media import placeholder
from schemas.captured import CapturedEvent, Thread

KNOWN: Final = frozenset(
    {
        "attachments", "previews", "textStyles", "mentions", "quote", "storyContext", "groupInfo", "groupV2",
        "contacts", "sticker", "reaction", "remoteDelete", "adminDelete", "payment", "pollCreate", "pollVote",
        "pollTerminate", "pinMessage", "unpinMessage", "editMessage",
    }
)  # fmt: skip
"""Members with a shape that are understood here, or tell nothing."""


class BadEnvelopeError(ValueError):
    """An envelope without what makes an event; `reason` is of a closed set, the message says what is missing."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that somebody sent to a thread: who (`SELF` for the account), as which role, and when (Unix ms)."""

    thread: Thread
    author: str
    role: str
    sent: int
    message: Object
    memory: Memory

    def events(self, edited: int | None = None) -> Iterator[CapturedEvent | Skipped]:
        """Yield what the message holds; `edited` is the time of the message, or the edit, that this one changes."""
        message = self.message
        special = next((member for member in _SPECIAL if isinstance(message.get(member), dict)), None)
        if special is not None:
            yield _SPECIAL[special](self, message[special])
            return
        event = self._worded(edited) or self._service() or self._unknown()
        yield event or Skipped("empty", "message without words")
        if event is not None and UNKNOWN_LABEL in event.labels:
            yield Skipped("empty", "unknown kind of message")  # beside its event: a sign of a new format

    def status(self, said: str, kind: str, *labels: str, role: str | None = None) -> CapturedEvent:
        """Give an event of something that is no message; the first of `labels` is part of its id."""
        return CapturedEvent(
            id=signal_event_id(self.thread.thread_id, self.author, self.sent, labels[0]),
            type="status",
            role=role or self.role,
            text=said,
            times=[self.sent],
            labels=list(labels),
            author_id=self.author,
            raw_type=kind,
        )

    def target(self, holder: Object, author: str) -> tuple[str, int] | None:
        """Give the author and the time of the message that an object is about; `author` is its prefix of names."""
        found = self.memory.person(holder, author)
        sent = number(holder.get("targetSentTimestamp")) or number(holder.get("targetTimestamp"))
        return (found, sent) if found and sent else None

    def message_id(self, author: str, sent: int) -> str:
        """Give the id by which others name a message, whichever of its versions was sent at `sent`."""
        return signal_message_id(author, self.memory.original(author, sent))

    def _worded(self, edited: int | None) -> CapturedEvent | None:
        """Give the event of words, files, and what is shared."""
        came = files(self.message)
        said = self._text() or shared(self.message) or placeholder(came)
        if not said:
            return None
        labels = [] if edited is None else ["edit"]
        if edited is not None:
            self.memory.edited(self.author, edited, self.sent)
        return CapturedEvent(
            id=signal_event_id(self.thread.thread_id, self.author, self.sent, *labels),
            type="message",
            role=self.role,
            text=said,
            times=[self.sent],
            labels=labels,
            author_id=self.author,
            message_id=self.message_id(self.author, self.sent),
            parent_message_id=self._quoted(),
            raw_type=kind_of(self.message),
            attachments=came,
        )

    def _text(self) -> str:
        """Give the words, with the names of those they mention."""
        if misplaced(self.message.get("message")):
            raise BadEnvelopeError("bad-text", "a message whose words are no text")
        body = text(self.message.get("message"))
        named = ((number(each.get("start")) or 0, self._named(each)) for each in objects(self.message.get("mentions")))
        return mentioned(body, named) if word(body) else ""

    def _named(self, mention: Object) -> str:
        """Give what a mentioned person is called: signal-cli gives no name, or the number in its place."""
        key = self.memory.person({"as": None, "asNumber": mention.get("number"), "asUuid": mention.get("uuid")}, "as")
        known = self.memory.name(key) if key else None
        return known or word(mention.get("name")) or key or "?"

    def _quoted(self) -> str | None:
        quote = obj(self.message.get("quote"))
        author, sent = self.memory.person(quote, "author"), number(quote.get("id"))
        return self.message_id(author, sent) if author and sent else None

    def _service(self) -> CapturedEvent | None:
        """Give the event of what nobody wrote: a payment, a pin, a change of the group."""
        found = service(self.message)
        if found is not None:
            kind, said = found
            return self.status(said, kind, "service", role=self.role if kind == "pollVote" else "service")
        group = obj(self.message.get("groupInfo"))
        if text(group.get("type")).upper() == "UPDATE":
            return self.status(
                bracket("group update", group.get("groupName")), "groupUpdate", "service", role="service"
            )
        return None

    def _unknown(self) -> CapturedEvent | None:
        found = unknown_body(self.message, KNOWN)
        if found is None:
            return None
        name, words = found
        return self.status(words or bracket(name), name or "unknown", UNKNOWN_LABEL)

    def reacted(self, reaction: Object) -> CapturedEvent | Skipped:
        """Give the event of a reaction, or of its removal."""
        target, emoji = self.target(reaction, "targetAuthor"), word(reaction.get("emoji"))
        if target is None or emoji is None:
            return Skipped("empty", "reaction to nothing known")
        removed = reaction.get("isRemove") is True
        event = self.status(emoji, "reaction", "reaction", *(["removed"] if removed else []))
        event.parent_message_id = self.message_id(*target)
        event.message_id = f"{event.parent_message_id}#reaction"
        event.text = bracket("removed", emoji) if removed else emoji
        return event

    def deleted(self, deletion: Object) -> CapturedEvent:
        """Give the event of a message that its author took back."""
        sent = number(deletion.get("timestamp"))
        if not sent:
            raise BadEnvelopeError("no-id", "a deletion that does not say of what")
        return self._deletion(self.author, sent)

    def deleted_by_admin(self, deletion: Object) -> CapturedEvent:
        """Give the event of a message that somebody else took away."""
        target = self.target(deletion, "targetAuthor")
        if target is None:
            raise BadEnvelopeError("no-id", "a deletion that does not say of what")
        return self._deletion(*target)

    def _deletion(self, author: str, sent: int) -> CapturedEvent:
        event = self.status(DELETED, "remoteDeletedMessage", "deleted")
        event.id = signal_event_id(self.thread.thread_id, author, sent, "deleted")
        event.message_id = self.message_id(author, sent)
        return event


_SPECIAL: Final = {"reaction": Said.reacted, "remoteDelete": Said.deleted, "adminDelete": Said.deleted_by_admin}
