"""Messages of a chat in a Telegram Desktop export become captured events.

Source: section 2.5 of the chat platform notes; cases 17, 19, 21; issues 24054 of tdesktop, 142 of chat-analytics.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from adapters.chat.identity import telegram_chat_id, telegram_event_id
from adapters.chat.telegram_words import reaction, reaction_sign, thread
from adapters.chat.words import integer, unix, unknown_body
from adapters.contract import MAX_SAMPLE_BYTES, Element, Heard, ReadOptions, Rejected, Skipped
from adapters.exports.fields import Object, number, obj, objects, text, word
from adapters.exports.fields import array as items
from adapters.exports.media import placeholder
from adapters.exports.telegram_export_content import KNOWN, media, odd_text, shared, words
from adapters.exports.wall_clock import WallClock
from schemas.captured import CapturedEvent, RawTime, Thread


class TelegramChat:
    """One chat of an export, whose messages are given one after another, in the order of the file.

    `owner` is the user id of who exported, where the export says it. Remembers which messages stand in which topic: 16
    bytes a message, in forums only.
    """

    def __init__(self, head: Object, bare_id: int, owner: int | None, clock: WallClock, options: ReadOptions) -> None:
        self._kind = text(head.get("type"))
        self._bare = bare_id
        self._chat = telegram_chat_id(self._kind, bare_id)
        self._title = word(head.get("name"))
        self._owner = owner
        self._own_name = (options.own_name or "").strip().casefold()
        self._account = options.account
        self._clock = clock
        self._threads: dict[int | None, Thread] = {}
        self._topics = _Topics()

    def elements(self, message: Object, where: str, raw: bytes) -> Iterator[Element]:
        """Yield the events of one message: what was said or done, and the reactions to it."""
        own_id = integer(message.get("id"))
        if own_id is None:
            yield Rejected(where, "no-id", "a message without an id", raw[:MAX_SAMPLE_BYTES], len(raw))
            return
        event = self._service(message) if message.get("type") == "service" else self._said(message)
        topic = self._topics.place(own_id, message)
        where_said = self._thread(topic)
        times, labels = self._times(message, "date")
        if event is None:
            yield Skipped("empty", _nothing(message))
        else:
            edited = self._edited(message) if event.type == "message" else None
            event.id = telegram_event_id(self._chat, own_id, account=self._account, edited=edited)
            event.times, event.message_id = times, str(own_id)
            event.labels = [*event.labels, *(["edit"] if edited is not None else []), *labels]
            event.parent_message_id = self._parent(message, topic)
            yield Heard(where_said, event)
        for given in self._reactions(message, own_id, times):
            yield Heard(where_said, given)

    def _said(self, message: Object) -> CapturedEvent | None:
        attachments = media(message)
        said = "\n".join(part for part in (words(message), shared(message)) if word(part))
        raw_type = "/".join(filter(None, ("message", word(message.get("media_type")))))
        if not said and not attachments:
            unknown = unknown_body(message, KNOWN) or odd_text(message)
            if unknown is None:
                return None
            raw_type, said = f"message/{unknown[0]}", unknown[1] or f"[{unknown[0]}]"
        forwarded = any(key in message for key in ("forwarded_from", "forwarded_from_id", "saved_from"))
        return CapturedEvent(
            id="",
            type="message",
            role=self._role(message.get("from_id"), message.get("from")),
            text=said or placeholder(attachments),
            labels=["forwarded"] if forwarded else [],
            author_id=_peer(message.get("from_id")) or word(message.get("from")),
            raw_type=raw_type,
            attachments=attachments,
        )

    def _service(self, message: Object) -> CapturedEvent:
        action = word(message.get("action")) or "service message"
        people = ", ".join(filter(None, map(word, items(message.get("members")))))
        details = (
            message.get("title"),
            message.get("new_title"),
            people,
            message.get("information_text"),
            words(message),
        )
        told = ": ".join(filter(None, (word(message.get("actor")), action.replace("_", " "), *map(word, details))))
        return CapturedEvent(
            id="",
            type="status",
            role="service",
            text=told,
            labels=["service"],
            author_id=_peer(message.get("actor_id")),
            raw_type=f"service/{action}",
        )

    def _reactions(self, message: Object, own_id: int, fallback: list[RawTime]) -> Iterator[CapturedEvent]:
        """Give a status for each reaction whose author is told, and one for a kind whose authors are not."""
        for given in objects(message.get("reactions")):
            sign = reaction_sign(given)
            named = [recent for recent in objects(given.get("recent")) if _peer(recent.get("from_id"))]
            for recent in named:
                times, labels = self._times(recent, "date")
                role = self._role(recent.get("from_id"), recent.get("from"))
                event = self._reaction(own_id, sign, role, _peer(recent["from_id"]), [*times, *fallback])
                event.labels += labels
                yield event
            if not named:
                count = number(given.get("count")) or 1
                event = self._reaction(own_id, sign, "service", None, fallback)
                event.text = f"{sign} ({count})" if count > 1 else sign
                yield event

    def _reaction(self, own_id: int, sign: str, role: str, author: str | None, times: list[RawTime]) -> CapturedEvent:
        return reaction(self._chat, own_id, self._account, sign, role, author, times)

    def _thread(self, topic: int | None) -> Thread:
        found = self._threads.get(topic)
        if found is None:
            name = self._topics.titles.get(topic) if topic is not None else None
            found = self._threads[topic] = thread(self._chat, topic, self._account, self._title, name)
        return found

    def _role(self, author: object, name: object) -> str:
        peer = _peer(author)
        names = {text(name).strip().casefold(), peer, text(author)}
        if self._own_name and self._own_name in names:
            return "self"
        if peer is None or peer.startswith("-"):
            return "channel"
        if self._owner is not None:
            return "self" if peer == str(self._owner) else self._other(peer)
        # A private chat has two people: who is not the other one is who exported it.
        alone = self._kind in {"personal_chat", "bot_chat"} and peer != str(self._bare)
        return "self" if alone or self._kind == "saved_messages" else self._other(peer)

    def _other(self, peer: str) -> str:
        return "bot" if self._kind == "bot_chat" and peer == str(self._bare) else "user"

    def _times(self, record: Object, member: str) -> tuple[list[RawTime], list[str]]:
        seconds = unix(record.get(f"{member}_unixtime"))
        if seconds is not None:
            return [seconds], []
        local, labels = self._clock.place_text(record.get(member))
        return ([local], labels) if local else ([], [])

    def _edited(self, message: Object) -> int | str | None:
        seconds = unix(message.get("edited_unixtime"))
        local = word(message.get("edited"))
        # Exports from before 2022 have the clock's time only, and the epoch where nothing was edited.
        if seconds is None and local is not None and not local.startswith(("1970-", "1969-")):
            return local
        return seconds

    def _parent(self, message: Object, topic: int | None) -> str | None:
        target = integer(message.get("reply_to_message_id"))
        return None if target is None or target == topic or "reply_to_peer_id" in message else str(target)


class _Topics:
    """Which messages stand in which topic of a forum: a reply to a topic's first message, or to one of its others."""

    def __init__(self) -> None:
        self.titles: dict[int, str | None] = {}
        self._messages = array("q")
        self._of = array("q")

    def place(self, own_id: int, message: Object) -> int | None:
        if message.get("action") == "topic_created":
            self.titles[own_id] = word(message.get("title"))
            return own_id
        target = integer(message.get("reply_to_message_id")) if self.titles else None
        topic = None if target is None else target if target in self.titles else self._find(target)
        if topic is not None and (not self._messages or own_id > self._messages[-1]):
            self._messages.append(own_id)
            self._of.append(topic)
        return topic

    def _find(self, message: int) -> int | None:
        place = bisect_left(self._messages, message)
        return self._of[place] if place < len(self._messages) and self._messages[place] == message else None


def owner_id(information: object) -> int | None:
    """Give the user id of who exported, of `personal_information`."""
    return integer(obj(information).get("user_id"))


def bare_id(head: Object) -> int | None:
    """Give a chat's id as the export has it."""
    return integer(head.get("id"))


def _peer(value: object) -> str | None:
    """Give a person or chat as the Bot API numbers them, from `user7`, `chat7`, `channel7`, or 7 of old exports."""
    if isinstance(value, str):
        kind, digits = value.rstrip("0123456789"), value[len(value.rstrip("0123456789")) :]
        found = integer(digits)
        return None if found is None else str(telegram_chat_id({"chat": "group"}.get(kind, kind), found))
    found = integer(value)
    return None if found is None else str(found)


def _nothing(message: Object) -> str:
    return "unsupported message" if message.get("type") == "unsupported" else "message without words"
