"""300 messages while the source was away: a limited timeline is filled before the `since` moves, page by page.

Issue 5, "It must show": a gap of 300 messages. Source: section 3.2 of the chat platform notes; case 23. Everything here
happens after one `since` of one account, so that every test reads the same answer of the server.
"""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.chat.identity import matrix_event_id
from tests.support.daemon import eventually
from tests.support.matrix import Person
from tests.support.matrix_lives import Lives, stored_since
from tests.support.matrix_proxy import Fault, Proxy
from tests.support.synapse import Homeserver

COUNT = 300
PAGES = 4
"""Of the long room: 250 messages before its timeline, and a page that says that there are no more."""


@dataclass(frozen=True)
class Away:
    """What a source has in `folder` that was away while `sent` (text, id) was said, in two rooms by turns."""

    folder: Path
    own: Person
    rooms: tuple[str, str]
    sent: dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def away(shared_homeserver: Homeserver, tmp_path_factory: pytest.TempPathFactory) -> Away:
    ana, bo, own = (shared_homeserver.person(name) for name in ("ana", "bo", "own"))
    long, short = ana.make_room("Long", own), bo.make_room("Short", own)
    folder = tmp_path_factory.mktemp("away")
    with Proxy(shared_homeserver.url) as proxy, Lives(folder, own, proxy) as lives, lives.alive():
        eventually(lambda: lives.watch.stored and lives.captured(long) and lives.captured(short), 60)
    with ThreadPoolExecutor(2) as both:
        first = both.submit(_said, ana, long, COUNT)
        second = both.submit(_said, bo, short, 10)
        return Away(folder, own, (long, short), {long: first.result(), short: second.result()})


def _said(person: Person, room: str, count: int) -> list[tuple[str, str]]:
    texts = [f"says {number}" for number in range(1, count + 1)]
    return list(zip(texts, map(matrix_event_id, person.say_all(room, texts)), strict=True))


@pytest.fixture
def proxy(homeserver: Homeserver) -> Iterator[Proxy]:
    with Proxy(homeserver.url) as between:
        yield between


@pytest.fixture
def lives(away: Away, proxy: Proxy, tmp_path: Path) -> Iterator[Lives]:
    """Lives that go on from what the source had."""
    for file in away.folder.glob("log.db*"):
        shutil.copy(file, tmp_path)
    with Lives(tmp_path, away.own, proxy) as copied:
        yield copied


def messages(lives: Lives, room: str) -> list[tuple[str, str]]:
    """Text and id of every message of a room in the log, in order."""
    return [(text, identifier) for kind, text, identifier in lives.captured(room) if kind == "message"]


def complete(lives: Lives, away: Away) -> bool:
    """Whether a `since` after the gap is committed."""
    return lives.watch.stored != stored_since(away.folder / "log.db")


def test_a_gap_of_300_messages_is_filled_in_order(lives: Lives, away: Away, proxy: Proxy) -> None:
    """The server gives 50 of them, and has the token move on; the others stand before them in the log."""
    with lives.alive():
        eventually(lambda: complete(lives, away), 60)
    assert {room: messages(lives, room) for room in away.rooms} == away.sent
    assert proxy.asked("/messages") >= (COUNT - 50) // 100, "a page holds a hundred"
    assert lives.watch.ahead == []


@pytest.mark.parametrize("point", ["before-page", "after-page", "in-append", "after-append"])
def test_a_kill_in_the_middle_of_a_gap_goes_on_at_its_page(lives: Lives, away: Away, proxy: Proxy, point: str) -> None:
    """No message of the gap is missing or twice, and no page that is in the log is asked for again."""
    lives.dies(point, 1)
    lives.dies(point, 2)
    assert not complete(lives, away), "the token moves after the gap alone"
    read, before = len(messages(lives, away.rooms[0])), proxy.asked("/messages")
    with lives.alive():
        eventually(lambda: complete(lives, away), 60)
    long, short = away.rooms
    assert messages(lives, long) == away.sent[long], "each once: a page and how far it goes are one transaction"
    assert list(dict.fromkeys(messages(lives, short))) == away.sent[short], "a repeat has the same id"
    assert lives.watch.ahead == []
    left = PAGES - read // 100 + 1
    assert proxy.asked("/messages") - before <= left, "what is in the log is not asked for again"


def test_pages_that_fail_are_asked_for_again(lives: Lives, away: Away, proxy: Proxy) -> None:
    """A cut connection, a server in trouble, and a lost answer, each at another page."""
    proxy.faults += [
        Fault("/messages"),
        Fault("/messages", status=500, body=b"{}"),
        Fault("/messages", after=True),
        Fault("/messages", status=200, body=b"<html>"),
    ]
    with lives.alive():
        eventually(lambda: complete(lives, away), 60)
    assert proxy.faults == []
    assert {room: list(dict.fromkeys(messages(lives, room))) for room in away.rooms} == away.sent
    assert lives.watch.ahead == []


def test_the_whole_history_is_read_from_its_beginning(away: Away, proxy: Proxy, tmp_path: Path) -> None:
    """A source without checkpoints, killed twice on its way: no message is missing, oldest first."""
    with Lives(tmp_path, away.own, proxy) as lives:
        lives.dies("after-append", 2)
        lives.dies("before-page", 2)
        with lives.alive():
            eventually(lambda: lives.watch.stored is not None, 60)
        assert {room: list(dict.fromkeys(messages(lives, room))) for room in away.rooms} == away.sent
        assert lives.watch.ahead == []
