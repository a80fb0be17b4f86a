"""The whole daemon at a real Synapse: killed at random, its log held by another, asked what it would read.

Issue 5, "It must show". Each daemon reads a room in the clear and one whose keys change every few messages.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.daemon import Home, Zygote, eventually, texts_by_thread
from tests.support.kills import kill_in_turn
from tests.support.matrix import Person, Talk
from tests.support.matrix_lives import Watch
from tests.support.matrix_proxy import Proxy
from tests.support.matrix_sealed import Sealing, has_device
from tests.support.standstill import reasons
from tests.support.stopped_sinks import held
from tests.support.synapse import Homeserver

KILLS = 14

MESSAGES_OF_A_KEY = 4

MODULES = ("adapters.chat.matrix", "adapters.chat.matrix_http", "adapters.chat.matrix_secrets")


@dataclass
class Site:
    """A daemon's home, its account behind a proxy, and two people who talk to it in a room each."""

    home: Home
    own: Person
    ana: Person
    sealing: Sealing
    proxy: Proxy
    watch: Watch
    rooms: dict[str, str] = field(default_factory=dict)
    _said: int = 0

    def say(self, room: str, text: str) -> str:
        """Say something in one of the rooms."""
        if room == self.rooms["clear"]:
            return self.ana.say(room, text)
        if self._said % MESSAGES_OF_A_KEY == 0:
            self.sealing.share(room, self.own)
        self._said += 1
        return self.sealing.say(room, text)

    def meet(self) -> None:
        """Wait until the source's device is there, and let both rooms begin."""
        eventually(lambda: has_device(self.own), 60)
        self.sealing.meet(self.own)

    def texts(self) -> dict[str, list[str]]:
        """What was said, as the stream has it, by room."""
        found = texts_by_thread(self.home)
        return {room: [t for t in found.get(room, []) if t.startswith("says")] for room in self.rooms.values()}

    def talk(self, pause_seconds: float = 0.02) -> Talk:
        return Talk(self.say, *self.rooms.values(), pause_seconds=pause_seconds)

    def arrives(self, talk: Talk) -> None:
        """Everything that was said comes: once, in order, in its room."""
        said = {room: [text for text, _ in sent] for room, sent in talk.sent.items()}
        eventually(lambda: sum(map(len, self.texts().values())) >= sum(map(len, said.values())), 120)
        assert self.texts() == said


def refused(reason: str) -> bool:
    """Whether readiness says of the source that it cannot bring what it has into the log, and why."""
    start = "source matrix.ops: backing-off: the log refuses"
    return reason.startswith(start) and "is held by another process" in reason


@pytest.fixture
def site(homeserver: Homeserver, tmp_path: Path) -> Iterator[Site]:
    own, ana, bo = (homeserver.person(name) for name in ("own", "ana", "bo"))
    sealing = Sealing(bo)
    rooms = {"clear": ana.make_room("Ops", own), "sealed": sealing.make_room("Vault", own)}
    with Proxy(homeserver.url) as proxy:
        prefix = "SESSION_INGEST__SOURCES__MATRIX__OPS__"
        variables = {"HOMESERVER": proxy.url, "USER": own.user, "TOKEN": own.token, "OPERATORS": ana.user}
        named = {prefix + name: value for name, value in variables.items()}
        home = Home(tmp_path / "home", named | {"SESSION_INGEST__LOG__LEVEL": "warning"})
        try:
            yield Site(home, own, ana, sealing, proxy, Watch(proxy, home.state / "log.db"), rooms)
        finally:
            home.close()


def test_every_message_exactly_once_and_in_order_after_random_kills(site: Site) -> None:
    """From the first milliseconds of a start on, while messages and keys arrive."""
    chance = random.Random(5)
    zygote = Zygote(site.home, "capture process", MODULES)
    try:
        first = zygote.start()
        site.meet()
        zygote.kill(first)
        before = len(site.proxy.sinces)
        with site.talk() as talk:
            kill_in_turn(zygote, chance, KILLS, lambda: len(set(site.proxy.sinces)))
        assert len(set(site.proxy.sinces[before:])) > 5, "no daemon lived long enough to be killed at work"
        pid = zygote.start()
        try:
            site.arrives(talk)
        finally:
            zygote.kill(pid)
    finally:
        zygote.close()
    assert site.watch.ahead == []
    assert "[undecrypted message]" not in texts_by_thread(site.home)[site.rooms["sealed"]]
    assert site.home.errors() == ""


def test_while_the_log_takes_nothing_no_cursor_moves_and_all_arrives_after(site: Site) -> None:
    """Readiness says why, and the server is asked for nothing more: what is held is one answer, whatever is said."""
    site.home.start()
    site.meet()
    with site.talk() as before:
        eventually(lambda: len(before.sent[site.rooms["sealed"]]) > MESSAGES_OF_A_KEY, 60)
    site.arrives(before)
    eventually(lambda: site.watch.stored == site.proxy.sinces[-1], 60)
    with held(site.home.state / "log.db"):
        stored = site.watch.stored
        with site.talk() as meanwhile:
            eventually(lambda: any(map(refused, reasons(site.home))), 120)
            calls = len(site.proxy.calls)
            said = len(meanwhile.sent[site.rooms["clear"]])
            eventually(lambda: len(meanwhile.sent[site.rooms["clear"]]) > said + 20, 120)
        assert any(map(refused, reasons(site.home)))
        assert len(site.proxy.calls) == calls, "it asks for more than it can keep"
        assert site.watch.stored == stored
    for room, sent in meanwhile.sent.items():
        sent[:0] = before.sent[room]
    site.arrives(meanwhile)
    eventually(site.home.ready)
    assert site.watch.ahead == []


def test_a_check_says_who_it_is_and_what_it_would_read(site: Site) -> None:
    """In words, before the first start and after; neither the check nor the daemon shows the token."""
    before = site.home.command("sources", "check", "matrix.ops")
    site.home.start()
    site.meet()
    site.say(site.rooms["sealed"], "says 1")
    eventually(lambda: site.texts()[site.rooms["sealed"]] == ["says 1"])
    after = site.home.command("sources", "check", "matrix.ops")
    assert [before.returncode, after.returncode] == [0, 0], before.stdout + after.stdout
    for told in (before.stdout, after.stdout):
        assert [words in told for words in (site.own.user, site.own.device, "2 rooms")] == [True] * 3, told
    assert "keys for what was said there: 1" in after.stdout
    assert site.home.stop() == 0
    shown = before.stdout + before.stderr + after.stdout + after.stderr + site.home.errors()
    assert site.own.token not in shown
    assert site.own.token.rpartition("_")[0] not in shown
