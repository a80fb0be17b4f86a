"""Whatever a message to the device or an encrypted event holds, it costs itself alone."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.chat.matrix_keys import RefusedEventError
from adapters.chat.matrix_olm import MEGOLM
from adapters.contract import PermanentSourceError
from tests.support.matrix_olm import DEVICE, READER, ROOM, Reader, Sender, known_to, shared
from tests.support.sessions import junk, mutated

REASONS = {
    "malformed-encryption", "unknown-encryption", "key-of-another-sender", "key-of-another-room", "damaged-ciphertext",
    "payload-of-another-room", "replayed-message",
}  # fmt: skip
examples = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])  # each is on a file, durably


class Pair:
    """A reader and somebody who shares keys with it, for many examples."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.alice = reader, known_to(reader.server, Sender())

    def still_reads(self) -> bool:
        """Whether a next key still comes, and reads."""
        return self.reader.take(shared(self.alice)) == [] and self.reader.reads(self.alice.say("sound")) == "sound"


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    made = Pair(Reader(tmp_path_factory.mktemp("keys")))
    yield made
    made.reader.keys.close()


@given(data=st.data())
@examples
def test_a_malformed_message_to_the_device_costs_itself(pair, data) -> None:
    """The key that comes with it, before or after, is taken."""
    broken = data.draw(mutated([shared(pair.alice)]) | junk)
    good = shared(pair.alice)
    warned = pair.reader.take(broken, good)
    assert len(warned) <= 1
    assert pair.reader.keys.arrived
    assert pair.reader.reads(pair.alice.say("sound")) == "sound"


@given(data=st.data())
@examples
def test_a_malformed_payload_costs_itself(pair, data) -> None:
    """It was encrypted as it should be, by a device that we have a session with."""
    session = pair.alice.olm.outbound_group_sessions.get(ROOM)
    if session is None:
        assert pair.still_reads()
        session = pair.alice.olm.outbound_group_sessions[ROOM]
    content = {"algorithm": MEGOLM, "room_id": ROOM, "session_id": session.id, "session_key": session.session_key}
    kind, content = data.draw(mutated([["m.room_key", content]]).filter(lambda made: len(made) == 2))
    assert len(pair.reader.take(pair.alice.to_reader(kind, content))) <= 1
    assert pair.still_reads()


@given(data=st.data())
@examples
def test_a_malformed_event_is_read_refused_or_waits(pair, data) -> None:
    assert pair.still_reads()
    event: Any = data.draw(mutated([pair.alice.say("words")]).filter(lambda made: isinstance(made, dict)))
    try:
        found = pair.reader.keys.decrypt(ROOM, event)
    except RefusedEventError as error:
        assert error.reason in REASONS  # noqa: PT017 - either is right
    else:
        if found is None:
            waits = pair.reader.keys.waits_for(event)
            assert waits
            assert not pair.reader.keys.has(ROOM, waits)
        else:
            assert found["content"]["body"] == "words"
    assert pair.reader.reads(pair.alice.say("sound")) == "sound"


@given(payload=st.dictionaries(st.sampled_from(["type", "content", "room_id", "x"]), junk))
@examples
def test_an_encrypted_payload_of_any_shape_is_read_or_refused(pair, payload) -> None:
    assert pair.still_reads()
    event = pair.alice.event(pair.alice.encrypt(ROOM, {}))
    event["content"] |= pair.alice.olm.group_encrypt(ROOM, dict(payload))
    try:
        found = pair.reader.keys.decrypt(ROOM, event)
    except RefusedEventError as error:
        assert error.reason in REASONS  # noqa: PT017 - either is right
    else:
        assert (found["type"], found["content"]) == (payload["type"], payload["content"])


@given(session=st.text(max_size=30), room=st.text(max_size=10))
def test_what_was_remembered_of_waiting_may_be_anything(pair, session, room) -> None:
    assert not pair.reader.keys.has(room, session)


@given(data=st.data())
@examples
def test_a_malformed_answer_stops_nothing(tmp_path_factory, data) -> None:
    """Of the sync, and of the server's answers to ours; only other keys under our name end it."""
    reader = Reader(tmp_path_factory.mktemp("keys"))
    alice = known_to(reader.server, Sender())
    alice.publish(reader.server)
    assert reader.take(shared(alice)) == []
    reader.keys._store._execute("DELETE FROM olm_sessions")
    reader.restart()

    async def call(method: str, path: str, body: dict[str, Any]) -> Any:
        return data.draw(mutated([await reader.server.call(method, path, body)]))

    answer: Any = data.draw(mutated([reader.server.sync(shared(alice))]).filter(lambda made: isinstance(made, dict)))
    try:
        reader.take_with(answer, call)
    except PermanentSourceError as error:
        assert "with other keys" in str(error)  # noqa: PT017 - both are right
    reader.restart()
    bob = known_to(reader.server, Sender("@bob:hs.test", "BOBDEV"))
    assert reader.take(shared(bob)) == []
    assert reader.reads(bob.say("sound")) == "sound"
    assert reader.server.devices[READER, DEVICE]
    reader.keys.close()
