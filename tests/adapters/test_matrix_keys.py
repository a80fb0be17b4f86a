"""Encrypted rooms: the keys that come are kept before anything is asked for again, and each reads what it is for.

The other side are devices of matrix-nio, an implementation that shares no code with ours above the cryptography.
"""

import asyncio
import copy
import json
from typing import Any

import pytest

from adapters.chat.matrix_device import ONE_TIME_KEYS, TOO_FEW
from adapters.chat.matrix_keys import Keys
from adapters.chat.matrix_keystore import count_room_keys
from adapters.chat.matrix_olm import MEGOLM
from tests.support.matrix_olm import ALICE, DEVICE, READER, ROOM, KeyServer, Reader, Sender, known_to, shared

BOB = "@bob:hs.test"
OTHER_ROOM = "!other:hs.test"


@pytest.fixture
def reader(tmp_path):
    made = Reader(tmp_path / "keys")
    yield made
    made.keys.close()


@pytest.fixture
def alice(reader) -> Sender:
    return known_to(reader.server, Sender())


def test_a_message_is_read_with_all_else_as_it_was(reader, alice) -> None:
    assert reader.take(shared(alice)) == []
    assert reader.keys.arrived
    event = alice.say("words")
    assert reader.keys.decrypt(ROOM, event) == event | {
        "type": "m.room.message",
        "content": {"msgtype": "m.text", "body": "words"},
    }
    assert event["type"] == "m.room.encrypted"


def test_a_key_may_come_after_the_message(reader, alice) -> None:
    """Until then the event says what it waits for, in this run and in the next."""
    key = shared(alice)
    event = alice.say("early")
    waits = reader.keys.waits_for(event)
    assert waits is not None
    assert (reader.reads(event), reader.keys.has(ROOM, waits)) == (None, False)
    reader.restart()
    assert reader.take(key) == []
    assert reader.keys.has(ROOM, waits)
    assert not reader.keys.has(OTHER_ROOM, waits)
    assert reader.reads(event) == "early"


def test_messages_to_the_device_that_come_again_change_nothing(reader, alice) -> None:
    """After a crash between our store and the log the server gives the same answer again, key messages and all."""
    key = shared(alice)
    event = alice.say("once")
    assert reader.take(key, key) == []
    reader.restart()
    assert reader.take(key) == []
    assert not reader.keys.arrived
    assert reader.reads(event) == "once"
    later = shared(alice)
    assert reader.take(key, later) == []
    assert reader.reads(alice.say("twice")) == "twice"


def test_events_are_read_again_after_a_restart(reader, alice) -> None:
    reader.take(shared(alice))
    events = [alice.say(f"m{number}") for number in range(3)]
    assert [reader.reads(event) for event in events] == ["m0", "m1", "m2"]
    reader.restart()
    assert [reader.reads(event) for event in events] == ["m0", "m1", "m2"]
    assert reader.take(shared(alice)) == []
    assert reader.reads(alice.say("with the next key")) == "with the next key"


@pytest.mark.parametrize("stored", ["put", "save_session", "keep", "note_handled"])
def test_a_crash_while_a_key_is_stored_leaves_all_of_it_or_nothing(reader, alice, monkeypatch, stored) -> None:
    """A one-time key that is spent without its room key being there would be lost for ever."""
    key = shared(alice)
    event = alice.say("kept")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(reader.keys._store, stored, die)
        with pytest.raises(KeyboardInterrupt):
            reader.keys._olm.receive(key)
    reader.restart()
    assert reader.reads(event) is None
    assert reader.take(key) == []
    assert reader.reads(event) == "kept"


def test_a_later_copy_of_a_key_takes_nothing_away(reader, alice) -> None:
    """It reads only what comes after it; an earlier one that comes later reads more, and is kept."""
    first = shared(alice)
    events = [alice.say("a"), alice.say("b")]
    second = alice.key_again(ROOM)
    after = alice.say("c")
    assert reader.take(second) == []
    assert [reader.reads(event) for event in (*events, after)] == [None, None, "c"]
    early = reader.keys.waits_for(events[0])
    assert early
    assert not reader.keys.has(ROOM, early)
    assert reader.take(first) == []
    assert reader.keys.has(ROOM, early)
    third = alice.key_again(ROOM)
    assert reader.take(third) == []
    assert not reader.keys.arrived
    assert [reader.reads(event) for event in (*events, after)] == ["a", "b", "c"]


