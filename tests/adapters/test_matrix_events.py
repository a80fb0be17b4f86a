"""Events of live rooms: the ids, roles and words of an export of the same room, and a bad one costs itself alone."""

import asyncio
import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.chat.identity import matrix_event_id
from adapters.chat.matrix_api import RefusedError
from adapters.chat.matrix_events import RoomEvents
from adapters.chat.matrix_gaps import Gaps
from adapters.chat.matrix_memory import Memory, Position
from adapters.chat.matrix_people import People
from adapters.chat.matrix_reading import Reading
from adapters.chat.matrix_rooms import Rooms
from adapters.chat.matrix_timeline import SealedError, Timeline
from adapters.contract import Element, Heard, Rejected, SourceError
from adapters.exports.element_export import ElementExportReader
from tests.support.ai_exports import as_json, assert_conserved, broken, heard, ids, imported, rejected, skipped, told
from tests.support.ai_exports import read as read_export
from tests.support.fake_homeserver import USER, answer, room
from tests.support.matrix_live import OPERATOR, ROOM, said, state
from tests.support.messengers import case, element_room, matrix_event

BOT = "@bridge:hs.test"


class Server:
    """Knows single events, and notes what it was asked."""

    def __init__(self, *events: dict) -> None:
        self.events = {event["event_id"]: event for event in events}
        self.asked: list[str] = []

    async def event(self, room: str, event: str) -> dict | None:
        self.asked.append(event)
        return self.events.get(event)

    async def join(self, room: str, via: str | None, seconds: float) -> None:
        self.asked.append(f"join {room}")

    async def messages(self, room: str, start: str | None, end: str | None, most: int) -> None:
        raise RefusedError("no history is given", "M_FORBIDDEN", 403)


class Room:
    """A room as a source of `USER` reads it."""

    def __init__(self, *known: dict, secrets: object = None) -> None:
        self.server = Server(*known)
        self.memory = Memory({}, USER, "matrix.ops")
        people = People(USER, [OPERATOR], [BOT])
        self.rooms = Rooms(self.server, self.memory, people, USER, "matrix.ops", "anyone")
        events = RoomEvents(people, self.memory.senders)
        self.timeline = Timeline(self.server, events, self.memory.senders, self.rooms, "matrix.ops", "ops", secrets)

    def read(self, *events: object) -> list[Element]:
        return asyncio.run(self.timeline.elements(ROOM, events))

    def captures(self, given: object) -> list[Element]:
        """The elements of a sync answer."""

        async def run() -> list[Element]:
            reading = Reading(
                "matrix.ops", self.memory, self.rooms, self.timeline, Gaps(self.server, self.memory), "now"
            )
            return [element async for capture in reading.captures(given, []) for element in capture.elements]

        return asyncio.run(run())


def read(*events: object) -> list[Element]:
    return Room().read(*events)


def test_an_edit_is_told_from_what_only_looks_like_one() -> None:
    """Case 27: another's edit is a message, words that begin with an asterisk are words."""
    assert [(event.text, event.labels, event.message_id, event.id) for event in heard(read(*json.loads(case(27))))] == [
        ("v1", [], "$e1", matrix_event_id("$e1")),
        ("v2", ["edit"], "$e1", matrix_event_id("$e2")),
        ("* v3", [], "$e3", matrix_event_id("$e3")),
        ("* a list item, not an edit", [], "$e4", matrix_event_id("$e4")),
    ]


def test_the_sender_of_what_an_edit_changes_is_asked_for_once() -> None:
    """Case 27 after a restart: nobody remembers who sent the original."""
    first, second, foreign, _ = json.loads(case(27))
    room = Room(first)
    assert [event.labels for event in heard(room.read(second, foreign))] == [["edit"], []]
    assert room.server.asked == ["$e1"]


def test_an_edit_of_what_is_gone_is_an_edit() -> None:
    """The server aggregates edits of the sender alone; what it does not have it cannot tell."""
    _, second, *_ = json.loads(case(27))
    assert [event.labels for event in heard(read(second))] == [["edit"]]


def test_redactions_in_both_places_and_of_what_is_gone() -> None:
    """Case 31: what was redacted before it was seen is no message; its redaction comes by itself."""
    elements = read(*json.loads(case(31)))
    assert [(event.text, event.labels, event.parent_message_id) for event in heard(elements)] == [
        ("oops", [], None),
        ("[redaction: typo]", ["redaction"], "$e1"),
        ("[redaction: spam]", ["redaction"], "$e4"),
    ]
    assert [element.what for element in skipped(elements)] == ["redacted message"] * 2


def test_a_redacted_encrypted_event_waits_for_no_key() -> None:
    elements = Room(secrets=Locked()).read(matrix_event(1, {}, "m.room.encrypted"))
    assert [element.what for element in skipped(elements)] == ["redacted message"]


