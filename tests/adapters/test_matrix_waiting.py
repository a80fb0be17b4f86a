"""Events that wait for a key: bounded, remembered across restarts, and each let go once it is resolved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat import matrix_waiting
from adapters.chat.matrix_waiting import WAITING, Waiting
from adapters.chat.recent import Parts
from ingest.health import Health, SourceHealth
from ingest.metrics import Metrics
from tests.support.fake_homeserver import FakeHomeserver
from tests.support.matrix_live import Run, points
from tests.support.matrix_olm import ROOM, Reader, Sender, known_to, shared
from tests.support.sources import MemoryLog


def waiting(remembered: bytes | None = None) -> tuple[Waiting, Parts]:
    parts = Parts({} if remembered is None else {WAITING: remembered}, "ops")
    return Waiting(parts, "ops"), parts


def test_what_is_ready_stays_until_it_is_let_go() -> None:
    """A crash between the fetch and the commit fetches it again."""
    found, _ = waiting()
    for event, session in (("$a", "one"), ("$b", "two"), ("$c", "one")):
        found.add(ROOM, event, session)
    for _ in range(2):
        assert found.ready(lambda _, session: session == "one") == [(ROOM, "$a"), (ROOM, "$c")]
    found.leave(ROOM, "$a")
    found.leave(ROOM, "$c")
    found.leave(ROOM, "$c")
    assert found.ready(lambda *_: True) == [(ROOM, "$b")]
    assert len(found) == 1


def test_the_same_session_of_another_room_is_asked_for_itself() -> None:
    found, _ = waiting()
    found.add(ROOM, "$a", "one")
    found.add("!other", "$b", "one")
    assert found.ready(lambda room, _: room == ROOM) == [(ROOM, "$a")]


def test_it_is_remembered_and_says_when_it_changed() -> None:
    found, _ = waiting()
    assert not found.changed
    found.add(ROOM, "$a", "one")
    found.add(ROOM, "$b", "two")
    assert found.changed
    written = found.encoded()
    assert not found.changed
    found.add(ROOM, "$a", "one")
    found.leave(ROOM, "$nothing")
    assert not found.changed
    again, parts = waiting(written)
    assert (again.ready(lambda *_: True), again.changed, parts.warnings) == ([(ROOM, "$a"), (ROOM, "$b")], False, [])
    again.leave(ROOM, "$a")
    assert again.changed


def test_the_oldest_are_given_up_and_that_is_told_once(monkeypatch) -> None:
    monkeypatch.setattr(matrix_waiting, "MAX_WAITING", 3)
    found, _ = waiting()
    for number in range(5):
        found.add(ROOM, f"${number}", "one")
    assert found.ready(lambda *_: True) == [(ROOM, "$2"), (ROOM, "$3"), (ROOM, "$4")]
    (warned,) = found.given_up()
    assert warned.message.startswith("2 events")
    assert found.given_up() == []


@pytest.mark.parametrize("remembered", [b"", b"{}", b'{"events":[["a"]]}', b'{"events":[],"version":9}', b"\xff"])
def test_what_was_remembered_and_is_damaged_is_told_and_not_used(remembered) -> None:
    found, parts = waiting(remembered)
    assert (len(found), len(parts.warnings)) == (0, 1)


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "leave", "restart"]), st.sampled_from("abc"), st.integers(0, 5)), max_size=40
    )
)
def test_it_is_what_a_list_would_be(steps) -> None:
    """Against a model: order of arrival, each event once, nothing lost by restarts."""
    found, _ = waiting()
    model: dict[tuple[str, str], str] = {}
    for step, room, number in steps:
        if step == "add":
            found.add(room, f"${number}", str(number))
            model[room, f"${number}"] = str(number)
        elif step == "leave":
            found.leave(room, f"${number}")
            model.pop((room, f"${number}"), None)
        else:
            found, _ = waiting(found.encoded())
        assert found.ready(lambda *_: True) == list(model)
        assert found.ready(lambda _, session: session == "3") == [place for place in model if model[place] == "3"]


def test_an_event_is_resolved_when_its_key_comes_after_a_restart(tmp_path) -> None:
    reader = Reader(tmp_path)
    alice = known_to(reader.server, Sender())
    key = shared(alice)
    events = {event["event_id"]: event for event in (alice.say("a"), alice.say("b"))}
    found, _ = waiting()
    for name, event in events.items():
        found.add(ROOM, name, reader.keys.waits_for(event) or "")
    assert found.ready(reader.keys.has) == []
    remembered = found.encoded()
    assert reader.take(key) == []
    reader.restart()
    found, _ = waiting(remembered)
    assert reader.keys.arrived
    assert [reader.reads(events[event]) for _, event in found.ready(reader.keys.has)] == ["a", "b"]
    reader.keys.close()


def test_health_and_metrics_tell_how_many_wait() -> None:
    """A person sees that keys are missing, and after a restart too."""
    found, _ = waiting()
    found.add(ROOM, "$a", "one")
    found.add(ROOM, "$b", "one")
    log = MemoryLog(points={**points("s0"), WAITING: found.encoded()})
    with FakeHomeserver() as server:
        run = Run(server, log)
        health, metrics = Health(), Metrics()
        assert SourceHealth.of(run.adapter).undecrypted() == 0  # not started yet
        run(lambda it: it.health.swept)
        health.sources["matrix.ops"] = run.health
        metrics.watch(health, log)
    words = "source matrix.ops: 2 encrypted messages wait for keys that nobody has shared with this device"
    assert health.warnings() == [words]
    assert metrics.registry.get_sample_value("ingest_undecrypted_events", {"source": "matrix.ops"}) == 2
