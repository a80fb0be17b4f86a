"""Lives of a Matrix source that end by `kill -9` at a named point, and what the server heard of them.

A process that has imported everything forks one life at a time, so that a life begins within milliseconds.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
from schemas.captured import decode_record
from tests.support.daemon import ROOT
from tests.support.matrix import Person
from tests.support.matrix_proxy import Proxy

POINTS: Final = ("before-request", "after-answer", "before-append", "in-append", "after-append")
KEY_POINTS: Final = ("before-keys", "after-keys")

LIFE_SECONDS: Final = 90
"""After so long a life ends by another signal: its point was not reached."""

PROGRAM: Final = """
import asyncio, json, os, signal, sys
from pathlib import Path
from adapters.chat.matrix import MatrixSource
from adapters.chat.matrix_api import MatrixApi
from adapters.chat.matrix_keys import Keys
from ingest.capture import Capturing, Pauses
from ingest.health import Health
from ingest.log.embedded import EmbeddedLog, EmbeddedSource
from ingest.log import sources
from ingest.metrics import Metrics
import adapters.chat.matrix_http, adapters.chat.matrix_secrets

report = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what is logged goes to the errors
left = {}

def reach(name):
    left[name] = left.get(name, 0) - 1
    if left[name] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

synced, paged, took = MatrixApi.sync, MatrixApi.messages, Keys.take
advanced, appended = sources.advance, EmbeddedSource.append

async def sync(api, since, wait, asked):
    reach("before-request")
    found = await synced(api, since, wait, asked)
    if found.get("rooms") or found.get("to_device"):
        reach("after-answer")
    return found

async def messages(*arguments):
    reach("before-page")
    found = await paged(*arguments)
    reach("after-page")
    return found

async def take(keys, answer, call):
    news = bool(answer.get("to_device"))
    if news:
        reach("before-keys")
    found = await took(keys, answer, call)
    if news:
        reach("after-keys")  # they are stored; nothing of the answer is in the log
    return found

def advance(*arguments):
    advanced(*arguments)
    reach("in-append")  # the position is written; the records, and the commit of both, are not

def append(source, *arguments):
    reach("before-append")
    appended(source, *arguments)
    reach("after-append")

MatrixApi.sync, MatrixApi.messages, Keys.take = sync, messages, take
sources.advance, EmbeddedSource.append = advance, append

async def live(life):
    left[life["point"]] = life["turn"]
    folder = Path(life["folder"])
    log = EmbeddedLog.open(folder / "log.db")
    source = MatrixSource(
        "matrix.ops", "ops", life["url"], life["user"], lambda: life["token"], frozenset(life["operators"]),
        folder=folder / "keys", encryption=life["encryption"], wait_seconds=5.0,
    )
    capturing = Capturing(log, [source], Health(), Metrics(), pauses=Pauses(first=0.05))
    capturing.start()
    await asyncio.Event().wait()

for line in sys.stdin:
    life = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm(life["seconds"])
        asyncio.run(live(life))
    print(child, file=report, flush=True)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), file=report, flush=True)
"""


class Lives:
    """Lives of the source of one account, with the log and keys in `folder`; its own context manager."""

    def __init__(self, folder: Path, person: Person, proxy: Proxy, **options: Any) -> None:
        self.folder, self.watch = folder, Watch(proxy, folder / "log.db")
        self._life = {
            "folder": str(folder), "url": proxy.url, "user": person.user, "token": person.token, "operators": [],
            "encryption": False, "seconds": LIFE_SECONDS, "point": "never", "turn": 0, **options,
        }  # fmt: skip
        self._errors = (folder / "errors").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(LIFE_SECONDS)
        self._process.stdout.close()
        self._errors.close()

    def dies(self, point: str, turn: int = 1) -> None:
        """Live until a point is reached for the `turn`th time, and die there."""
        self._begin(point, turn)
        assert self._line() == signal.SIGKILL, f"{point} was not reached {turn} times: {self.errors()}"

    @contextmanager
    def alive(self) -> Iterator[int]:
        """Live until the end of the block, and die then; gives the process's id."""
        pid = self._begin("never", 0)
        try:
            yield pid
        finally:
            os.kill(pid, signal.SIGKILL)
            self._line()

    def errors(self) -> str:
        """What lives have written."""
        return (self.folder / "errors").read_text()[-4000:]

    def captured(self, room: str) -> list[tuple[str, str, str]]:
        """Type, text and id of every captured event of a room, in order."""
        return captured(self.folder / "log.db", room)

    def _begin(self, point: str, turn: int) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self._life | {"point": point, "turn": turn}) + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


class Watch:
    """Notes every `since` that the server hears of and the log does not have."""

    def __init__(self, proxy: Proxy, path: Path) -> None:
        self.ahead: list[tuple[str | None, str | None]] = []
        self._path = path
        self._committed: set[str | None] = {None}
        proxy.on_sync = self

    @property
    def stored(self) -> str | None:
        """The `since` that the log has."""
        return stored_since(self._path)

    def __call__(self, since: str | None) -> None:
        stored = stored_since(self._path)
        self._committed.add(stored)
        if since not in self._committed:
            self.ahead.append((since, stored))


def stored_since(path: Path) -> str | None:
    """The `since` in the log's file; None before there is one."""
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as connection:
        try:
            row = connection.execute("SELECT state FROM checkpoints WHERE part = 'position'").fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return None  # the file is being made
    found: str | None = json.loads(row[0])["since"] if row else None
    return found


def captured(path: Path, room: str) -> list[tuple[str, str, str]]:
    """Type, text and id of every captured event of a room, in order; nothing before there is a log."""
    if not path.exists():
        return []
    with EmbeddedLog.open(path, read_only=True) as log:
        records = [decode_record(record.value) for record in log.read(Topic.CAPTURED, 0, 10_000, 1 << 28)]
    return [(e.type, e.text, e.id) for record in records if record.thread.thread_id == room for e in record.events]
