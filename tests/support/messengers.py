"""Composed exports of chat platforms."""

import base64
import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "cases" / "messengers"

ACI = base64.b64encode(bytes([1]) * 16).decode()
ANA = "01010101-0101-0101-0101-010101010101"
MASTER_KEY = base64.b64encode(bytes([3]) * 32).decode()
GROUP = "ERhAe4NdpdahyWTInP396rWMO4N00jcgJlOyE+LsWSE="
"""What Signal's own library derives from that key."""


def case(number: int, name: str = "input.json") -> bytes:
    (folder,) = CASES.glob(f"{number:02d}-*")
    return (folder / name).read_bytes()


def telegram_message(number: int, text: Any = "words", **members: Any) -> dict:
    usual = {
        "id": number,
        "type": "message",
        "date": "2023-11-14T19:13:20",
        "date_unixtime": str(1700000000 + number),
        "from": "Ana",
        "from_id": "user7",
        "text": text,
        "text_entities": [],
    }
    return usual | members


def telegram_service(number: int, action: str, **members: Any) -> dict:
    found = telegram_message(number, "", **members) | {"type": "service", "action": action}
    found |= {"actor": found.pop("from"), "actor_id": found.pop("from_id")}
    return found


def telegram_chat(*messages: dict, kind: str = "private_supergroup", chat: int = 200, **members: Any) -> dict:
    return {"name": "Ops", "type": kind, "id": chat, **members, "messages": list(messages)}


def telegram_account(*chats: dict, left: tuple[dict, ...] = (), owner: int = 99) -> dict:
    return {
        "about": "Here is the data you requested.",
        "personal_information": {"user_id": owner, "first_name": "Op"},
        "chats": {"about": "x", "list": list(chats)},
        "left_chats": {"about": "x", "list": list(left)},
    }


def matrix_event(number: int, content: dict | None = None, kind: str = "m.room.message", **members: Any) -> dict:
    return {
        "event_id": f"$e{number}",
        "type": kind,
        "sender": "@ana:hs.test",
        "origin_server_ts": 1700000000000 + number,
        "content": {"msgtype": "m.text", "body": f"words {number}"} if content is None else content,
        "room_id": "!room:hs.test",
        **members,
    }


def element_room(*events: dict) -> dict:
    head = {"room_name": "Ops", "room_creator": "Ana", "topic": "", "export_date": "14 November 2023"}
    return {**head, "exported_by": "Op", "messages": list(events)}


def jsonl(*lines: object) -> bytes:
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)


SIGNAL_PEOPLE = [
    {"version": "1", "backupTimeMs": "1700000000000", "mediaRootBackupKey": "BwcH", "currentAppVersion": "1.0"},
    {"account": {"givenName": "Op"}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {"aci": ACI, "e164": "15555550100", "profileGivenName": "Ana"}}},
    {"recipient": {"id": "3", "group": {"masterKey": MASTER_KEY, "snapshot": {"title": {"title": "Ops"}}}}},
    {"chat": {"id": "1", "recipientId": "2"}},
    {"chat": {"id": "2", "recipientId": "3"}},
    {"chat": {"id": "3", "recipientId": "1"}},
]


def signal_item(number: int, text: str | None = "words", *, own: bool = False, chat: str = "1", **members: Any) -> dict:
    item: dict[str, Any] = {
        "chatId": chat,
        "authorId": "1" if own else "2",
        "dateSent": str(1700000000000 + number),
        "outgoing" if own else "incoming": {},
    }
    if text is not None:
        item["standardMessage"] = {"text": {"body": text}}
    return {"chatItem": item | members}


def signal_export(*items: object) -> bytes:
    return jsonl(*SIGNAL_PEOPLE, *items)
