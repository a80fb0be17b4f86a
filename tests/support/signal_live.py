"""Envelopes as signal-cli gives them, and what becomes of them."""

import json
from typing import Any

from adapters.chat.signal_envelopes import Envelopes
from adapters.chat.signal_journal import Entry
from adapters.chat.signal_memory import Memory
from adapters.chat.signal_wire import Line
from adapters.contract import Element
from tests.support.fake_signal import ACCOUNT
from tests.support.messengers import ANA, GROUP

NUMBER = "+15555550100"
BO = "02020202-0202-0202-0202-020202020202"
T = 1700000000000


def data(number: int, text: str | None = "words", **members: Any) -> dict[str, Any]:
    """A `dataMessage`, sent `number` milliseconds after `T`."""
    return {"timestamp": T + number, "message": text, "expiresInSeconds": 0, "viewOnce": False, **members}


def envelope(number: int, content: str = "dataMessage", body: Any = None, **members: Any) -> dict[str, Any]:
    """What comes for one envelope of Ana; without a body it holds a message. `...` leaves a member out."""
    usual = {
        "source": NUMBER,
        "sourceNumber": NUMBER,
        "sourceUuid": ANA,
        "sourceName": "Ana",
        "sourceDevice": 1,
        "timestamp": T + number,
        "serverReceivedTimestamp": T + number + 40,
        "serverDeliveredTimestamp": T + number + 90,
        content: data(number) if body is None else body,
    }
    told = {name: value for name, value in {**usual, **members}.items() if value is not ...}
    return {"account": ACCOUNT, "envelope": told}


def sent(number: int, text: str | None = "words", to: str | None = ANA, **members: Any) -> dict[str, Any]:
    """What comes for a message that the account sent from another of its devices."""
    message = {"destination": to, "destinationNumber": None, "destinationUuid": to, **data(number, text, **members)}
    own = {"source": ACCOUNT, "sourceNumber": ACCOUNT, "sourceUuid": BO, "sourceName": "Op"}
    return envelope(number, "syncMessage", {"sentMessage": message}, **own)


def in_group(name: str | None = "Ops", **members: Any) -> dict[str, Any]:
    return {"groupInfo": {"groupId": GROUP, "groupName": name, "revision": 3, "type": "DELIVER", **members}}


def line(params: dict[str, Any], subscription: int | None = 0) -> bytes:
    """The line of a notification; without a subscription it is bare."""
    told = params if subscription is None else {"subscription": subscription, "result": params}
    return json.dumps({"jsonrpc": "2.0", "method": "receive", "params": told}).encode()


class Reader:
    """Makes elements as a source of the account would."""

    def __init__(self, checkpoints: dict[str, bytes] | None = None) -> None:
        self.memory = Memory(checkpoints or {}, ACCOUNT, "signal.ops")
        self.envelopes = Envelopes(self.memory, "signal.ops")

    def read(self, *found: dict[str, Any] | bytes) -> list[Element]:
        """Give the elements of envelopes, or of lines."""
        raws = [each if isinstance(each, bytes) else line(each) for each in found]
        entries = [Entry(number, Line(raw, len(raw))) for number, raw in enumerate(raws, 1)]
        return [element for entry in entries for element in self.envelopes.elements(entry)]


def read(*found: dict[str, Any] | bytes) -> list[Element]:
    """Give the elements of what comes to a source that remembers nothing."""
    return Reader().read(*found)
