"""Who is who on chat platforms: ids of events, threads and messages, the same live and from an export.

Every id is made of what the provider itself calls the thing; `account` counts only where the provider numbers messages
per account. Source: sections 0.2, 1, 2.4, 2.5, 3.4, 4.1 and 5 of the chat platform notes.
"""

import base64
import hashlib
import hmac
import re
import uuid
from typing import Final

from schemas.ids import Part, event_id
from schemas.keys import account_name

CHANNEL_BASE: Final = 10**12
"""The Bot API writes a channel or supergroup 200 as -1000000000200."""

GENERAL_TOPIC: Final = 1
"""The topic of a forum in which messages carry no topic."""

NOTE_TO_SELF: Final = "note-to-self"

SELF: Final = "self"
"""The account's own person where a provider's export does not say who that is."""

_GROUP_LABEL: Final = b"Signal_ZKGroup_20200424_GroupMasterKey_GroupSecretParams_DeriveFromMasterKey"
_CHANNELS: Final = re.compile(r"(?:super_?group|channel)$")
_UUID_BYTES: Final = 16
_KEY_BYTES: Final = 32


def telegram_chat_id(kind: str, bare: int) -> int:
    """Give the Bot API's id of a chat of an export, whose ids are bare: `-100…` for channels, negated for groups."""
    if bare < 0:
        return bare
    if _CHANNELS.search(kind):
        return -(CHANNEL_BASE + bare)
    return -bare if kind.endswith("group") else bare


def telegram_thread_id(chat: int, topic: int | None = None) -> str:
    """Give the thread of a chat, or of one of its topics; the general topic is the chat itself."""
    return str(chat) if topic in (None, GENERAL_TOPIC) else f"{chat}/{topic}"


def telegram_event_id(
    chat: int, message: int, *parts: Part, account: str | None = None, edited: int | str | None = None
) -> str:
    """Give the id of a message, of one of its edits, or of a `part` of either.

    `edited` is the edit's time in seconds, or on the exporting clock where no better one is known.
    `chat` is the Bot API's id. Message ids of channels and supergroups are the same for everybody; those of other chats
    are numbered per account.
    """
    owner = None if chat <= -CHANNEL_BASE else account_name(account)
    edit: tuple[Part, ...] = () if edited is None else ("edit", edited)
    return event_id("telegram", owner, chat, message, *edit, *parts)


def matrix_event_id(event: str, *parts: Part) -> str:
    """Give the id of a Matrix event, whose ids are the same on all servers."""
    return event_id("matrix", event, *parts)


def whatsapp_event_id(wamid: str, *parts: Part) -> str:
    """Give the id of a message of the Cloud API, or of a `part` of it: a delivery state with its time, an edit."""
    return event_id("whatsapp", "wamid", wamid, *parts)


def whatsapp_line_id(chat: str, account: str | None, minute: str, *content: Part) -> str:
    """Give the id of a line of a text export, which has none: of its chat, its minute, and what it says.

    `minute` is what the phone's clock showed, so that no setting changes it.
    `content` ends with the line's number among equal ones of its minute. A longer export gives the same ids.
    """
    return event_id("whatsapp", "line", account_name(account), chat, minute, *content)


def signal_event_id(thread: str, author: str, timestamp: int, *parts: Part) -> str:
    """Give the id of what somebody sent: Signal knows a message by its author and the time the author's device gave it.

    `author` is `SELF` for the account's own, on whichever device. `parts` are `"edit"`, `"reaction"` (with the
    timestamps of their own) or `"deleted"` (with the timestamp of the message that is gone).
    """
    return event_id("signal", thread, author, timestamp, *parts)


def signal_message_id(author: str, timestamp: int) -> str:
    """Give the id by which replies name a message."""
    return f"{author}:{timestamp}"


def signal_service_id(raw: bytes) -> str | None:
    """Give a person's id as signal-cli writes it, from its 16 bytes."""
    return str(uuid.UUID(bytes=raw)) if len(raw) == _UUID_BYTES else None


def signal_group_id(master_key: bytes) -> str | None:
    """Give a group's id as signal-cli writes it, in base64, from the 32 bytes of the master key that backups hold.

    Source: libsignal, `GroupSecretParams::derive_from_master_key`: the first output of its HMAC-SHA256 sponge.
    """
    if len(master_key) != _KEY_BYTES:
        return None
    state = _hmac(bytes(_KEY_BYTES), _GROUP_LABEL + b"\x00")
    state = _hmac(state, master_key + b"\x00")
    return base64.b64encode(_hmac(state, bytes(8) + b"\x01")).decode()


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()
