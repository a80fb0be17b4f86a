"""Rooms: what they are called, whose invitations are followed, where an upgraded one goes on, what a kick leaves."""

import asyncio
import json

import pytest

from adapters.chat.matrix_memory import MAX_JOINS, MAX_ROOMS, Memory
from adapters.chat.matrix_people import People
from adapters.chat.matrix_rooms import JOIN_PAUSE_SECONDS, JOIN_SECONDS, JOIN_TRIES, Rooms
from adapters.contract import TransientSourceError
from ingest.health import SourceState
from tests.support.fake_homeserver import USER, FakeHomeserver, answer, room
from tests.support.matrix_live import OPERATOR, ROOM, follow, points, reached, said, state
from tests.support.sources import MemoryLog

NEW = "!new:hs.test"
DOWN = {"status": 502, "body": {"errcode": "M_UNKNOWN", "error": "away"}}


@pytest.fixture
def server():
    with FakeHomeserver() as fake:
        yield fake


def invitation(by: str = OPERATOR, whom: str = USER) -> dict:
    member = {"type": "m.room.member", "state_key": whom, "sender": by, "content": {"membership": "invite"}}
    return {"invite_state": {"events": [{"type": "m.room.name", "state_key": "", "content": {"name": "x"}}, member]}}


def joined(server) -> list[str]:
    return [path.removeprefix("/join/") for path, _ in server.requests if path.startswith("/join/")]


def read(server, *, known: bool = True, **options):
    """Follow from `s1` until what is given for it is in the log."""
    log = options.pop("log", None) or MemoryLog(points=points("s1", **({ROOM: ""} if known else {})))
    server.history.setdefault(ROOM, [])
    return follow(server, reached("s2"), log=log, **options)


@pytest.mark.parametrize(
    ("states", "title"),
    [
        ([("m.room.name", {"name": "Ops"}, "")], "Ops"),
        ([("m.room.canonical_alias", {"alias": "#ops:hs.test"}, "")], "#ops:hs.test"),
        ([("m.room.canonical_alias", {"alias": "#o:x"}, ""), ("m.room.name", {"name": "Ops"}, "")], "Ops"),
        ([("m.room.name", {"name": "a\nb\x00"}, "")], "a b"),
        ([("m.room.name", {"name": "x" * 9000}, "")], "x" * 255),
        ([("m.room.name", {"name": 7}, "")], None),
        ([("m.room.name", None, "")], None),
        ([("m.room.member", {"displayname": "Ana", "membership": "join"}, "@ana:hs.test")], "Ana, @bob:hs.test"),
        ([], "@ana:hs.test, @bob:hs.test"),
    ],
)
def test_a_room_is_called_by_its_name_its_alias_or_its_members(server, states, title) -> None:
    body = room(said(1), state=tuple(state(9, *each) for each in states))
    body["summary"] = {"m.heroes": [USER, "@ana:hs.test", "@bob:hs.test"]} if title and "@" in title else {}
    server.answers["s1"] = answer("s2", join={ROOM: body})
    run = read(server)
    assert run.records[0].thread.title == title
    assert run.records[0].thread.account == "ops"


def test_a_title_is_remembered_and_changes_with_the_room(server) -> None:
    server.answers["s1"] = answer("s2", join={ROOM: room(said(1))})
    server.answers["s2"] = answer("s3", join={ROOM: room(state(2, "m.room.name", {"name": "Ops 2"}), said(3))})
    log = MemoryLog(points=points("s1", **{ROOM: "Ops"}))
    run = follow(server, reached("s3"), log=log)
    assert [record.thread.title for record in run.records] == ["Ops", "Ops 2"]
    assert run.texts[1] == "name Ops 2"
    assert json.loads(log.points["rooms"])["pairs"] == [[ROOM, "Ops 2"]]


def test_a_name_that_is_taken_away_is_no_title(server) -> None:
    server.answers["s1"] = answer("s2", join={ROOM: room(state(2, "m.room.name", {"name": ""}))})
    run = read(server, log=MemoryLog(points=points("s1", **{ROOM: "Ops"})))
    assert run.records[0].thread.title is None


@pytest.mark.parametrize(
    ("policy", "by", "follows"),
    [
        ("operators", OPERATOR, True), ("operators", "@Op:HS.test", True), ("operators", "@ana:hs.test", False),
        ("anyone", "@ana:hs.test", True), ("never", OPERATOR, False),
    ],
)  # fmt: skip
def test_invitations_are_followed_as_the_settings_say(server, policy, by, follows, capsys) -> None:
    server.answers["s1"] = answer("s2", invite={NEW: invitation(by)})
    read(server, join=policy)
    assert joined(server) == [NEW] * follows
    assert ("is not followed: see the setting join" in capsys.readouterr().out) is not follows


