"""An encrypted room of a real Synapse, in which matrix-nio encrypts: read across restarts, and keys that come late.

Issue 5, "It must show": an encrypted room across a restart. Source: sections 3.1 and 3.4 of the chat platform notes.
"""

from pathlib import Path

import pytest

from adapters.chat.identity import matrix_event_id
from tests.support.matrix import Person, edit_of, related, reply_to, words
from tests.support.matrix_reader import Reader, has
from tests.support.matrix_sealed import Sealing, has_device
from tests.support.synapse import PASSWORD, Homeserver

PLACEHOLDER = "[undecrypted message]"


@pytest.fixture
def ana(homeserver: Homeserver) -> Sealing:
    return Sealing(homeserver.person("ana"))


@pytest.fixture
def own(homeserver: Homeserver) -> Person:
    return homeserver.person("own")


@pytest.fixture
def reader(own: Person, tmp_path: Path) -> Reader:
    """A source that has been there once, and whose device has its keys at the server."""
    return Reader(own, folder=tmp_path / "matrix", encryption=True)(lambda it: it.health.swept and has_device(own))


def test_what_is_said_in_an_encrypted_room_is_read(ana: Sealing, own: Person, reader: Reader) -> None:
    """Words, edits, replies and reactions are those of a room that is not encrypted, with the ids of their events."""
    room = ana.make_room("Vault", own)
    ana.meet(own)
    ana.share(room, own)
    first = ana.say(room, "the code is 1234")
    edit = ana.send(room, edit_of(first, "the code is 5678"))
    reply = ana.send(room, words("> <@ana> quoted\n\nnoted", **reply_to(first)))
    thread = ana.send(room, words("in the thread", **related("m.thread", first)))
    reaction = ana.person.react(room, first, "👍")
    reader(has(first, edit, reply, thread, reaction))
    found = [reader.get(event) for event in (first, edit, reply, thread, reaction)]
    assert [(event.type, event.text, event.labels) for event in found] == [
        ("message", "the code is 1234", []),
        ("message", "the code is 5678", ["edit"]),
        ("message", "noted", []),
        ("message", "in the thread", ["thread"]),
        ("status", "👍", ["reaction"]),
    ]
    assert [reader.get(e).parent_message_id for e in (reply, thread)] == [first, first]
    assert PLACEHOLDER not in [event.text for event in reader.events]


def test_the_room_is_read_across_restarts_with_the_keys_from_before(ana: Sealing, own: Person, reader: Reader) -> None:
    """The key came in an earlier life: the device and its store are the same; a new key comes while it is away."""
    room = ana.make_room("Vault", own)
    ana.meet(own)
    ana.share(room, own)
    reader(has(ana.say(room, "one")))
    reader(has(ana.say(room, "two, by the old key")))
    ana.share(room, own)
    away = [ana.say(room, "three, by a new key"), ana.say(room, "four")]
    reader(has(*away))
    assert reader.said(room) == ["one", "two, by the old key", "three, by a new key", "four"]
    assert PLACEHOLDER not in [event.text for event in reader.events]


def test_a_message_whose_key_comes_late_is_read_when_it_comes(ana: Sealing, own: Person, reader: Reader) -> None:
    """Its placeholder stands in its place at once; the message has the id that it would have had in time.

    The source is restarted between the two: what waits is in its checkpoints.
    """
    room = ana.make_room("Vault", own)
    ana.meet(own)
    key = ana.new_key(room, own)
    late = [ana.say(room, "sealed"), ana.say(room, "sealed too")]
    placeholders = {matrix_event_id(event, "undecrypted") for event in late}
    reader(lambda it: placeholders <= {event.id for event in it.events} and it.health.swept)
    assert reader.said(room) == []
    assert "2 encrypted messages wait for keys" in reader.whole.warnings()[0]
    ana.bring(key)
    reader(has(*late))
    assert reader.said(room) == ["sealed", "sealed too"]
    assert reader.whole.warnings() == []
    assert {event.id for event in reader.events if event.text == PLACEHOLDER} == placeholders


