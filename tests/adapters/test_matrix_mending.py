"""A session that is broken is made anew, so that the keys which a device shares next arrive."""

from typing import Any

import pytest
from nio import DummyEvent

from adapters.chat import matrix_mending
from tests.support.matrix_olm import ALICE, READER, Reader, Sender, known_to, shared


@pytest.fixture
def reader(tmp_path):
    made = Reader(tmp_path)
    yield made
    made.keys.close()


@pytest.fixture
def alice(reader) -> Sender:
    """Somebody whose session with us was lost with a restored backup: she does not know, and goes on in it."""
    sender = known_to(reader.server, Sender())
    sender.publish(reader.server)
    assert reader.take(shared(sender)) == []
    reader.keys._store._execute("DELETE FROM olm_sessions")
    return sender


def test_the_next_key_arrives(reader, alice) -> None:
    (told,) = reader.take(shared(alice))
    assert told == f"a message with keys from {ALICE} cannot be used: no session with its sender reads it"
    (sent,) = reader.server.sent
    greeting = alice.receive(sent[ALICE]["ALICEDEV"])
    assert isinstance(greeting, DummyEvent)
    assert greeting.sender == READER
    assert reader.take(shared(alice)) == []
    assert reader.reads(alice.say("back again")) == "back again"
    reader.restart()
    assert reader.take(shared(alice)) == []
    assert reader.reads(alice.say("and again")) == "and again"


def test_a_device_is_greeted_once_an_hour(reader, alice, monkeypatch) -> None:
    assert len(reader.take(shared(alice), shared(alice))) == 2
    assert len(reader.take(shared(alice))) == 1
    assert len(reader.server.sent) == 1
    monkeypatch.setattr(matrix_mending, "PAUSE_SECONDS", 0.0)
    assert len(reader.take(shared(alice))) == 1
    assert len(reader.server.sent) == 2


def test_devices_of_one_answer_are_bounded_and_so_is_what_is_remembered(reader, monkeypatch) -> None:
    monkeypatch.setattr(matrix_mending, "MOST_AT_ONCE", 3)
    monkeypatch.setattr(matrix_mending, "MAX_REMEMBERED", 2)
    mending = reader.keys._mending
    for number in range(9):
        mending.note(f"@u{number}:hs.test", "key")
    assert len(mending._broken) == 3
    assert len(mending._tried) == 2


@pytest.mark.parametrize("wrong", ["user", "device_key", "one_time_key", "signature"])
def test_only_keys_that_the_device_has_signed_are_used(reader, alice, wrong) -> None:
    """Otherwise whoever answers in its place would be who we write to."""
    device: dict[str, Any] = reader.server.devices[ALICE, "ALICEDEV"]
    one_time = reader.server.one_time[ALICE, "ALICEDEV"]
    if wrong == "user":
        device["user_id"] = "@mallory:hs.test"
    elif wrong == "device_key":
        device["keys"]["ed25519:ALICEDEV"] = reader.keys._olm.ed25519
    elif wrong == "one_time_key":
        for key in one_time.values():
            key["key"] = reader.keys._olm.curve25519
    else:
        for key in one_time.values():
            key["signatures"] = {}
    assert len(reader.take(shared(alice))) == 1
    assert reader.server.sent == []


def test_a_signed_one_time_key_that_is_none_costs_only_itself(reader, alice) -> None:
    name, key = next(iter(reader.server.one_time[ALICE, "ALICEDEV"].items()))
    key["key"] = "AAAA"
    del key["signatures"]
    key["signatures"] = {ALICE: {"ed25519:ALICEDEV": alice.olm.sign_json({"key": "AAAA"})}}
    reader.server.one_time[ALICE, "ALICEDEV"] = {name: key}
    bob = known_to(reader.server, Sender("@bob:hs.test", "BOBDEV"))
    assert len(reader.take(shared(alice), shared(bob))) == 1
    assert reader.server.sent == []
    assert reader.reads(bob.say("hi")) == "hi"
