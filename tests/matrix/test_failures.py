"""A real Synapse that hangs, dies, or refuses: said in words, without a storm of calls, and nothing is lost by it.

Source: section 3.2 of the chat platform notes; case 25. What the errors of a server may look like is tested with a
scripted one, elsewhere.
"""

from collections.abc import Iterator

import pytest

from ingest.health import SourceState
from tests.support.matrix import Person
from tests.support.matrix_proxy import SYNC, Fault, Proxy
from tests.support.matrix_reader import Reader, has
from tests.support.synapse import PASSWORD, Homeserver


@pytest.fixture
def ana(homeserver: Homeserver) -> Person:
    return homeserver.person("ana")


@pytest.fixture
def own(homeserver: Homeserver) -> Person:
    return homeserver.person("own")


@pytest.fixture
def room(ana: Person, own: Person) -> str:
    return ana.make_room("Ops room", own)


@pytest.fixture
def proxy(homeserver: Homeserver) -> Iterator[Proxy]:
    with Proxy(homeserver.url) as between:
        yield between


def test_a_frozen_server_is_told_and_what_it_says_later_is_read(
    homeserver: Homeserver, ana: Person, own: Person, room: str
) -> None:
    """Its connections stay open and nothing is answered: no call waits for ever."""
    reader = Reader(own, wait_seconds=0.5, answer_seconds=1.0)(has(ana.say(room, "one")))
    homeserver.pause()
    try:
        reader(lambda it: it.health.last_error)
        assert "did not answer" in str(reader.health.last_error)
        assert reader.health.state is SourceState.BACKING_OFF
    finally:
        homeserver.resume()
    reader.options["answer_seconds"] = 60.0
    assert reader(has(ana.say(room, "two"))).said(room) == ["one", "two"]


def test_a_source_outlives_its_server(homeserver: Homeserver, ana: Person, own: Person, room: str) -> None:
    """The server dies while the source waits for news, and comes back with all it had."""
    texts = ["one", "two"]
    last = []

    def until_it_is_back(it: Reader) -> bool:
        if not last and it.said(room) == texts[:1] and it.health.swept:
            homeserver.kill()
            last.append("")
        elif last == [""] and it.health.last_error:
            assert "cannot be reached" in it.health.last_error
            homeserver.start()
            last[0] = ana.say(room, texts[1])
        return it.said(room) == texts

    ana.say(room, texts[0])
    reader = Reader(own)(until_it_is_back, 180)
    assert reader.said(room) == texts


def test_a_revoked_token_is_told_and_makes_no_storm(ana: Person, own: Person, room: str, proxy: Proxy) -> None:
    """A person has to give a new one; it is taken without a restart."""
    reader = Reader(own, proxy.url)(has(ana.say(room, "one")))
    own.call("POST", "/logout/all", {})
    before = len(proxy.calls)
    reader(lambda it: it.health.restarts > 2)
    assert reader.health.state is SourceState.FAILED
    assert "log in anew" in str(reader.health.last_error)
    assert own.token not in str(reader.health.last_error)
    assert len(proxy.calls) - before <= 2 * (reader.health.restarts + 1), "more calls than tries"
    last = ana.say(room, "two")
    renewed: list[str] = []

    def until_renewed(it: Reader) -> bool:
        if it.health.state is SourceState.FAILED and not renewed:
            own.token = own.log_in(PASSWORD)
            renewed.append(own.token)
        return has(last)(it)

    assert reader(until_renewed).said(room) == ["one", "two"]


FAULTS = (
    Fault(SYNC),
    Fault(SYNC, after=True),
    Fault(SYNC, 500, b'{"errcode":"M_UNKNOWN","error":"Internal server error"}'),
    Fault(SYNC, 502, b"<html>Bad gateway</html>"),
    Fault(SYNC, 200, b'{"next_batch":'),
    Fault(SYNC, 200, b'{"rooms": {}}'),
    Fault(SYNC, 429, b'{"errcode":"M_LIMIT_EXCEEDED","error":"Too Many Requests","retry_after_ms":50}'),
)


def test_a_call_that_fails_is_made_again(ana: Person, own: Person, room: str, proxy: Proxy) -> None:
    """Cut, with a lost answer, in trouble, cut short, without a token, or one of too many: with the same `since`."""
    reader = Reader(own, proxy.url)(has(ana.say(room, "one")))
    for number, fault in enumerate(FAULTS):
        since, asked = reader.since, len(proxy.sinces)
        last = ana.say(room, f"more {number}")
        proxy.faults.append(fault)
        reader(has(last))
        assert proxy.sinces[asked : asked + 2] == [since, since], fault
        # A connection that was cut is opened anew without a word.
        assert bool(reader.health.last_error) is bool(fault.status), fault
    assert proxy.faults == []
    assert reader.said(room) == ["one", *(f"more {number}" for number in range(len(FAULTS)))]


def test_a_source_waits_for_news_and_asks_no_more(ana: Person, own: Person, room: str, proxy: Proxy) -> None:
    """One call is open at a time, and is answered at once when somebody speaks."""
    reader = Reader(own, proxy.url, wait_seconds=30.0)(has(ana.say(room, "one")))
    asked = len(proxy.calls)
    spoken: list[str] = []

    def until_two_came(it: Reader) -> bool:
        if len(proxy.calls) > asked and len(spoken) < 2 and len(it.said(room)) == len(spoken) + 1:
            spoken.append(ana.say(room, f"more {len(spoken)}"))
        return len(it.said(room)) == 3

    reader(until_two_came)
    syncs = len(proxy.calls) - asked
    assert syncs <= 6, f"{syncs} calls for two messages: who it is, what is there, and one wait for each"