@pytest.mark.parametrize(
    "body", [{}, {"invite_state": 7}, {"invite_state": {"events": [None, {}]}}, invitation(whom="@x:y")]
)
def test_an_invitation_by_nobody_is_not_followed(server, body) -> None:
    """Only the event that invites this account says who did."""
    server.answers["s1"] = answer("s2", invite={NEW: body})
    read(server)
    assert joined(server) == []


def test_a_join_comes_before_the_position_moves(server) -> None:
    """An invitation is shown once."""
    server.answers["s1"] = answer("s2", invite={NEW: invitation()})
    read(server)
    called = [path for path, _ in server.requests]
    assert called.index(f"/join/{NEW}") < called.index("/sync", called.index("/sync") + 1)


def test_a_join_that_is_refused_is_told_and_ends_nothing(server, capsys) -> None:
    server.answers["s1"] = answer("s2", invite={NEW: invitation()}, join={ROOM: room(said(1))})
    server.script[f"/join/{NEW}"] = [{"status": 403, "body": {"errcode": "M_FORBIDDEN", "error": "banned"}}]
    run = read(server)
    assert run.texts == ["m1"]
    assert "it cannot be joined: the homeserver refuses" in capsys.readouterr().out
    assert "joins" not in run.log.points


def test_a_join_that_fails_is_tried_again_after_a_restart(server, capsys) -> None:
    """The server of the room may be away for long: the reading of others does not wait for it."""
    server.answers["s1"] = answer("s2", invite={NEW: invitation()}, join={ROOM: room(said(1))})
    server.script[f"/join/{NEW}"] = [DOWN, DOWN]
    run = read(server)
    assert run.texts == ["m1"]
    assert "it could not be joined yet" in capsys.readouterr().out
    assert json.loads(run.log.points["joins"])["pairs"] == [[f"{NEW} hs.test", 2]]
    server.answers["s2"] = answer("s3")
    again = follow(server, reached("s3"), log=run.log)
    assert json.loads(again.log.points["joins"])["pairs"] == []
    assert joined(server) == [NEW] * 3
    assert next(query for path, query in server.requests if path == f"/join/{NEW}")["via"] == "hs.test"


class Away:
    """A server of which nobody can join any room."""

    async def join(self, room: str, via: str | None, seconds: float) -> None:
        raise TransientSourceError("away")


def test_a_join_is_given_up_after_its_tries() -> None:
    """An hour: what waits is bounded, and told at its first and its last try."""

    async def tried() -> list[list[str]]:
        now = [0.0]
        rooms = Rooms(Away(), Memory({}, USER, "s"), People(), USER, "s", "anyone", clock=lambda: now[0])
        rooms.begin()
        told = [await rooms.invited(NEW, invitation())]
        for _ in range(JOIN_TRIES + 3):
            now[0] += JOIN_PAUSE_SECONDS + 1
            rooms.begin()
            told += [await rooms.join_waiting(), await rooms.join_waiting()]
        assert rooms.memory.joins.keys() == []
        return [[each.message for each in some] for some in told if some]

    assert asyncio.run(tried()) == [
        ["it could not be joined yet: away"],
        [f"it could not be joined {JOIN_TRIES} times and is given up: away"],
    ]


def test_a_hundred_invitations_do_not_hold_up_the_reading() -> None:
    """A server that does not answer takes the time of one answer; what is left waits, bounded, and is tried in turn."""
    now = [0.0]

    class Slow(Away):
        tried: list[str] = []  # noqa: RUF012 - of this test alone

        async def join(self, room: str, via: str | None, seconds: float) -> None:
            self.tried.append(room)
            now[0] += seconds
            raise TransientSourceError("slow")

    async def invited() -> None:
        rooms = Rooms(Slow(), Memory({}, USER, "s"), People(), USER, "s", "anyone", clock=lambda: now[0])
        rooms.begin()
        for number in range(MAX_JOINS + 10):
            await rooms.invited(f"!r{number}", invitation())
        assert (Slow.tried, now[0]) == (["!r0"], JOIN_SECONDS)
        assert len(rooms.memory.joins.keys()) == MAX_JOINS
        for _ in range(3):
            rooms.begin()
            await rooms.join_waiting()
            now[0] += JOIN_PAUSE_SECONDS
        assert len(set(Slow.tried)) == 4, "each time another one"

    asyncio.run(invited())


