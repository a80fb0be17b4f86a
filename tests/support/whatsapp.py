"""Bodies that Meta sends for a business number, signed with an app's secret."""

import hashlib
import hmac
import json
from typing import Any

from adapters.chat.whatsapp_payload import Payloads
from adapters.chat.whatsapp_people import Directory
from adapters.contract import Element

APP_SECRET = "test-secret"  # noqa: S105 - of an app that lives for one test
VERIFY_TOKEN = "vt"  # noqa: S105
SIGNATURE = "X-Hub-Signature-256"
OWN = "15550100001"
ANA = "15550100002"
ANA_ID = "US.1349"
METADATA = {"display_phone_number": "+1 555-010-0001", "phone_number_id": "PN1"}
CONTACT = {"profile": {"name": "Ana"}, "wa_id": ANA, "user_id": ANA_ID}


def signed(raw: bytes, secret: str = APP_SECRET) -> dict[str, str]:
    """The header that Meta sends with a body."""
    return {SIGNATURE: "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()}


def message(number: int, text: Any = "words", **members: Any) -> dict[str, Any]:
    """A message of Ana, number by number a second later; `...` leaves a member out."""
    usual = {"from": ANA, "id": f"wamid.{number}", "timestamp": str(1700000000 + number), "type": "text",
             "text": text if text is ... else {"body": text}}  # fmt: skip
    return _without({**usual, **members})


def of_type(number: int, kind: str, body: Any, **members: Any) -> dict[str, Any]:
    """A message of Ana of another type."""
    return message(number, type=kind, text=..., **{kind: body}, **members)


def status(number: int, state: str, **members: Any) -> dict[str, Any]:
    """A delivery state of a message that a program sent to Ana."""
    usual = {"id": "wamid.out", "status": state, "timestamp": str(1700000000 + number), "recipient_id": ANA}
    return _without({**usual, **members})


def change(field: str = "messages", **value: Any) -> dict[str, Any]:
    """One change; `...` leaves a member of its value out."""
    usual = {"messaging_product": "whatsapp", "metadata": METADATA, "contacts": [CONTACT]}
    return {"field": field, "value": _without({**usual, **value})}


def payload(*changes: object) -> dict[str, Any]:
    """A whole body with one entry."""
    return {"object": "whatsapp_business_account", "entry": [{"id": "WABA1", "changes": list(changes)}]}


def messages(*found: object, **value: Any) -> dict[str, Any]:
    """A whole body that holds these messages."""
    return payload(change(messages=list(found), **value))


def history(*found: object, **thread: Any) -> dict[str, Any]:
    """A whole body that holds old messages of one thread."""
    chunk = {"metadata": {"phase": 0, "chunk_order": 1}, "threads": [{"id": ANA, "messages": list(found), **thread}]}
    return payload(change("history", contacts=..., history=[chunk]))


def read(*bodies: object, people: Directory | None = None) -> list[Element]:
    """Give the elements of bodies, values or bytes, to one source."""
    payloads = Payloads(people or Directory({}, "whatsapp.shop"), "whatsapp.shop")
    raws = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in bodies]
    return [element for raw in raws for element in payloads.elements(raw)]


def _without(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not ...}