def test_an_event_in_another_room_is_refused(reader, alice) -> None:
    reader.take(shared(alice))
    assert reader.refuses(alice.say("secret"), OTHER_ROOM) == "key-of-another-room"


def test_an_event_whose_payload_is_of_another_room_is_refused(reader, alice) -> None:
    """A key given for two rooms does not make the words of one those of the other."""
    alice.olm.create_outbound_group_session(ROOM)
    alice.olm.outbound_group_sessions[ROOM].mark_as_shared()
    elsewhere = alice.key_again(ROOM, room_id=OTHER_ROOM)
    assert reader.take(elsewhere) == []
    assert reader.refuses(alice.say("for the room"), OTHER_ROOM) == "payload-of-another-room"


def test_an_event_that_somebody_else_sends_again_is_refused(reader, alice) -> None:
    """Everybody in the room has the key and the ciphertext; the words stay those of who wrote them."""
    reader.take(shared(alice))
    event = alice.say("I approve")
    assert reader.refuses(event | {"sender": BOB, "event_id": "$bobs"}) == "key-of-another-sender"
    assert reader.reads(event) == "I approve"


def test_a_key_passed_on_by_another_makes_no_words_of_theirs_the_owners(reader, alice) -> None:
    """Bob may hand us Alice's key as his before she does: her events wait for her, and are read when her key comes."""
    key = shared(alice)
    bob = known_to(reader.server, Sender(BOB, "BOBDEV"))
    bob.olm.outbound_group_sessions[ROOM] = alice.olm.outbound_group_sessions[ROOM]
    assert reader.take(bob.key_again(ROOM)) == []
    event = alice.say("hers")
    assert reader.reads(event) is None
    assert reader.take(key) == []
    assert reader.reads(event) == "hers"


def test_a_message_sent_again_in_another_event_is_refused(reader, alice) -> None:
    reader.take(shared(alice))
    event = alice.say("pay 5")
    assert reader.reads(event) == "pay 5"
    assert reader.reads(event) == "pay 5"
    assert reader.refuses(event | {"event_id": "$again"}) == "replayed-message"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"sender": BOB}, "written by somebody else"),
        ({"recipient": BOB}, "written to somebody else"),
        ({"recipient_keys": {"ed25519": "another"}}, "written to another device"),
        ({"recipient_keys": None}, "written to another device"),
    ],
)
def test_a_message_to_the_device_says_who_writes_to_whom(reader, alice, changes, why) -> None:
    """Otherwise a message to somebody else could be passed on as one to us, or as one's own."""
    assert reader.take(alice.written()) == []
    (told,) = reader.take(alice.written(**changes))
    assert why in told
    (told,) = reader.take(alice.written() | {"sender": BOB})
    assert "written by somebody else" in told


def test_a_ciphertext_that_was_changed_is_refused(reader, alice) -> None:
    reader.take(shared(alice))
    event = alice.say("words")
    text = event["content"]["ciphertext"]
    event["content"]["ciphertext"] = text[:-30] + ("A" if text[-30] != "A" else "B") + text[-29:]
    assert reader.refuses(event) == "damaged-ciphertext"


@pytest.mark.parametrize(
    "payload", [{}, {"type": "m.room.message"}, {"type": 5, "content": {}}, {"type": "m.room.encrypted", "content": {}}]
)
def test_a_payload_that_is_no_event_is_refused(reader, alice, payload) -> None:
    reader.take(shared(alice))
    content = alice.olm.group_encrypt(ROOM, dict(payload))
    assert reader.refuses(alice.event(content)) == "malformed-encryption"


