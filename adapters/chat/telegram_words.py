"""What Telegram's objects say in words, and how its threads and reactions are made: the same live and from an export.

Members that the Bot API and the exporter of Telegram Desktop call alike are read here, once.
"""

from typing import Final

from adapters.chat.identity import telegram_event_id, telegram_thread_id
from adapters.chat.words import bracket
from adapters.exports.fields import Object, word
from schemas.captured import CapturedEvent, RawTime, Thread

PROVIDER: Final = "telegram"

PHOTO_TYPE: Final = "image/jpeg"
"""Telegram makes every photo a JPEG."""


def thread(chat: int, topic: int | None, account: str | None, title: str | None, topic_name: str | None) -> Thread:
    """Give the thread of a chat or of one of its topics; `chat` is the Bot API's id."""
    return Thread(
        provider=PROVIDER,
        thread_id=telegram_thread_id(chat, topic),
        account=account,
        channel_id=str(chat),
        title=": ".join(filter(None, (title, topic_name))) or None,
    )


def reaction(
    chat: int, message: int, account: str | None, sign: str, role: str, author: str | None, times: list[RawTime]
) -> CapturedEvent:
    """Give the event of somebody's reaction to a message."""
    return CapturedEvent(
        id=telegram_event_id(chat, message, "reaction", author, sign, account=account),
        type="status",
        role=role,
        text=sign,
        times=times,
        labels=["reaction"],
        author_id=author,
        message_id=f"{message}#reaction",
        parent_message_id=str(message),
        raw_type="reaction",
    )


def reaction_sign(kind: Object) -> str:
    """Give the sign of a reaction, or a word for one that is no emoji."""
    return word(kind.get("emoji")) or f"[{word(kind.get('type')) or 'reaction'}]"


def contact(person: Object) -> str:
    """Say whose contact was shared."""
    return bracket("contact", *(person.get(key) for key in ("first_name", "last_name", "phone_number")))
