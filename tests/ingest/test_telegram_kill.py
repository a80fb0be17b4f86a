"""`kill -9` between receiving, appending, committing and asking again: the server sees no offset that the log lacks."""

import json
import random
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPException
from pathlib import Path

import pytest

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.captured import decode_record
from tests.support.daemon import ROOT, Home, Zygote, eventually, texts_by_thread
from tests.support.fake_botapi import TOKEN, FakeBotApi
from tests.support.kills import kill_in_turn
from tests.support.served import free_port
from tests.support.telegram import GROUP, update

KILLS = 30
MODULES = ("adapters.chat.telegram_http", "adapters.chat.telegram", "adapters.chat.telegram_webhook")
SECRET = "a-secret-of-enough-characters"  # noqa: S105 - of a daemon that lives for one test

POINTS = ("before-request", "after-answer", "before-append", "in-append", "after-append")

DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from adapters.chat.telegram import TelegramSource
from adapters.chat.telegram_api import TelegramApi
from ingest.capture import Capturing, Pauses
from ingest.health import Health
from ingest.log.embedded import EmbeddedLog, EmbeddedSource
from ingest.log import sources
from ingest.metrics import Metrics

path, url, token, point, turn = sys.argv[1:]
left = {point: int(turn)}

def reach(name):
    left[name] = left.get(name, 0) - 1
    if left[name] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

asked, advanced, appended = TelegramApi.updates, sources.advance, EmbeddedSource.append

async def updates(api, offset, wait):
    reach("before-request")
    found = await asked(api, offset, wait)
    if found:
        reach("after-answer")
    return found

def advance(*arguments):
    advanced(*arguments)
    reach("in-append")  # the offset is written; the records, and the commit of both, are not

TelegramApi.updates, sources.advance = updates, advance

def append(source, *arguments):
    reach("before-append")
    appended(source, *arguments)
    reach("after-append")

EmbeddedSource.append = append

async def main():
    log = EmbeddedLog.open(Path(path))
    source = TelegramSource("telegram.ops", "ops", lambda: token, url=url, wait_seconds=1)
    capturing = Capturing(log, [source], Health(), Metrics(), pauses=Pauses(first=0.05))
    capturing.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def server() -> Iterator[FakeBotApi]:
    with FakeBotApi() as fake:
        yield fake


def stored_offset(path: Path) -> int:
    """The offset in the log's file; 0 before there is one."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
        try:
            row = connection.execute("SELECT state FROM checkpoints WHERE part = 'position'").fetchone()
        except sqlite3.OperationalError:  # the file is being made
            return 0
    return json.loads(row[0])["offset"] if row else 0


class Watch:
    """Notes every call that asks for more than the log has."""

    def __init__(self, server: FakeBotApi, path: Path) -> None:
        self.ahead: list[tuple[int, int]] = []
        self._path = path
        server.on_poll = self

    def __call__(self, offset: int) -> None:
        stored = stored_offset(self._path)
        if offset > stored:
            self.ahead.append((offset, stored))


def captured_ids(path: Path) -> list[tuple[str, str]]:
    """Text and id of every captured event, in order."""
    with EmbeddedLog.open(path, read_only=True) as log:
        records = [decode_record(record.value) for record in log.read(Topic.CAPTURED, 0, 10_000, 1 << 28)]
    return [(event.text, event.id) for record in records for event in record.events]


def live(path: Path, server: FakeBotApi, point: str = "never", turn: int = 0) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", DYING, str(path), server.url, TOKEN, point, str(turn)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_loses_and_changes_nothing(server, tmp_path, point, turn) -> None:
    """In the first batch and in the second; the third life finishes."""
    path = tmp_path / "log.db"
    watch = Watch(server, path)
    texts = [f"t{number}" for number in range(1, 251)]
    server.queue += [update(number, text=text) for number, text in enumerate(texts, 1)]
    assert live(path, server, point, turn).wait() == -9, "the point was not reached"
    reached = stored_offset(path)
    assert not server.pending or server.pending[0] <= max(reached, 1), "confirmed before it was in the log"
    with live(path, server) as process:
        try:
            eventually(lambda: not server.pending)
        finally:
            process.kill()
    found = captured_ids(path)
    assert list(dict.fromkeys(text for text, _ in found)) == texts
    assert len({identifier for _, identifier in found}) == len(set(found)) == len(texts)
    assert max(Counter(found).values()) == 1, "one transaction holds a batch and its offset"
    assert watch.ahead == []


class Writer(threading.Thread):
    """Sends numbered messages in three topics until told to stop."""

    def __init__(self, server: FakeBotApi, pause_seconds: float = 0.01) -> None:
        super().__init__()
        self._pause = pause_seconds
        self.sent: dict[str, list[str]] = {}
        self._server = server
        self._stop_now = threading.Event()

    def run(self) -> None:
        number = 0
        while not self._stop_now.wait(self._pause):
            number += 1
            topic = 1 + number % 3
            members = {"message_thread_id": topic, "is_topic_message": True} if topic > 1 else {}
            thread = f"{GROUP['id']}/{topic}" if topic > 1 else str(GROUP["id"])
            self.sent.setdefault(thread, []).append(f"says {number}")
            self._server.add(update(number, text=f"says {number}", **members))

    def finish(self) -> None:
        self._stop_now.set()
        self.join()


def test_every_message_exactly_once_and_in_order_after_random_kills(server, tmp_path) -> None:
    """The whole daemon, from the first milliseconds of a start on, while messages arrive."""
    home = Home(
        tmp_path,
        {
            "SESSION_INGEST__LOG__LEVEL": "warning",
            "SESSION_INGEST__SOURCES__TELEGRAM__OPS__TOKEN": TOKEN,
            "SESSION_INGEST__SOURCES__TELEGRAM__OPS__API_URL": server.url,
        },
    )
    watch = Watch(server, home.state / "log.db")
    chance = random.Random(1)
    zygote, writer = Zygote(home, "capture process", MODULES), Writer(server)
    try:
        writer.start()
        kill_in_turn(zygote, chance, KILLS, lambda: len(server.polls))
        writer.finish()
        assert len({offset for offset, _ in server.polls}) > 5, "no daemon lived long enough to be killed at work"
        pid = zygote.start()
        try:
            eventually(lambda: sum(map(len, texts_by_thread(home).values())) >= sum(map(len, writer.sent.values())), 60)
            eventually(lambda: not server.pending)
        finally:
            zygote.kill(pid)
    finally:
        writer.finish()
        zygote.close()
    assert texts_by_thread(home) == writer.sent
    assert watch.ahead == []
    assert [line for line in home.errors().splitlines() if "conflict" not in line] == []


class Sender(threading.Thread):
    """The server's side of a webhook: one update after the other, each again until it is answered with 2xx."""

    def __init__(self, server: FakeBotApi, url: str) -> None:
        super().__init__()
        self.answered = 0
        self.faults: list[int] = []
        self._server, self._url = server, url
        self._stop_now = threading.Event()

    def run(self) -> None:
        while not self._stop_now.wait(0.005):
            try:
                answers = self._server.push(self._url, SECRET, most=1)
            except (OSError, HTTPException):  # killed, or not there yet
                continue
            self.answered += answers.count(200)
            self.faults += [status for status in answers if status not in {200, 503}]

    def finish(self) -> None:
        self._stop_now.set()
        self.join()


