"""What an import remembers is exact at any number of events, and small."""

import os
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import import_state
from ingest.import_state import MemoryState
from ingest.processors.deduplicate import Sight
from tests.support.processors import event

# Few different bytes, so that keys share tables and are found across the border of two entries.
KEYS = st.lists(st.sampled_from([0, 1]), min_size=16, max_size=16).map(bytes)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=60), st.sets(KEYS, max_size=10))
def test_it_is_a_set_of_ids(steps, others) -> None:
    state, model = MemoryState(), set()
    for put, key in steps:
        if put:
            state.put(key, bytes(16))
            model.add(key)
        else:
            state.delete(key)
            model.discard(key)
    asked = {key for _, key in steps} | others
    assert state.get_many(asked).keys() == model & asked


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=20))
def test_each_id_is_first_once(numbers) -> None:
    state = MemoryState()
    sights = [state.see(event(f"id-{number}")) for number in numbers]
    assert [sight is Sight.FIRST for sight in sights] == [n not in numbers[:at] for at, n in enumerate(numbers)]


def test_what_is_forgotten_is_first_again() -> None:
    state = MemoryState()
    state.see(event("a"))
    state.forget(event("a"))
    assert state.see(event("a")) is Sight.FIRST


def test_anything_but_an_id_is_refused() -> None:
    with pytest.raises(ValueError, match="only ids"):
        MemoryState().put(b"short", bytes(16))


def test_an_event_takes_less_than_30_bytes(monkeypatch) -> None:
    monkeypatch.setattr(import_state, "TABLES", 1 << 10)
    monkeypatch.setattr(import_state, "_MASK", (1 << 10) - 1)
    state = MemoryState()
    tracemalloc.start()
    for _ in range(50_000):
        state.put(os.urandom(16), bytes(16))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 30 * 50_000


def test_the_log_is_asked_for_what_this_run_does_not_know() -> None:
    class Log:
        asked: list[list[bytes]] = []  # noqa: RUF012 - one instance

        def state(self, store: str, keys: list[bytes]) -> dict[bytes, bytes]:
            self.asked.append(keys)
            return {b"b" * 16: bytes(16)}

    log = Log()
    state = MemoryState(log)
    state.put(b"a" * 16, bytes(16))
    assert state.get_many([b"a" * 16, b"b" * 16]).keys() == {b"a" * 16, b"b" * 16}
    assert log.asked == [[b"b" * 16]]
