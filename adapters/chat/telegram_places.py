"""Where messages and other updates of the Bot API stand: whose account counts them, which chat, which topic.

Chats of a business account are not the bot's: chat 7 with the bot and chat 7 of the account are two conversations.
Source: section 2.4 of the chat platform notes; cases 11 and 13.
"""

from dataclasses import dataclass
from typing import Final

from adapters.chat.telegram_content import person_name
from adapters.chat.telegram_memory import Memory
from adapters.chat.telegram_words import PROVIDER, thread
from adapters.chat.words import integer
from adapters.exports.fields import Object, identifier, obj, text, word
from schemas.captured import Thread

NO_CHAT: Final = "updates"
"""The thread of what belongs to no chat: answers to polls, and kinds of updates that are not known yet."""


class BadUpdateError(ValueError):
    """An update without what makes an event; `reason` is of a closed set, the message says what is missing."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Place:
    """A chat and its topic, and the account whose numbers they are; `owner` is the user of a business account."""

    chat: int
    topic: int | None
    account: str
    owner: int | None = None


class Places:
    """The places of one bot, which its owner calls `account`."""

    def __init__(self, account: str, memory: Memory) -> None:
        self.account = account
        self._memory = memory
        self._threads: dict[Place, Thread] = {}

    def forget(self) -> None:
        """Begin a new batch: titles may have changed."""
        self._threads.clear()

    def of(self, holder: Object) -> Place:
        """Say where a message, or another update of a chat, stands; raises `BadUpdateError`."""
        chat, topic = integer(obj(holder.get("chat")).get("id")), _topic(holder)
        if chat is None:
            raise BadUpdateError("no-chat", "no chat with an id")
        connection = identifier(holder.get("business_connection_id"))
        if connection is None:
            return Place(chat, topic, self.account)
        owner = integer(self._memory.connections.get(connection))
        account = f"{self.account}/business/{connection if owner is None else owner}"
        if owner is None:
            # Chats of a business account are private: who is not the other one is its owner.
            author = integer(obj(holder.get("from")).get("id"))
            owner = None if author == chat else author
        return Place(chat, topic, account, owner)

    def name_topic(self, place: Place, message: Object) -> None:
        """Remember what a topic is called, where its first message or a change of its name says so."""
        answered = obj(message.get("reply_to_message"))
        named = ("forum_topic_edited", "forum_topic_created")
        name = next((found for each in named if (found := word(obj(message.get(each)).get("name")))), None)
        name = name or word(obj(answered.get("forum_topic_created")).get("name"))
        # A topic's first message keeps the first name: it counts only while no other is known.
        known = self._memory.topics.get(_key(place))
        if name and place.topic is not None and (known is None or "forum_topic_edited" in message):
            self._memory.topics.put(_key(place), name)

    def thread(self, place: Place, chat: Object) -> Thread:
        """Give the thread of a place; `chat` tells its title."""
        found = self._threads.get(place)
        if found is None:
            name = text(self._memory.topics.get(_key(place))) or None
            found = thread(place.chat, place.topic, place.account, person_name(chat), name)
            self._threads[place] = found
        return found

    def thread_of(self, holder: Object) -> Thread:
        """Give the thread of an update that may belong to no chat."""
        if integer(obj(holder.get("chat")).get("id")) is None:
            return Thread(provider=PROVIDER, thread_id=NO_CHAT, account=self.account)
        return self.thread(self.of(holder), obj(holder.get("chat")))


def _topic(message: Object) -> int | None:
    """Give the topic of a message. Plain reply chains have a `message_thread_id` too: it counts in topics alone."""
    if message.get("is_topic_message") is True:
        return integer(message.get("message_thread_id"))
    return integer(obj(message.get("direct_messages_topic")).get("topic_id"))


def _key(place: Place) -> str:
    return f"{place.chat}/{place.topic}"
