"""Ways in which a log takes nothing for a while: another writer holds it, its disk is full, its broker hangs."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.support.kafka import Broker

BLOCK: Final = bytes(1024 * 1024)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the embedded log as a process does that never ends its transaction."""
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill the disk of `folder`, which should be a small one, to its last byte."""
    ballast = folder / "ballast"
    try:
        with ballast.open("wb", buffering=0) as stream:
            for size in (len(BLOCK), 4096, 1):
                _fill(stream.fileno(), BLOCK[:size])
        yield
    finally:
        ballast.unlink()


@contextmanager
def paused(broker: Broker) -> Iterator[None]:
    """Let a broker hang."""
    broker.pause()
    try:
        yield
    finally:
        broker.resume()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A real file system of that size at `folder`; who may not mount one skips the test."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "session-triage-test", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _fill(descriptor: int, data: bytes) -> None:
    try:
        while True:
            os.write(descriptor, data)
    except OSError:  # no space left
        return
