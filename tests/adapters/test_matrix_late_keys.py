"""Encrypted events whose key comes late: read when it has come, also after a restart, under the id of their event."""

import asyncio
import json

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix_events import RoomEvents
from adapters.chat.matrix_keys import RefusedEventError
from adapters.chat.matrix_memory import Memory
from adapters.chat.matrix_people import People
from adapters.chat.matrix_reading import Reading
from adapters.chat.matrix_rooms import Rooms
from adapters.chat.matrix_secrets import Secrets
from adapters.chat.matrix_timeline import Timeline
from adapters.chat.matrix_waiting import MAX_WAITING, WAITING
from adapters.contract import Capture, Warned
from tests.support.ai_exports import heard, ids, rejected, told
from tests.support.fake_homeserver import USER, answer, room
from tests.support.matrix_live import ROOM, points, said
from tests.support.messengers import matrix_event


class Keys:
    """Has a key for what is in `there`; keys come with an answer's `keys`."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.arrived = True
        self.taken: list[object] = []

    async def take(self, sync: dict, call: object) -> list[Warned]:
        self.taken.append(sync["next_batch"])
        self.arrived = bool(sync.get("keys"))
        self.there |= set(sync.get("keys", []))
        return []

    def decrypt(self, room: str, event: dict) -> dict | None:
        session = event["content"]["session_id"]
        if session == "forged":
            raise RefusedEventError("key-of-another-sender", "the event is encrypted with a key of another sender")
        if event["content"].get("algorithm") != "known":
            raise RefusedEventError("unknown-encryption", "the event is encrypted in a way that is not known")
        if session not in self.there:
            return None
        body = {"msgtype": "m.text", "body": event["content"]["says"]}
        return event | {"type": "m.room.message", "content": body}

    def waits_for(self, event: dict) -> str | None:
        return event["content"]["session_id"] if event["content"].get("algorithm") == "known" else None

    def has(self, room: str, session: str) -> bool:
        return session in self.there


def sealed(number: int, session: str, algorithm: str = "known") -> dict:
    content = {"algorithm": algorithm, "session_id": session, "says": f"secret {number}"}
    return matrix_event(number, content, "m.room.encrypted")


class Room:
    """A source's reading of encrypted rooms, with what the log keeps of it."""

    def __init__(self, keys: Keys | None = None, checkpoints: dict | None = None) -> None:
        self.keys = keys or Keys()
        self.points = dict(checkpoints or points("s1", **{ROOM: ""}))
        self.server: dict[str, dict] = {}
        self.asked: list[str] = []
        memory = Memory(self.points, USER, "s")
        people = People(USER)
        rooms = Rooms(self, memory, people, USER, "s")
        secrets = Secrets(self.keys, memory.waiting, self)
        timeline = Timeline(self, RoomEvents(people, memory.senders), memory.senders, rooms, "s", "ops", secrets)
        self.reading = Reading("s", memory, rooms, timeline, None, "start", secrets)

    async def call(self, method: str, path: str, body: object) -> dict:
        raise AssertionError("the keys of this test ask for nothing")

    async def event(self, room: str, event: str) -> dict | None:
        self.asked.append(event)
        return self.server.get(event)

    def read(self, since: str, *events: dict, keys: tuple[str, ...] = ()) -> list:
        self.server |= {event["event_id"]: event for event in events}
        given = answer(since, join={ROOM: room(*events)}) | {"keys": list(keys)}

        async def run() -> list[Capture]:
            return [capture async for capture in self.reading.captures(given, [])]

        captures = asyncio.run(run())
        for capture in captures:
            self.points.update({part: state for part, state in capture.checkpoints.items() if state is not None})
        return [element for capture in captures for element in capture.elements]

    @property
    def waiting(self) -> list[str]:
        return [event for _, event, _ in json.loads(self.points.get(WAITING, b'{"events":[]}'))["events"]]


def test_keys_are_stored_before_events_are_read() -> None:
    """The key comes with the answer that holds the message, and is no part of the next one."""
    found = Room()
    elements = found.read("s2", sealed(1, "a"), keys=("a",))
    assert told(elements) == [("message", "user", "secret 1")]
    assert (found.keys.taken, found.waiting) == (["s2"], [])


def test_a_message_is_read_when_its_key_has_come() -> None:
    found = Room()
    first = found.read("s2", sealed(1, "a"), sealed(2, "b"))
    assert (ids(first), found.waiting) == ([matrix_event_id(f"$e{n}", "undecrypted") for n in (1, 2)], ["$e1", "$e2"])
    second = found.read("s3", said(3), keys=("a",))
    assert [event.text for event in heard(second)] == ["secret 1", "m3"]
    assert ids(second)[0] == matrix_event_id("$e1")
    assert (found.waiting, found.asked) == (["$e2"], ["$e1"])


def test_nothing_is_looked_for_where_no_key_came() -> None:
    found = Room()
    found.read("s2", sealed(1, "a"))
    found.keys.there.add("a")
    found.read("s3", said(3))
    assert found.asked == []


def test_a_message_waits_across_a_restart() -> None:
    """The key was stored, and the daemon died before the capture was in the log: it is looked for at the start."""
    first = Room()
    first.read("s2", sealed(1, "a"))
    again = Room(checkpoints=first.points)
    again.server = first.server
    again.keys.there.add("a")
    elements = again.read("s3", keys=("b",))
    assert told(elements) == [("message", "user", "secret 1")]
    assert again.waiting == []


def test_what_is_gone_waits_no_longer() -> None:
    found = Room()
    found.read("s2", sealed(1, "a"))
    found.server.clear()
    assert found.read("s3", keys=("a",)) == []
    assert found.waiting == []


def test_a_key_that_reads_it_not_after_all_lets_it_wait() -> None:
    found = Room()
    found.read("s2", sealed(1, "a"))
    found.server["$e1"] = sealed(1, "z")
    elements = found.read("s3", keys=("a",))
    assert ids(elements) == [matrix_event_id("$e1", "undecrypted")]
    assert found.waiting == ["$e1"]


def test_what_must_not_be_read_is_rejected_and_does_not_wait() -> None:
    found = Room()
    elements = found.read("s2", sealed(1, "forged"), said(2))
    assert [each.reason for each in rejected(elements)] == ["key-of-another-sender"]
    assert (len(heard(elements)), found.waiting) == (1, [])


def test_an_unknown_encryption_is_a_placeholder_for_ever() -> None:
    found = Room()
    assert told(found.read("s2", sealed(1, "a", "m.of.tomorrow"))) == [("status", "user", "[undecrypted message]")]
    assert found.waiting == []


def test_what_waits_is_bounded_and_told() -> None:
    found = Room()
    found.read("s2", *(sealed(number, f"k{number}") for number in range(MAX_WAITING + 5)))
    assert len(found.waiting) == MAX_WAITING
    (told_,) = [each.message for each in found.read("s3") if isinstance(each, Warned)]
    assert told_.startswith("5 events that could not be decrypted are no longer waited for")