def test_a_payload_that_is_no_json_is_refused(reader, alice) -> None:
    reader.take(shared(alice))
    session = alice.olm.outbound_group_sessions[ROOM]
    for words in ("no json", "[1]", "[" * 100_000, ""):
        content = {"algorithm": MEGOLM, "session_id": session.id, "ciphertext": session.encrypt(words)}
        assert reader.refuses(alice.event(content)) == "malformed-encryption"


@pytest.mark.parametrize("changes", [{"algorithm": "m.megolm.v9"}, {"algorithm": None}])
def test_another_encryption_is_refused_by_name(reader, alice, changes) -> None:
    reader.take(shared(alice))
    event = alice.say("words")
    event["content"] |= changes
    assert reader.refuses(event) == "unknown-encryption"
    assert reader.keys.waits_for(event) is None


def test_events_need_not_name_the_senders_device(reader, alice) -> None:
    """`sender_key` and `device_id` are deprecated since Matrix 1.3: clients may leave them out."""
    reader.take(shared(alice))
    event = alice.say("words")
    del event["content"]["sender_key"], event["content"]["device_id"]
    assert reader.reads(event) == "words"


def test_the_relation_in_the_clear_is_the_events(reader, alice) -> None:
    """Edits in encrypted rooms: what an event relates to is outside of what is encrypted."""
    reader.take(shared(alice))
    relation = {"rel_type": "m.replace", "event_id": "$original"}
    edit = alice.say("* new", **{"m.new_content": {"msgtype": "m.text", "body": "new"}, "m.relates_to": relation})
    content = reader.keys.decrypt(ROOM, edit)["content"]
    assert (content["m.relates_to"], content["m.new_content"]["body"]) == (relation, "new")


def test_a_relation_that_is_only_encrypted_counts_unless_it_is_an_edit(reader, alice) -> None:
    reader.take(shared(alice))

    def relation(inner: dict[str, Any], outer: dict[str, Any] | None = None) -> object:
        content = alice.olm.group_encrypt(ROOM, {"type": "m.room.message", "content": {"m.relates_to": inner}})
        event = alice.event(content | ({"m.relates_to": outer} if outer else {}))
        return reader.keys.decrypt(ROOM, event)["content"].get("m.relates_to")

    reply = {"m.in_reply_to": {"event_id": "$a"}}
    assert relation(reply) == reply
    assert relation({"rel_type": "m.replace", "event_id": "$a"}) is None
    assert relation(reply, {"m.in_reply_to": {"event_id": "$b"}}) == {"m.in_reply_to": {"event_id": "$b"}}


def test_a_device_is_made_known_once(reader) -> None:
    assert len(reader.server.uploads("device_keys")) == 1
    assert len(reader.server.one_time[READER, DEVICE]) == ONE_TIME_KEYS
    reader.restart()
    assert reader.take() == []
    assert len(reader.server.uploads("device_keys")) == 1
    assert len(reader.server.uploads("one_time_keys")) == 1
    assert len(reader.server.uploads("fallback_keys")) == 1


def test_one_time_keys_are_uploaded_when_they_grow_few(reader) -> None:
    """Each sender takes one to begin a session; the keys made later serve as well as the first."""
    senders = []
    while len(reader.server.one_time[READER, DEVICE]) >= TOO_FEW:
        senders.append(known_to(reader.server, Sender(f"@u{len(senders)}:hs.test", "DEV")))
    assert reader.take() == []
    assert len(reader.server.one_time[READER, DEVICE]) == ONE_TIME_KEYS
    names = [name for body in reader.server.uploads("one_time_keys") for name in body]
    assert len(names) == len(set(names))
    latest = known_to(reader.server, Sender("@late:hs.test", "DEV"))
    for sender in (senders[0], latest):
        assert reader.take(shared(sender)) == []
        assert reader.reads(sender.say("hi")) == "hi"


def test_a_one_time_key_serves_once(reader) -> None:
    """Its private half is gone once the first session is begun, so that nobody can read what was written for it."""
    claimed = reader.server.claim(READER, DEVICE)
    first, second = Sender(), Sender(BOB, "BOBDEV")
    for sender in (first, second):
        sender.meet(reader.server.query([READER]), copy.deepcopy(claimed))
    assert reader.take(shared(first)) == []
    reader.restart()
    (told,) = reader.take(shared(second))
    assert "no session with its sender reads it" in told


