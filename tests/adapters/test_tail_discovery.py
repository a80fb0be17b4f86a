"""Promise: each file is found once, whatever leads to it, and what is read of old ones is what was asked for.

`test_eNN` are the edge cases of the session formats.
"""

import os
import shutil
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from adapters.files.checkpoint import (
    SOURCE_PART,
    path_of,
)
from tests.support.tail import Driver, append, line, lines, told


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def test_e12_links_copies_and_loops_give_each_line_once(tmp_path: Path, driver: Driver) -> None:
    """E12: hard links, symbolic links to files and folders, a loop: one reading; a copy's lines have the same ids."""
    folder = tmp_path / "real"
    folder.mkdir()
    path = folder / "a.jsonl"
    path.write_bytes(lines("1", "2"))
    os.link(path, tmp_path / "hard.jsonl")
    (tmp_path / "soft.jsonl").symlink_to(path)
    (tmp_path / "again").symlink_to(folder)
    (folder / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    assert driver.poll() == told("1", "2")
    append(path, line("3"))
    assert driver.poll() == told("3")
    shutil.copyfile(path, tmp_path / "copy.jsonl")
    driver.poll()
    assert driver.sink.once == told("1", "2", "3")


def test_e12_hard_link_survives_the_removal_of_the_first_name(tmp_path: Path, driver: Driver) -> None:
    """E12: the remaining name goes on where the other was."""
    (tmp_path / "a.jsonl").write_bytes(lines("1"))
    driver.poll()
    os.link(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    driver.poll()
    (tmp_path / "a.jsonl").unlink()
    append(tmp_path / "b.jsonl", line("2"))
    assert driver.poll() == told("2")


def test_e13_what_cannot_be_read_is_told_once_and_tried_again(tmp_path: Path, driver: Driver) -> None:
    """E13: an error is told once however often it is met, others go on, and the file is read when the error is gone."""
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_bytes(lines("bad"))
    good.write_bytes(lines("good"))
    original = os.open

    def refusing(path: str, flags: int, *rest: int) -> int:
        if path == str(bad):
            raise PermissionError(13, "Permission denied", path)
        return original(path, flags, *rest)

    with mock.patch("os.open", refusing):
        for _ in range(3):
            driver.poll()
    assert driver.sink.texts == told("good")
    assert driver.sink.warnings == ["cannot be read: Permission denied; it is tried again"]
    assert driver.poll() == told("bad")


def test_e13_unreadable_folder_is_told_once(tmp_path: Path, driver: Driver) -> None:
    """E13: a folder without permission is a warning, not the end of the search."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.jsonl").write_bytes(lines("1"))
    original = os.scandir

    def refusing(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return original(path)

    with mock.patch("os.scandir", refusing):
        driver.poll()
        driver.poll()
    assert driver.sink.texts == told("1")
    assert driver.sink.warnings == ["cannot be read: Permission denied"]


def test_e13_what_is_no_file_is_never_opened(tmp_path: Path, driver: Driver) -> None:
    """E13: a FIFO or socket named like a session would block a reader; a folder named so is a folder."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "folder.jsonl" / "inner.jsonl").write_bytes(lines("inner"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.jsonl"))
        assert driver.poll() == told("inner")
        assert driver.poll() == []
    assert driver.sink.warnings == ["is no regular file; it is not opened"] * 2


def test_e13_file_that_becomes_a_fifo_does_not_block(tmp_path: Path, driver: Driver) -> None:
    """E13: the name changes its meaning between search and opening."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1"))
    driver.engine.sweep()
    path.unlink()
    os.mkfifo(path)
    driver.captures()
    assert driver.sink.texts == []
    assert len(driver.sink.warnings) == 1


def test_e14_names(tmp_path: Path) -> None:
    """E14: in folders only what fits the pattern; a file named explicitly whatever it is called."""
    folder = tmp_path / "folder"
    for name in ("a.jsonl", "b.json", "c.jsonl.tmp", "d.jsonl.bak", ".e.jsonl", "f.jsonl.corrupt", ".dot/g.jsonl"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(lines(name))
    explicit = tmp_path / "session.json"
    explicit.write_bytes(lines("explicit"))
    assert Driver(folder, explicit).poll() == told("a.jsonl", "explicit")
    assert set(Driver(folder, patterns=("*.json", "*.tmp", "*.jsonl")).poll()) == set(told("a.jsonl", "b.json"))


def test_e14_names_that_are_no_text(tmp_path: Path, driver: Driver) -> None:
    """A name that is no UTF-8 has a key that is text and leads back to it."""
    name = os.fsdecode(b"bad\xff\xfe.jsonl")
    (tmp_path / name).write_bytes(lines("1"))
    driver.poll()
    [key] = set(driver.sink.checkpoints) - {SOURCE_PART}
    assert path_of(key.encode().decode()) == str(tmp_path / name)
    driver.restart()
    append(tmp_path / name, line("2"))
    assert driver.poll() == told("2")


def test_e15_root_that_appears_later(tmp_path: Path) -> None:
    """E15: a root may come after the start."""
    driver = Driver(tmp_path / "later")
    assert driver.poll() == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.jsonl").write_bytes(lines("1"))
    assert driver.poll() == told("1")
    assert driver.sink.warnings == []


def test_e15_backfill_from_now(tmp_path: Path) -> None:
    """From now: what is there at first sight is passed over, a begun line and later files are read whole."""
    driver = Driver(tmp_path, backfill="now")
    old = tmp_path / "old.jsonl"
    old.write_bytes(lines("1", "2") + b'{"be')
    assert driver.poll() == []
    append(old, b'gun"}\n')
    (tmp_path / "new.jsonl").write_bytes(lines("n"))
    assert sorted(driver.poll()) == sorted(['{"begun"}', *told("n")])
    assert driver.sink.numbers in ([3, 1], [1, 3])
    driver.restart()
    (tmp_path / "while-stopped.jsonl").write_bytes(lines("w"))
    assert driver.poll() == told("w")


def test_e15_backfill_from_now_is_decided_once(tmp_path: Path) -> None:
    """From now: a source first seen without files is seen; what comes while the program is stopped is read."""
    driver = Driver(tmp_path, backfill="now")
    driver.poll()
    driver.restart()
    (tmp_path / "a.jsonl").write_bytes(lines("1"))
    assert driver.poll() == told("1")


def test_e15_backfill_from_now_lands_in_one_capture(tmp_path: Path) -> None:
    """From now: the decision and what it passes over are one transaction, so that a kill leaves it to be made again."""
    for number in range(3000):
        (tmp_path / f"{number}.jsonl").write_bytes(lines(str(number)))
    driver = Driver(tmp_path, backfill="now")
    driver.engine.sweep()
    [capture] = driver.captures()
    assert len(capture.checkpoints) == 3001


def test_e15_backfill_since(tmp_path: Path) -> None:
    """Since a date: files last changed before are passed over whole, and read on when they grow."""
    driver = Driver(tmp_path, backfill=datetime(2026, 1, 1, tzinfo=UTC))
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_bytes(lines("1", "2"))
    new.write_bytes(lines("3"))
    os.utime(old, (1_700_000_000, 1_700_000_000))
    assert driver.poll() == told("3")
    append(old, line("4"))
    assert driver.poll() == told("4")
    assert driver.sink.numbers == [1, 3]