def test_every_delivery_exactly_once_and_in_order_after_random_kills(server, tmp_path) -> None:
    """By webhook: what was answered is in the log, and what was not comes again."""
    port = free_port()
    prefix = "SESSION_INGEST__SOURCES__TELEGRAM__OPS__"
    variables = {"TOKEN": TOKEN, "API_URL": server.url, "MODE": "webhook", "SECRET": SECRET}
    home = Home(
        tmp_path,
        {
            "SESSION_INGEST__LOG__LEVEL": "warning",
            "SESSION_INGEST__HTTP__PORT": str(port),
            **{prefix + name: value for name, value in variables.items()},
        },
    )
    chance = random.Random(2)
    zygote = Zygote(home, "capture process", MODULES)
    writer, sender = Writer(server, 0.05), Sender(server, f"http://127.0.0.1:{port}/v1/telegram/ops")
    try:
        writer.start()
        sender.start()
        kill_in_turn(zygote, chance, KILLS // 2, lambda: sender.answered)
        writer.finish()
        pid = zygote.start()
        try:
            eventually(lambda: sum(map(len, texts_by_thread(home).values())) >= sum(map(len, writer.sent.values())), 60)
            eventually(lambda: not server.pending)
        finally:
            zygote.kill(pid)
    finally:
        writer.finish()
        sender.finish()
        zygote.close()
    assert texts_by_thread(home) == writer.sent
    assert sender.faults == []
    assert server.polls == []


def test_a_daemon_reads_says_so_and_shows_no_token(server, tmp_path) -> None:
    """From the settings to the events, with the token in a file."""
    secret = tmp_path / "token"
    secret.write_text(TOKEN + "\n")
    home = Home(
        tmp_path,
        {
            "SESSION_INGEST__LOG__LEVEL": "debug",
            "SESSION_INGEST__SOURCES__TELEGRAM__OPS__TOKEN_FILE": str(secret),
            "SESSION_INGEST__SOURCES__TELEGRAM__OPS__OPERATORS": "99,100",
            "SESSION_INGEST__SOURCES__TELEGRAM__OPS__API_URL": server.url,
        },
    )
    home.start()
    try:
        server.add(update(1, text="is it open?"), update(2, text="yes", **{"from": {"id": 99, "first_name": "Op"}}))
        eventually(lambda: texts_by_thread(home) == {str(GROUP["id"]): ["is it open?", "yes"]})
        status = home.command("status", "--json").stdout
        assert "telegram.ops" in status
        assert home.stop() == 0
        assert TOKEN.partition(":")[2] not in home.errors() + status
    finally:
        home.close()