def test_a_key_that_comes_while_the_source_runs_opens_what_waits(ana: Sealing, own: Person, reader: Reader) -> None:
    room = ana.make_room("Vault", own)
    ana.meet(own)
    key = ana.new_key(room, own)
    late = ana.say(room, "sealed")
    brought = []

    def opened(it: Reader) -> bool:
        if not brought and any(event.text == PLACEHOLDER for event in it.events):
            brought.append(ana.bring(key))
        return has(late)(it)

    assert reader(opened).said(room) == ["sealed"]


def test_a_room_is_read_from_before_its_encryption_on(ana: Sealing, own: Person, reader: Reader) -> None:
    """Encryption is switched on in the middle of a conversation."""
    room = ana.person.make_room("Ops", own)
    clear = ana.person.say(room, "in the clear")
    ana.person.change(room, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
    ana.meet(own)
    ana.share(room, own)
    sealed = ana.say(room, "sealed")
    assert reader(has(clear, sealed)).said(room) == ["in the clear", "sealed"]


def test_an_encrypted_message_that_was_taken_back_has_no_words(ana: Sealing, own: Person, reader: Reader) -> None:
    """Nothing of it is left at the server; that it was taken back is told."""
    room = ana.make_room("Vault", own)
    ana.meet(own)
    ana.share(room, own)
    taken = ana.say(room, "a slip")
    redaction, last = ana.person.redact(room, taken, "a slip"), ana.say(room, "last")
    reader(has(redaction, last))
    assert reader.said(room) == ["last"]
    assert reader.get(redaction).parent_message_id == taken
    assert PLACEHOLDER not in [event.text for event in reader.events]


def test_without_encryption_the_messages_are_kept_as_placeholders(ana: Sealing, own: Person) -> None:
    """The owner does not want keys here: nothing is dropped silently, and no device gets keys."""
    room = ana.make_room("Vault", own)
    ana.new_key(room)
    event = ana.say(room, "sealed")
    placeholder = matrix_event_id(event, "undecrypted")
    reader = Reader(own, encryption=False)(lambda it: placeholder in {event.id for event in it.events})
    assert reader.said(room) == []
    assert not has_device(own)


def test_a_login_by_password_is_one_device_across_restarts(ana: Sealing, own: Person, tmp_path: Path) -> None:
    """What was sealed for the first life is read in the second, and the server knows no other device."""
    options = {"password": lambda: PASSWORD, "folder": tmp_path / "matrix", "encryption": True}
    reader = Reader(own, **options)(lambda it: it.health.swept and has_device(own))
    room = ana.make_room("Vault", own)
    ana.meet(own)
    ana.share(room, own)
    reader(has(ana.say(room, "one")))
    reader(has(ana.say(room, "two")))
    assert reader.said(room) == ["one", "two"]
    names = [device["display_name"] for device in own.call("GET", "/devices")["devices"]]
    assert names.count("session-triage") == 1


def test_a_login_whose_token_was_revoked_is_made_again_as_the_same_device(
    ana: Sealing, own: Person, tmp_path: Path
) -> None:
    """Somebody logs all devices out; the keys are those of the device, and go on."""
    options = {"password": lambda: PASSWORD, "folder": tmp_path / "matrix", "encryption": True}
    reader = Reader(own, **options)(lambda it: it.health.swept and has_device(own))
    room = ana.make_room("Vault", own)
    ana.meet(own)
    ana.share(room, own)
    reader(has(ana.say(room, "one")))
    before = _device(own)
    own.call("POST", "/logout/all", {})
    own.token = own.log_in(PASSWORD)
    reader(has(ana.say(room, "two")))
    ana.meet(own)
    ana.share(room, own)
    reader(has(ana.say(room, "three")))
    assert reader.said(room) == ["one", "two", "three"]
    assert _device(own) == before


def _device(person: Person) -> list[str]:
    devices = person.call("GET", "/devices")["devices"]
    return [device["device_id"] for device in devices if device["display_name"] == "session-triage"]