def test_rooms_are_remembered_up_to_a_bound() -> None:
    memory = Memory({}, USER, "s")
    rooms = Rooms(Away(), memory, People(), USER, "s")
    for number in range(MAX_ROOMS + 5):
        rooms.learn(f"!r{number}", {})
    assert len(memory.rooms.keys()) == MAX_ROOMS


def tombstone(number: int, replacement: object = NEW, key: str = "") -> dict:
    content = {"body": "This room has been replaced", "replacement_room": replacement}
    return state(number, "m.room.tombstone", content, key, sender="@ana:other.test")


def test_an_upgraded_room_is_followed(server) -> None:
    """Nobody invites a member of the old room into the new one (measured)."""
    server.answers["s1"] = answer("s2", join={ROOM: room(said(1), tombstone(2))})
    created = state(1, "m.room.create", {"room_version": "12", "predecessor": {"room_id": ROOM}})
    server.answers["s2"] = answer("s3", join={NEW: room(created, said(2), prev_batch="t0")})
    server.history[NEW] = []
    run = follow(server, reached("s3"), log=MemoryLog(points=points("s1", **{ROOM: "Ops"})))
    assert joined(server) == [NEW]
    assert next(query for path, query in server.requests if path == f"/join/{NEW}")["via"] == "other.test"
    assert run.texts == ["m1", f"tombstone This room has been replaced {NEW}", f"create continues {ROOM}", "m2"]
    assert [(event.type, event.labels) for event in run.events][1:3] == [("status", ["service"])] * 2


@pytest.mark.parametrize("event", [tombstone(2, 7), tombstone(2, ""), tombstone(2, key="x"), tombstone(2, ROOM)])
def test_a_tombstone_that_leads_nowhere_is_not_followed(server, event) -> None:
    server.answers["s1"] = answer("s2", join={ROOM: room(event)})
    run = read(server)
    assert joined(server) == []
    assert len(run.events) == 1


def test_an_upgrade_is_not_followed_where_no_room_is_joined(server) -> None:
    server.answers["s1"] = answer("s2", join={ROOM: room(tombstone(2))})
    read(server, join="never")
    assert joined(server) == []


def test_the_last_words_before_a_kick_are_read(server, capsys) -> None:
    """The callbacks of nio get them never."""
    kick = state(2, "m.room.member", {"membership": "leave", "reason": "bye"}, USER)
    server.answers["s1"] = answer("s2", leave={ROOM: room(said(1), kick)})
    run = read(server)
    assert run.texts == ["m1", f"member leave {USER}"]
    assert "the account is no longer in this room" in capsys.readouterr().out
    assert json.loads(run.log.points["rooms"])["pairs"] == []


def test_a_gap_before_a_kick_is_filled(server) -> None:
    server.history[ROOM] = [said(0), said(1)]
    server.answers["t0"] = answer("s2", leave={ROOM: room(said(2), limited=True, prev_batch="t2")})
    run = follow(server, reached("s2"), log=MemoryLog(points=points("t0", **{ROOM: ""})))
    assert run.texts == ["m0", "m1", "m2"]


def test_a_tombstone_in_a_room_that_was_left_is_not_followed(server) -> None:
    server.answers["s1"] = answer("s2", leave={ROOM: room(tombstone(1))})
    read(server)
    assert joined(server) == []


def test_who_comes_back_reads_what_was_missed(server) -> None:
    server.answers["s1"] = answer("s2", leave={ROOM: room(said(1))})
    server.answers["s2"] = answer("s3", join={ROOM: room(said(3), limited=True, prev_batch="t2")})
    server.history[ROOM] = [said(1), said(2)]
    run = follow(server, reached("s3"), log=MemoryLog(points=points("s1", **{ROOM: ""})))
    assert run.texts == ["m1", "m1", "m2", "m3"]


def test_a_token_that_ends_while_joining_ends_the_source(server) -> None:
    server.answers["s1"] = answer("s2", invite={NEW: invitation()})
    server.script[f"/join/{NEW}"] = [{"status": 401, "body": {"errcode": "M_UNKNOWN_TOKEN"}}] * 1000
    run = follow(server, lambda run: run.health.state is SourceState.FAILED, log=MemoryLog(points=points("s1")))
    assert run.since == "s1"
