"""People who talk in Matrix rooms, over plain HTTP, so that what they send is what the specification says.

Source: Matrix specification, client-server API 1.11.
"""

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import quote

from tests.support.served import send

CLIENT: Final = "/_matrix/client/v3"

Content = dict[str, Any]


class CallRefusedError(AssertionError):
    """The server does not do what a test asks of it."""


def called(method: str, url: str, body: Content | None = None, token: str = "") -> Any:
    """Make one call and give its answer; anything but 200 fails the test."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    answer = send(url, None if body is None else json.dumps(body).encode(), headers, method)
    if answer.status != 200:
        raise CallRefusedError(f"{method} {url}: {answer.status} {answer.body}")
    return answer.body


def words(body: str, **members: Any) -> Content:
    """The content of a text message."""
    return {"msgtype": "m.text", "body": body, **members}


def related(kind: str, event: str, **members: Any) -> Content:
    """A relation to an event."""
    return {"m.relates_to": {"rel_type": kind, "event_id": event, **members}}


def reply_to(event: str) -> Content:
    """A relation that says what is replied to."""
    return {"m.relates_to": {"m.in_reply_to": {"event_id": event}}}


def edit_of(event: str, body: str) -> Content:
    """The content of an edit, with the fallback that clients send."""
    return words(f"* {body}", **related("m.replace", event), **{"m.new_content": words(body)})


@dataclass
class Person:
    """An account with a device, logged in at the server `url`; every call that is refused fails the test."""

    url: str
    user: str
    token: str = field(repr=False)
    device: str
    _transactions: Iterator[int] = field(default_factory=itertools.count, init=False, repr=False)

    def call(self, method: str, path: str, body: Content | None = None) -> Any:
        """Make a call; `path` comes after `/_matrix/client/v3` and is quoted."""
        return called(method, f"{self.url}{CLIENT}{path}", body, self.token)

    def log_in(self, password: str) -> str:
        """Log in as one more device; gives its token."""
        body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": self.user}}
        token: str = self.call("POST", "/login", body | {"password": password})["access_token"]
        return token

    def make_room(self, name: str = "", *guests: "Person", **options: Any) -> str:
        """Make a room that guests are in; gives its id."""
        body = {"preset": "private_chat", "invite": [guest.user for guest in guests], **options}
        room: str = self.call("POST", "/createRoom", body | ({"name": name} if name else {}))["room_id"]
        for guest in guests:
            guest.join(room)
        return room

    def join(self, room: str) -> None:
        """Join a room."""
        self.call("POST", f"/join/{quote(room, safe='')}", {})

    def send(self, room: str, content: Content, kind: str = "m.room.message", transaction: str = "") -> str:
        """Send an event; gives its id. The same transaction twice is one event."""
        transaction = transaction or f"t{next(self._transactions)}"
        path = f"/rooms/{quote(room, safe='')}/send/{kind}/{transaction}"
        event: str = self.call("PUT", path, content)["event_id"]
        return event

    def say(self, room: str, body: str, **members: Any) -> str:
        """Send a text message; gives its id."""
        return self.send(room, words(body, **members))

    def say_all(self, room: str, bodies: Iterable[str]) -> list[str]:
        """Send text messages one after another; gives their ids."""
        return [self.say(room, body) for body in bodies]

    def get(self, room: str, event: str) -> Content:
        """Give an event as the server has it."""
        found: Content = self.call("GET", f"/rooms/{quote(room, safe='')}/event/{quote(event, safe='')}")
        return found

    def history(self, room: str) -> list[Content]:
        """Give the events of a room, oldest first, of which there are at most 100."""
        found: list[Content] = self.call("GET", f"/rooms/{quote(room, safe='')}/messages?dir=f&limit=100")["chunk"]
        return found

    def react(self, room: str, event: str, key: str) -> str:
        """React to an event; gives the reaction's id."""
        return self.send(room, related("m.annotation", event, key=key), "m.reaction")

    def redact(self, room: str, event: str, reason: str) -> str:
        """Take an event back; gives the redaction's id."""
        path = f"/rooms/{quote(room, safe='')}/redact/{quote(event, safe='')}/t{next(self._transactions)}"
        redaction: str = self.call("PUT", path, {"reason": reason})["event_id"]
        return redaction

    def change(self, room: str, kind: str, content: Content) -> str:
        """Set a room's state; gives the event's id."""
        event: str = self.call("PUT", f"/rooms/{quote(room, safe='')}/state/{kind}", content)["event_id"]
        return event

    def invite(self, room: str, guest: "Person") -> None:
        """Invite somebody."""
        self.call("POST", f"/rooms/{quote(room, safe='')}/invite", {"user_id": guest.user})

    def leave(self, room: str) -> None:
        """Leave a room."""
        self.call("POST", f"/rooms/{quote(room, safe='')}/leave", {})

    def joined(self) -> list[str]:
        """The rooms that the account is in."""
        found: list[str] = self.call("GET", "/joined_rooms")["joined_rooms"]
        return found

    def kick(self, room: str, member: "Person", reason: str) -> None:
        """Put somebody out."""
        self.call("POST", f"/rooms/{quote(room, safe='')}/kick", {"user_id": member.user, "reason": reason})

    def upgrade(self, room: str, version: str) -> str:
        """Replace a room by one of another version; gives the new one's id."""
        body = {"new_version": version}
        replacement: str = self.call("POST", f"/rooms/{quote(room, safe='')}/upgrade", body)["replacement_room"]
        return replacement


class Talk(threading.Thread):
    """Somebody who goes on saying numbered messages, in rooms by turns, until told to stop; its own context manager.

    `say` gives the id of what it has said in a room. `sent` holds texts and ids by room.
    """

    def __init__(self, say: Callable[[str, str], str], *rooms: str, pause_seconds: float = 0.05) -> None:
        super().__init__()
        self.sent: dict[str, list[tuple[str, str]]] = {room: [] for room in rooms}
        self._say, self._pause = say, pause_seconds
        self._stop_now = threading.Event()

    def run(self) -> None:
        for number, room in enumerate(itertools.cycle(self.sent), 1):
            if self._stop_now.wait(self._pause):
                return
            text = f"says {number}"
            self.sent[room].append((text, self._say(room, text)))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_now.set()
        self.join()
