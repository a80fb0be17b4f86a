"""Updates of a Telegram bot, and what becomes of them."""

import json
from typing import Any

from adapters.chat.telegram_memory import Memory
from adapters.chat.telegram_people import People
from adapters.chat.telegram_updates import Update, Updates
from adapters.contract import Element

BOT = 4242
GROUP = {"id": -1000000000200, "type": "supergroup", "title": "Ops"}
ANA = {"id": 7, "is_bot": False, "first_name": "Ana", "username": "ana"}


def message(number: int, text: str | None = "words", **members: Any) -> dict[str, Any]:
    """A message of the Bot API, number by number a second later; `...` leaves a member out."""
    usual = {"message_id": number, "date": 1700000000 + number, "chat": GROUP, "from": ANA, "text": text}
    return {name: value for name, value in {**usual, **members}.items() if value is not ... and value is not None}


def update(number: int, kind: str = "message", body: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """An update; without a body it holds a message of the same number."""
    return {"update_id": number, kind: message(number, **members) if body is None else body}


class Reader:
    """Makes elements of updates as a source of bot 4242 would, which its owner calls `ops`."""

    def __init__(self, operators: tuple[int, ...] = (), account: str = "ops", checkpoints: dict | None = None) -> None:
        self.memory = Memory(checkpoints or {}, BOT, "telegram.ops")
        self.updates = Updates(account, People(BOT, frozenset(operators)), self.memory, "telegram.ops")

    def read(self, *updates: object) -> list[Element]:
        """Give the elements of updates, values or bytes."""
        raws = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in updates]
        return [element for raw in raws for element in self.updates.elements(Update.read(raw))]


def read(*updates: object, operators: tuple[int, ...] = ()) -> list[Element]:
    """Give the elements of updates to a source that remembers nothing."""
    return Reader(operators).read(*updates)
