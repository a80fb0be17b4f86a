"""A real PostgreSQL for tests: a cluster of their own in a temporary folder, reached by a Unix socket only.

PostgreSQL refuses to run as root, so root's tests run it as an unprivileged user. Where it is not installed the tests
that need it are skipped, and fail in CI.
"""

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, Self

import psycopg
import pytest

_DEBIAN: Final = Path("/usr/lib/postgresql")
"""Where Debian puts the programs, beside PATH, a folder for each version."""

START_SECONDS: Final = 60.0


def require_postgres() -> Path:
    """Give the folder of PostgreSQL's programs; skips the test where there is none, and fails it in CI."""
    found = shutil.which("initdb")
    folders = [*([Path(found).resolve().parent] if found else []), *sorted(_DEBIAN.glob("*/bin"), reverse=True)]
    usable = next((folder for folder in folders if (folder / "initdb").exists()), None)
    if usable is not None:
        return usable
    reason = "PostgreSQL is not there: apt-get install postgresql"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Postgres:
    """One server; each test takes a database of its own. It is its own context manager."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # The path of a Unix socket has at most 107 bytes: pytest's folders are too deep.
        self._folder = Path(mkdtemp(prefix="pg-"))
        self._user = _unprivileged()
        self._server: subprocess.Popen[bytes] | None = None
        self._databases = 0

    def __enter__(self) -> Self:
        if self._user:
            shutil.chown(self._folder, self._user)
        data = self._folder / "data"
        self._run("initdb", "-D", str(data), "-U", "triage", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self._server = self._start(
            "postgres", "-D", str(data), "-k", str(self._folder), "-c", "listen_addresses=", "-c", "fsync=off"
        )
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.terminate()
        self._server.wait()
        shutil.rmtree(self._folder)

    def url(self) -> str:
        """Make a new database and give its URL."""
        self._databases += 1
        name = f"triage{self._databases}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]  # our own name
        return f"postgresql://triage@/{name}?host={self._folder}"

    def _address(self, database: str) -> str:
        return f"host={self._folder} user=triage dbname={database}"

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self._address("postgres")).close()
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self._folder / "log").read_text()
                time.sleep(0.05)
            else:
                return

    def _run(self, *command: str) -> None:
        process = self._start(*command)
        assert process.wait() == 0, (self._folder / "log").read_text()

    def _start(self, *command: str) -> "subprocess.Popen[bytes]":
        program, *arguments = command
        whole = [str(self._programs / program), *arguments]
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(whole, stdout=log, stderr=log, user=self._user, cwd=self._folder)


def _unprivileged() -> str | None:
    """Say as whom to run: nobody else when this is no root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
