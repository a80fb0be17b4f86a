"""Who speaks in a message of the Bot API: the author's id, and the role in Telegram's own directions.

Source: section 1 of the chat platform notes; cases 07 and 13.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from adapters.chat.words import integer
from adapters.exports.fields import Object, obj

STAND_INS: Final = frozenset({777000, 1087968824, 136817688})
"""Users that Telegram names as authors in place of a chat: automatic forwards, anonymous admins, channels."""


class Speaker(NamedTuple):
    """A role word (`ingest.processors.roles` knows it), and the author's id where there is one."""

    role: str
    author: str | None


@dataclass(frozen=True, slots=True)
class People:
    """Whom a bot's owner named: `own` is the bot's own id, `operators` are ids of users, or of chats that speak."""

    own: int
    operators: frozenset[int] = field(default_factory=frozenset)

    def speaker(self, message: Object, owner: int | None = None) -> Speaker:
        """Say who speaks in a message; `owner` is the user of the business account that it belongs to."""
        user, chat = integer(obj(message.get("from")).get("id")), integer(obj(message.get("sender_chat")).get("id"))
        author = chat if user is None or (chat is not None and user in STAND_INS) else user
        if isinstance(message.get("sender_business_bot"), dict):
            return Speaker("bot", _text(author))
        return Speaker(self._role(author, obj(message.get("from")), owner), _text(author))

    def actor(self, update: Object) -> Speaker:
        """Say who did something that is no message: pressed a button, reacted, joined, voted."""
        user = obj(update.get("from")) or obj(update.get("user"))
        chat = obj(update.get("actor_chat")) or obj(update.get("voter_chat"))
        author = integer(user.get("id"))
        author = integer(chat.get("id")) if author is None else author
        return Speaker(self._role(author, user, None), _text(author))

    def _role(self, author: int | None, user: Object, owner: int | None) -> str:
        if author is not None and (author == owner or author in self.operators):
            return "self"
        if author is None or author < 0:
            return "channel"
        return "bot" if author == self.own or user.get("is_bot") is True else "user"


def _text(author: int | None) -> str | None:
    return None if author is None else str(author)