def test_a_fallback_key_serves_when_all_are_used_up(reader) -> None:
    """A source that was down for long is still given keys; the fallback key is then changed for a new one."""
    reader.server.one_time[READER, DEVICE].clear()
    senders = [known_to(reader.server, Sender(f"@u{number}:hs.test", "DEV")) for number in range(2)]
    assert reader.take(*map(shared, senders)) == []
    assert [reader.reads(sender.say("hi")) for sender in senders] == ["hi", "hi"]
    first, second = reader.server.uploads("fallback_keys")
    assert not first.keys() & second.keys()


def test_an_upload_that_may_have_arrived_is_made_again_with_the_same_keys(tmp_path) -> None:
    """The process dies after the server has them, before we know it."""
    server = KeyServer()
    keys = Keys.open(tmp_path, READER, DEVICE)

    async def dying(method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await server.call(method, path, body)
        if path.endswith("upload"):
            raise KeyboardInterrupt
        return answer

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(keys.take(server.sync(), dying))
    keys.close()
    keys = Keys.open(tmp_path, READER, DEVICE)
    asyncio.run(keys.take(server.sync(), server.call))
    for kind in ("one_time_keys", "fallback_keys"):
        first, second = server.uploads(kind)
        assert first == second
    sender = known_to(server, Sender())
    assert asyncio.run(keys.take(server.sync(shared(sender)), server.call)) == []
    assert keys.decrypt(ROOM, sender.say("hi"))["content"]["body"] == "hi"
    keys.close()


def test_after_a_restored_backup_keys_get_names_of_their_own(reader) -> None:
    """The server has later keys under the next names, and refuses others under them: the ones after those serve."""

    def use_up() -> None:
        while len(keys) >= TOO_FEW:
            reader.server.claim(READER, DEVICE)

    keys = reader.server.one_time[READER, DEVICE]
    backup = {path: path.read_bytes() for path in reader.folder.iterdir()}
    use_up()
    assert reader.take() == []
    reader.keys.close()
    for path, content in backup.items():
        path.write_bytes(content)
    reader.restart()
    use_up()
    (told,) = reader.take()
    assert "already exists" in told
    reader.keys._device._not_before = 0.0
    assert reader.take() == []
    assert len(keys) == ONE_TIME_KEYS
    for name in list(keys)[:-1]:
        del keys[name]
    sender = known_to(reader.server, Sender())
    assert reader.take(shared(sender)) == []
    assert reader.reads(sender.say("hi")) == "hi"


def test_a_device_that_the_server_forgot_is_made_known_again(reader) -> None:
    """Logged out and in again under the same name: the server has dropped its keys."""
    reader.server.devices.clear()
    reader.server.one_time.clear()
    reader.restart()
    assert reader.take() == []
    sender = known_to(reader.server, Sender())
    assert reader.take(shared(sender)) == []
    assert reader.reads(sender.say("hi")) == "hi"


def test_a_key_that_is_not_shared_is_told_with_its_reason(reader) -> None:
    content = {"algorithm": MEGOLM, "code": "m.unverified", "reason": "not\x1b verified", "room_id": ROOM}
    (told,) = reader.take({"type": "m.room_key.withheld", "sender": ALICE, "content": content})
    assert told == f"{ALICE} does not share the keys of {ROOM} with this device: m.unverified not  verified"


def test_keys_are_counted_beside_who_has_them_open(reader, alice, tmp_path) -> None:
    assert count_room_keys(reader.folder) == 0
    reader.take(shared(alice))
    assert count_room_keys(reader.folder) == 1
    assert count_room_keys(tmp_path / "nowhere") is None


def test_what_we_upload_is_signed_and_known_to_others(reader, alice) -> None:
    """What has a wrong signature nio drops, and it would have no session with us."""
    assert alice.olm.device_store[READER][DEVICE].curve25519 == reader.keys._olm.curve25519
    uploaded = json.dumps(reader.server.calls)
    assert reader.keys._olm.account().pickle(bytes(32)) not in uploaded