def test_live_and_export_agree() -> None:
    """Case 57: the same room, once as it came and once as Element exported it."""
    exported = read_export(ElementExportReader(), case(57), account="ops")
    events = json.loads(case(57))["messages"]
    edit = events[0]["unsigned"]["m.relations"]["m.replace"]
    live = read(events[0], edit, *events[1:])
    assert [facts(one) for one in live] == [facts(one) for one in exported]
    assert ids(live) == ids(exported)


def facts(element: Element) -> tuple:
    assert isinstance(element, Heard)
    event, thread = element.event, element.thread
    said = (event.id, event.type, event.role, event.text, event.author_id, event.message_id, event.parent_message_id)
    return (*said, event.labels, thread.provider, thread.thread_id, thread.account, thread.channel_id)


def test_an_export_of_what_was_read_live_adds_nothing() -> None:
    from ingest.import_sinks import MemoryState  # noqa: PLC0415

    known = MemoryState()
    events = [matrix_event(1), state(2, "m.room.name", {"name": "x"}), matrix_event(3, sender=OPERATOR)]
    live = imported(read(*events), known)
    exported = read_export(ElementExportReader(), as_json(element_room(*events)), account="ops", own_name=OPERATOR)
    assert len(live.events) == 3
    assert imported(exported, known).events == []


def test_an_edit_that_comes_along_stays_in_its_own_place() -> None:
    """`/messages` gives the newest edit with the original, and again where it was made."""
    edit = json.loads(case(57))["messages"][0]["unsigned"]["m.relations"]["m.replace"]
    original = said(1, unsigned={"m.relations": {"m.replace": edit}})
    assert [event.message_id for event in heard(read(original, said(5), edit))] == ["$e1", "$e5", "$e1"]


@pytest.mark.parametrize(
    ("members", "role", "canonical"),
    [
        ({}, "user", "user"),
        ({"sender": OPERATOR}, "self", "operator"),
        ({"sender": "@OP:hs.test"}, "self", "operator"),
        ({"sender": USER}, "bot", "bot"),
        ({"sender": BOT}, "bot", "bot"),
        ({"content": {"msgtype": "m.notice", "body": "x"}}, "notice", "bot"),
        ({"content": {"msgtype": "m.notice", "body": "x"}, "sender": OPERATOR}, "self", "operator"),
        ({"sender": None}, "user", "user"),
        ({"kind": "m.room.topic", "content": {"topic": "x"}, "state_key": ""}, "service", "system"),
    ],
)
def test_roles_follow_direction(members, role, canonical) -> None:
    """Section 1: operators and programs are named; notices are those of programs by convention."""
    elements = read(matrix_event(1, **members))
    assert heard(elements)[0].role == role
    assert imported(elements).events[0].event.role == canonical


def test_an_operator_who_is_the_account_is_a_person() -> None:
    people = People(USER, [USER])
    assert people.role({"sender": USER}) == "self"
    assert people.is_operator(USER)
    assert not people.is_operator("")


@pytest.mark.parametrize(
    ("members", "unknown"),
    [
        ({"kind": "m.room.hologram", "content": {"x": 1}}, True),
        ({"content": {"msgtype": "m.hologram", "body": "x"}}, True),
        ({"content": {"msgtype": "m.location", "body": "here"}}, False),
        ({"kind": "m.call.invite", "content": {}}, False),
        ({"kind": "org.example.own", "content": {}}, False),
        ({"content": {"msgtype": "org.example.own", "body": "x"}}, False),
        ({"kind": "m.hologram", "content": {}, "state_key": ""}, False),
    ],
)
def test_a_kind_that_is_new_to_this_version_is_a_sign(members, unknown) -> None:
    """Kept as it is, and counted: a rising share says that the format has changed."""
    elements = read(matrix_event(1, **members))
    assert [each.what for each in skipped(elements)] == ["unknown kind of event"] * unknown
    assert ("unknown-kind" in heard(elements)[0].labels) is unknown


class Locked:
    """Has no key of anything; `content` of an event may say otherwise."""

    def opened(self, room: str, event: dict) -> dict | None:
        match event["content"].get("ciphertext"):
            case "forged":
                raise SealedError("key-of-another-sender", "the event is encrypted with a key of another sender")
            case "broken":
                raise SourceError("the keys cannot be read")
            case {"type": kind, "content": content}:
                return event | {"type": kind, "content": content}
        return None


