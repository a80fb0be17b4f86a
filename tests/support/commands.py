"""Runs the installed commands as a person would, with a home of their own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
INGEST = str(BIN / "session-ingest")
TRIAGE = str(BIN / "session-triage")


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing of the person who runs the tests is read or written."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "NO_COLOR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        **more,
    }


class Daemon:
    """A `session-ingest run` of its own, on any free port."""

    def __init__(self, home: Path, *arguments: str, **more: str) -> None:
        self.home = home
        self.state = home / "state" / "session-triage"
        self.log = home / "daemon.log"
        self._stderr = self.log.open("ab")
        settings = {"SESSION_INGEST__HTTP__PORT": "0", **more}
        self.process = subprocess.Popen(
            [INGEST, "run", *arguments],
            env=environment(home, **settings),
            stderr=self._stderr,
            stdout=subprocess.DEVNULL,
        )

    def url(self, path: str) -> str:
        """Where the daemon answers, as its lock says."""
        holder = json.loads((self.state / "daemon.lock").read_bytes())
        if holder.get("pid") != self.process.pid or "url" not in holder:
            raise ConnectionError("not there yet")
        return holder["url"].rstrip("/") + path

    def get(self, path: str) -> tuple[int, str]:
        """Ask its HTTP server; gives status and body."""
        try:
            with urllib.request.urlopen(self.url(path), timeout=5) as answer:  # noqa: S310 - loopback
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_ready(self, seconds: float = 30) -> None:
        """Wait until /readyz says so; fails with the daemon's log."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                if self.get("/readyz")[0] == 200:
                    return
            except (OSError, ValueError):
                pass
            time.sleep(0.05)
        raise AssertionError(f"not ready (exit {self.process.poll()}):\n{self.log.read_text()}")

    def stop(self, number: int = signal.SIGTERM, seconds: float = 15) -> int:
        """Send a signal and wait for the end; gives the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self._stderr.close()


def run(
    command: str, *arguments: str | Path, home: Path, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run(
        [command, *map(str, arguments)],
        env=environment(home, **(env or {})),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=120,
        check=False,
    )


def wait_for(what: str, condition: Any, seconds: float = 30) -> Any:
    """Wait until a condition gives something true; fails saying what was awaited."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come within {seconds} s")
