"""Which rooms of a real Synapse are read: invitations, kicks, leaves, upgrades, and histories from before.

Issue 5, "It must show": kick, upgrade. Source: sections 3.2 and 3.4 of the chat platform notes; case 29.
"""

import pytest

from tests.support.matrix import Person
from tests.support.matrix_reader import Reader, has
from tests.support.synapse import Homeserver


@pytest.fixture
def ana(homeserver: Homeserver) -> Person:
    return homeserver.person("ana")


@pytest.fixture
def own(homeserver: Homeserver) -> Person:
    return homeserver.person("own")


def idle(reader: Reader) -> bool:
    return reader.health.swept


def test_an_invitation_by_an_operator_is_followed_and_the_history_read(ana: Person, own: Person) -> None:
    """What was said in the room before comes first, each once."""
    room = ana.make_room("Ops room")
    before = ana.say_all(room, ["before 1", "before 2"])
    ana.invite(room, own)
    reader = Reader(own, operators=frozenset({ana.user}))(has(*before))
    reader(has(ana.say(room, "after")))
    assert reader.said(room) == ["before 1", "before 2", "after"]


def test_an_invitation_by_anybody_else_is_told_and_not_followed(ana: Person, own: Person) -> None:
    """Strangers must not put words into the stream; the setting is named."""
    room = ana.make_room("Strangers")
    ana.say(room, "buy this")
    ana.invite(room, own)
    reader = Reader(own)(lambda reader: reader.warnings and idle(reader))
    (warning,) = reader.warnings
    assert [ana.user in warning, "join" in warning, own.joined(), reader.of_room(room)] == [True, True, [], []]


def test_invitations_of_anybody_are_followed_where_the_owner_says_so(ana: Person, own: Person) -> None:
    room = ana.make_room("Everybody")
    first = ana.say(room, "hello")
    ana.invite(room, own)
    assert Reader(own, join="anyone")(has(first)).said(room) == ["hello"]


def test_the_last_words_before_a_kick_are_read(ana: Person, own: Person) -> None:
    """They came while the source was away, and stand in the part of the answer for rooms that were left."""
    room = ana.make_room("Ops room", own)
    reader = Reader(own)(has(ana.say(room, "welcome")))
    ana.say_all(room, ["last words", "you are out"])
    ana.kick(room, own, "that was that")
    ana.say(room, "among us")
    reader(lambda reader: "you are out" in reader.said(room) and idle(reader))
    assert reader.said(room) == ["welcome", "last words", "you are out"]
    (kick,) = [event for event in reader.of_room(room) if event.labels == ["membership"] and "leave" in event.text]
    assert (kick.author_id, own.user in kick.text) == (ana.user, True)


def test_who_was_kicked_and_comes_back_reads_on(ana: Person, own: Person) -> None:
    """Each event once, also those of the time between, which a member may see."""
    room = ana.make_room("Ops room", own)
    reader = Reader(own, operators=frozenset({ana.user}))(has(ana.say(room, "one")))
    ana.kick(room, own, "")
    reader(lambda reader: any("leave" in event.text for event in reader.of_room(room)) and idle(reader))
    ana.say(room, "between")
    ana.invite(room, own)
    reader(lambda _: room in own.joined())
    reader(has(ana.say(room, "two")))
    assert list(dict.fromkeys(reader.said(room))) == ["one", "between", "two"]
    assert len({(event.id, event.text) for event in reader.of_room(room)}) == len({e.id for e in reader.of_room(room)})


def test_a_room_that_the_account_leaves_is_read_to_its_end(ana: Person, own: Person) -> None:
    """A person left it with the account in another program, after others had spoken."""
    room = ana.make_room("Ops room", own)
    reader = Reader(own)(has(ana.say(room, "one")))
    ana.say(room, "two")
    own.leave(room)
    ana.say(room, "three")
    reader(lambda reader: any("leave" in event.text for event in reader.of_room(room)) and idle(reader))
    assert reader.said(room) == ["one", "two"]


@pytest.mark.parametrize("version", ["11", "12"])
def test_an_upgraded_room_is_followed_into_its_replacement(ana: Person, own: Person, version: str) -> None:
    """Nobody invites the account again; ids of rooms of version 12 name no server."""
    room = ana.make_room("Ops room", own, room_version="10", preset="public_chat")
    reader = Reader(own)(has(ana.say(room, "in the old room")))
    replacement = ana.upgrade(room, version)
    reader(lambda _: replacement in own.joined())
    reader(has(ana.say(replacement, "in the new room")))
    assert reader.said(room) == ["in the old room"]
    assert reader.said(replacement) == ["in the new room"]
    assert any(replacement in event.text for event in reader.of_room(room) if event.type == "status")
    assert any(room in event.text for event in reader.of_room(replacement) if event.type == "status")
    assert (":" in replacement) is (version == "11")


def test_an_upgraded_room_that_lets_nobody_in_is_told_and_holds_up_nothing(ana: Person, own: Person) -> None:
    """The replacement of a private room waits for an invitation, which is followed when it comes."""
    room, other = ana.make_room("Ops room", own), ana.make_room("Another", own)
    reader = Reader(own, operators=frozenset({ana.user}))(has(ana.say(room, "one")))
    replacement = ana.upgrade(room, "11")
    reader(has(ana.say(other, "goes on")))
    assert [("cannot be joined" in warning) for warning in reader.warnings] == [True]
    ana.invite(replacement, own)
    reader(has(ana.say(replacement, "in the new room")))
    assert reader.said(replacement) == ["in the new room"]


def test_with_now_only_what_is_said_from_the_start_on_is_read(ana: Person, own: Person) -> None:
    """And all that is said while the source is away after that."""
    room = ana.make_room("Ops room", own)
    ana.say_all(room, ["before 1", "before 2"])
    reader = Reader(own, backfill="now")(idle)
    last = ana.say_all(room, ["after 1", "after 2"])
    assert reader(has(*last)).said(room) == ["after 1", "after 2"]
