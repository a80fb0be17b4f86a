"""`kill -9` between receiving, appending, committing and asking again, against a real Synapse.

Nothing is missing, a repeat has the same id, and the server hears of no `since` that the log lacks: it would delete
what came with it, keys of encrypted messages among that. Issue 5, "It must show"; section 7 of the chat platform notes.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.chat.identity import matrix_event_id
from tests.support.daemon import eventually
from tests.support.matrix import Talk
from tests.support.matrix_lives import KEY_POINTS, POINTS, Lives
from tests.support.matrix_proxy import Proxy
from tests.support.matrix_sealed import Sealing, has_device
from tests.support.synapse import Homeserver


@pytest.fixture
def proxy(homeserver: Homeserver) -> Iterator[Proxy]:
    with Proxy(homeserver.url) as between:
        yield between


def messages(lives: Lives, room: str) -> list[tuple[str, str]]:
    """Text and id of every message of a room in the log, in order."""
    return [(text, identifier) for kind, text, identifier in lives.captured(room) if kind == "message"]


def expected(sent: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(text, matrix_event_id(event)) for text, event in sent]


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_loses_and_changes_nothing(
    homeserver: Homeserver, proxy: Proxy, tmp_path: Path, point: str
) -> None:
    """In the first answer of a life and in a later one, while somebody talks; the third life finishes."""
    ana, own = homeserver.person("ana"), homeserver.person("own")
    room = ana.make_room("Ops room", own)
    with Lives(tmp_path, own, proxy) as lives:
        with Talk(ana.say, room) as talk:
            lives.dies(point, 1)
            lives.dies(point, 2)
        with lives.alive():
            eventually(lambda: len(messages(lives, room)) >= len(talk.sent[room]), 60)
    assert messages(lives, room) == expected(talk.sent[room]), "each exactly once, in its place, with its id"
    assert lives.watch.ahead == []


@pytest.mark.parametrize("point", [*KEY_POINTS, *POINTS])
def test_a_kill_at_any_point_loses_no_key(homeserver: Homeserver, proxy: Proxy, tmp_path: Path, point: str) -> None:
    """The server gives a key until the next `since` is asked for: it may come twice, and never not at all."""
    ana, own = Sealing(homeserver.person("ana")), homeserver.person("own")
    room = ana.make_room("Ops room", own)
    with Lives(tmp_path, own, proxy, encryption=True) as lives:
        with lives.alive():
            eventually(lambda: has_device(own) and lives.watch.stored is not None, 60)
        ana.meet(own)
        sent = []
        for number in range(2):
            ana.share(room, own)
            sent.append((f"sealed {number}", ana.say(room, f"sealed {number}")))
        lives.dies(point)
        with lives.alive():
            eventually(lambda: len(messages(lives, room)) >= len(sent), 60)
            ana.share(room, own)
            sent.append(("and later", ana.say(room, "and later")))
            eventually(lambda: len(messages(lives, room)) >= len(sent), 60)
    assert messages(lives, room) == expected(sent)
    assert "[undecrypted message]" not in [text for _, text, _ in lives.captured(room)]
    assert lives.watch.ahead == []


def test_the_watch_sees_a_since_that_the_log_lacks(homeserver: Homeserver, proxy: Proxy, tmp_path: Path) -> None:
    """What the other tests rely on: a client that stores nothing is noticed."""
    own = homeserver.person("own")
    with Lives(tmp_path, own, proxy) as lives:
        since = own.call("GET", "/sync?timeout=0")["next_batch"]
        own.url = proxy.url
        own.call("GET", f"/sync?timeout=0&since={since}")
    assert lives.watch.ahead == [(since, None)]