def sealed(number: int, ciphertext: object) -> dict:
    return matrix_event(number, {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": ciphertext}, "m.room.encrypted")


def test_what_cannot_be_read_has_a_placeholder_with_an_id_of_its_own() -> None:
    """The message, once its key is there, has the id of its event, as in an export of the readable room."""
    plain = {"type": "m.room.message", "content": {"msgtype": "m.text", "body": "secret"}}
    elements = Room(secrets=Locked()).read(sealed(1, "x"), sealed(1, plain))
    assert told(elements) == [("status", "user", "[undecrypted message]"), ("message", "user", "secret")]
    assert ids(elements) == [matrix_event_id("$e1", "undecrypted"), matrix_event_id("$e1")]
    assert len(imported(elements).events) == 2


def test_what_must_not_be_read_is_rejected_alone() -> None:
    elements = Room(secrets=Locked()).read(said(1), sealed(2, "forged"), said(3))
    assert [each.reason for each in rejected(elements)] == ["key-of-another-sender"]
    assert len(heard(elements)) == 2


def test_keys_that_cannot_be_read_end_the_reading() -> None:
    with pytest.raises(SourceError):
        Room(secrets=Locked()).read(sealed(2, "broken"))


def test_a_time_that_is_none_is_taken_from_what_came_before() -> None:
    first, second = read(said(1), said(2, origin_server_ts="soon"))
    assert isinstance(second, Heard)
    assert second.nearby == (1700000000001,)
    assert [each.event.timestamp_iso for each in imported([first, second]).events] == ["2023-11-14T22:13:20.001Z"] * 2


def test_a_rejection_names_its_place() -> None:
    (one, two) = read("words", said(2, event_id=7.5))
    assert isinstance(one, Rejected)
    assert (one.where, one.reason, one.sample) == (
        f"matrix.ops: room {ROOM}: event without an id", "not-an-object", b'"words"',
    )  # fmt: skip
    assert isinstance(two, Rejected)
    assert two.reason == "no-id"


WHOLE = [
    said(1),
    json.loads(case(27))[1],
    matrix_event(3, {"msgtype": "m.image", "body": "x", "info": {"mimetype": "image/png", "size": 3}}),
    matrix_event(4, {"m.relates_to": {"event_id": "$e1", "key": "y"}}, "m.reaction"),
    state(5, "m.room.member", {"membership": "join"}, "@ana:hs.test"),
    matrix_event(6, {"reason": "typo"}, "m.room.redaction", redacts="$e1"),
    state(7, "m.room.tombstone", {"body": "x", "replacement_room": "!new"}),
    sealed(8, "x"),
    sealed(9, {"type": "m.room.message", "content": {"msgtype": "m.text", "body": "secret"}}),
]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.data())
def test_any_fault_of_an_event_costs_that_event(number: int, data) -> None:
    changed = data.draw(broken(WHOLE[number]))
    others = [event for at, event in enumerate(WHOLE) if at != number]
    elements = Room(secrets=Locked()).read(*WHOLE[:number], changed, *WHOLE[number + 1 :])
    kept = ids(Room(secrets=Locked()).read(*others))
    assert set(kept) <= set(ids(elements))
    assert len(elements) >= len(WHOLE)
    assert_conserved([element for element in elements if not hasattr(element, "message")])


ANSWER = answer(
    "s2",
    join={ROOM: room(*WHOLE[:4]), "!two:hs.test": room(said(20), said(21))},
    leave={"!three:hs.test": room(said(30))},
    invite={"!four:hs.test": {"invite_state": {"events": []}}},
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_fault_of_an_answer_costs_what_it_is_in(data) -> None:
    """A room whose shape is none costs that room; the others are read."""
    changed = data.draw(broken(ANSWER["rooms"]["join"]["!two:hs.test"]))
    given_ = copy.deepcopy(ANSWER)
    given_["rooms"]["join"]["!two:hs.test"] = changed
    found = Room()
    found.memory.position = Position(USER, "s1")
    elements = found.captures(given_)
    assert {matrix_event_id(f"$e{number}") for number in (1, 3, 4, 30)} <= set(ids(elements))


@settings(max_examples=150, deadline=None)
@given(broken(ANSWER))
def test_any_answer_is_read_or_refused_as_a_whole(given_) -> None:
    """The source is never ended by an exception that is none of its own."""
    found = Room()
    found.memory.position = Position(USER, "s1")
    try:
        elements = found.captures(given_ if isinstance(given_, dict) else {})
    except SourceError as error:
        assert "has no next_batch" in str(error)  # noqa: PT017 - one of two right outcomes
    else:
        assert_conserved([element for element in elements if not hasattr(element, "message")])
        assert found.memory.position.since


@pytest.mark.parametrize("shape", [None, 7, "x", [], {"timeline": 7}, {"timeline": {"events": {}}}])
def test_a_room_of_another_shape_costs_that_room(shape) -> None:
    found = Room()
    found.memory.position = Position(USER, "s1")
    elements = found.captures(answer("s2", join={"!a": shape, "!b": room(said(1))}))
    assert told(elements) == [("message", "user", "m1")]
    assert [each.reason for each in rejected(elements)] == ["not-a-room"]
