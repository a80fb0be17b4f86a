"""The daemon as a real process in a home of its own, and what a person or a service manager would ask it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

PROGRAM = [sys.executable, "-c", "from ingest.cli import main; main()"]
ROOT = Path(__file__).parents[2]


def fetch(url: str, host: str | None = None) -> tuple[int, str]:
    """GET a URL; gives status and body."""
    request = Request(url, headers={"Host": host} if host else {})  # noqa: S310 - always our own http:// address
    try:
        with urlopen(request, timeout=10) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def eventually(condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What the condition gives once it is true; a condition that never comes fails the test."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(0.02)
    return value


@dataclass
class Home:
    """A home directory with a daemon's settings, and the daemon itself."""

    path: Path
    variables: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.state = self.path / "state"
        self.sessions = self.path / ".pi" / "agent" / "sessions" / "--project--"
        self.sessions.mkdir(parents=True)
        self.output = self.path / "stderr.log"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests leaks in."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "COVERAGE_PROCESS_START") if name in os.environ}
        ours = {
            "HOME": str(self.path),
            "PYTHONPATH": str(ROOT),
            "SESSION_INGEST__STATE_DIR": str(self.state),
            "SESSION_INGEST__HTTP__PORT": "0",
        }
        return {**kept, **ours, **self.variables}

    def command(self, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """Run `session-ingest` to its end."""
        return subprocess.run(
            [*PROGRAM, *arguments],
            env=self.environment,
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def start(self, *arguments: str, wait: bool = True) -> "Home":
        """Start the daemon; returns when it is ready unless told not to wait."""
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [*PROGRAM, "run", *arguments], env=self.environment, cwd=self.path, stderr=output, stdout=output
            )
        if wait:
            eventually(lambda: self._ended() or self.ready())
        return self

    def _ended(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.errors()}")
        return False

    def errors(self) -> str:
        """What the daemon wrote so far."""
        return self.output.read_text()

    @property
    def url(self) -> str | None:
        """Where this daemon answers, from its lock's file."""
        try:
            holder = json.loads((self.state / "daemon.lock").read_bytes())
        except (OSError, ValueError):
            return None
        mine = self.process is not None and holder["pid"] == self.process.pid
        return holder.get("url") if mine else None

    def ready(self) -> bool:
        """Whether `/readyz` says so."""
        with suppress(URLError, ConnectionError):
            return self.url is not None and fetch(f"{self.url}/readyz")[0] == 200
        return False

    def stop(self, number: int = signal.SIGTERM, seconds: float = 10) -> int:
        """Send a signal and wait; gives the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        status = self.process.wait(seconds)
        self.process = None
        return status

    def close(self) -> None:
        """Leave no process behind."""
        if self.process is not None and self.process.poll() is None:
            self.stop(signal.SIGKILL)


@dataclass
class SessionFile:
    """A growing pi session file whose messages are numbered texts."""

    path: Path
    session: str
    written: int = 0

    def header(self) -> "SessionFile":
        """Write the first line."""
        self._write({"type": "session", "version": 3, "id": self.session, "cwd": "/project", "timestamp": _time(0)})
        return self

    def append(self, count: int = 1, between: Callable[[], object] | None = None) -> None:
        """Append numbered messages, each a child of the former; `between` is called in the middle of each line."""
        for _ in range(count):
            self.written += 1
            number = self.written
            self._write({
                "type": "message",
                "id": f"{number:08x}",
                "parentId": f"{number - 1:08x}" if number > 1 else None,
                "timestamp": _time(number),
                "message": {
                    "role": "user" if number % 2 else "assistant",
                    "content": [{"type": "text", "text": f"{self.session} says {number}"}],
                    "timestamp": 1_700_000_000_000 + number * 1000,
                },
            }, between)  # fmt: skip

    @property
    def texts(self) -> list[str]:
        """What must arrive, in order."""
        return [f"{self.session} says {number}" for number in range(1, self.written + 1)]

    def _write(self, entry: dict[str, Any], between: Callable[[], object] | None = None) -> None:
        line = json.dumps(entry) + "\n"
        middle = len(line) // 2 if between else 0
        with self.path.open("a") as stream:
            if between:
                stream.write(line[:middle])
                stream.flush()
                between()
            stream.write(line[middle:])


def session_file(home: Home, number: int) -> SessionFile:
    """A new session file in the place where pi keeps them."""
    session = f"00000000-0000-4000-8000-{number:012x}"
    return SessionFile(home.sessions / f"2026-01-01T00-00-{number:02d}-000Z_{session}.jsonl", session).header()


def texts_by_thread(home: Home) -> dict[str, list[str]]:
    """The texts of `conversations.events` by thread, in order of the log; nothing while there is no log yet."""
    from ingest.log.contract import LogError, Topic  # noqa: PLC0415 - the support for unit tests must not need the engine
    from ingest.log.embedded import EmbeddedLog  # noqa: PLC0415

    threads: dict[str, list[str]] = {}
    try:
        log = EmbeddedLog.open(home.state / "log.db", read_only=True)
    except LogError:  # the daemon is making it
        return threads
    try:
        offset = 0
        while records := log.read(Topic.EVENTS, offset, 1000, 1 << 24):
            for record in records:
                event = json.loads(record.value)
                threads.setdefault(event["source"]["threadId"], []).append(event["event"]["text"])
            offset = records[-1].offset
    finally:
        log.close()
    return threads


def _time(second: int) -> str:
    return f"2026-01-01T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z"


ZYGOTE_PROGRAM = """
import importlib, os, sys
from ingest.commands.run import run_daemon
from ingest.settings import load
parts, *modules = sys.argv[1:]
for module in modules:
    importlib.import_module(module)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os._exit(run_daemon(load(), parts.split()))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Zygote:
    """Starts daemons in milliseconds: a process that has imported everything forks one at a time.

    `parts` are those to run, all when empty; `modules` are what a daemon would import later.
    """

    def __init__(self, home: Home, parts: str = "", modules: Sequence[str] = ()) -> None:
        self._output = home.output.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-c", ZYGOTE_PROGRAM, parts, *modules],
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
        )

    def start(self) -> int:
        """Fork a daemon; gives its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write("start\n")
        self._process.stdin.flush()
        return int(self._line())

    def kill(self, pid: int) -> None:
        """`kill -9`, and wait for the end."""
        os.kill(pid, signal.SIGKILL)
        assert self._line() == "ended"

    def close(self) -> None:
        """End the process that forks."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        self._output.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()
