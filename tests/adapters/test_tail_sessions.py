"""Promise: what agents do to their session files (partial lines, title slots, rewrites, megabytes) is read right.

`test_session_bNN` are rows of the session files' catalogue of public bug reports, `test_eNN` its edge cases.
"""

import os
from pathlib import Path

import pytest

from adapters.files.checkpoint import (
    decode_state,
)
from tests.support.tail import Driver, append, line, lines, overwrite, told


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def test_session_b02_partial_line_over_a_restart(tmp_path: Path, driver: Driver) -> None:
    """Session B2: part of a line, a restart, the rest: one event; the stored offset is that of the last newline."""
    path = tmp_path / "a.jsonl"
    whole = lines("zero", "é" * 30)
    path.write_bytes(whole[:-20])
    assert driver.poll() == told("zero")
    offset = decode_state(driver.sink.checkpoints[str(path)]).cursor.offset
    assert offset == len(line("zero"))
    driver.restart()
    append(path, whole[-20:])
    assert driver.poll() == told("é" * 30)


def test_session_b03_truncation_does_not_make_deaf(tmp_path: Path, driver: Driver) -> None:
    """Session B3: 10 lines, cut to nothing, new ones: read from byte 0, a held part forgotten, the new line once."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*map(str, range(10))) + b'{"half')
    driver.poll()
    path.write_bytes(b"")
    driver.poll()
    path.write_bytes(lines("header", "new"))
    assert driver.poll() == told("header", "new")
    assert any("cut shorter" in warning for warning in driver.sink.warnings)


def title(text: str) -> bytes:
    return (f'{{"type":"title","v":1,"title":"{text}","pad":"'.encode()).ljust(253, b" ") + b'"}\n'


@pytest.mark.parametrize("restart", [False, True])
def test_session_b10_rewritten_title_slot_emits_nothing(tmp_path: Path, driver: Driver, restart: bool) -> None:
    """Session B10, E11: the first 256 bytes overwritten in place by another title: nothing new, nothing read again."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(title("one") + lines("header", "user"))
    assert len(driver.poll()) == 3
    if restart:
        driver.restart()
    overwrite(path, title("two"))
    assert driver.poll() == []
    overwrite(path, title("three"))
    append(path, line("next"))
    assert driver.poll() == told("next")
    assert driver.sink.warnings == []


def test_session_b18_late_burst(tmp_path: Path, driver: Driver) -> None:
    """Session B18: a folder appears, later a file in it with old lines: all are read."""
    driver.poll()
    folder = tmp_path / "--w--"
    folder.mkdir()
    driver.poll()
    (folder / "s.jsonl").write_bytes(lines("1", "2", "3"))
    os.utime(folder / "s.jsonl", (1_000_000_000, 1_000_000_000))
    assert driver.poll() == told("1", "2", "3")


def test_session_b19_lines_of_megabytes(tmp_path: Path, driver: Driver) -> None:
    """Session B19: lines of 3 MB, longer than any block, are whole, and the next line is read."""
    (tmp_path / "a.jsonl").write_bytes(lines("a" * 3_000_000, "ok", "b" * 3_000_000, "last"))
    assert driver.poll() == told("a" * 3_000_000, "ok", "b" * 3_000_000, "last")


def test_session_b20_only_0x0a_ends_a_line(tmp_path: Path, driver: Driver) -> None:
    """Session B20: raw U+2028, U+2029 and U+0085 inside a line leave it one line."""
    text = '{"t":"a\u2028b\u2029c\u0085d"}'
    (tmp_path / "a.jsonl").write_bytes(text.encode() + b"\r\n" + line("next"))
    assert driver.poll() == [text, *told("next")]


def test_session_b37_first_line_of_a_small_file_is_read(tmp_path: Path, driver: Driver) -> None:
    """Session B37: no window drops the first line."""
    (tmp_path / "a.jsonl").write_bytes(line("only"))
    assert driver.poll() == told("only")


@pytest.mark.parametrize("restart", [False, True])
def test_e10_change_of_the_same_size_between_head_and_marker(tmp_path: Path, driver: Driver, restart: bool) -> None:
    """E10: a line changed in the middle, same size, head, end and modification time: found, file read again."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*(f"{number:0100d}" for number in range(100))))
    driver.poll()
    if restart:
        driver.restart()
    before = path.stat()
    overwrite(path, line(f"{777:0100d}"), at=50 * len(line("0" * 100)))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    driver.poll()
    assert [text for text in driver.sink.once if text not in told(*(f"{number:0100d}" for number in range(100)))] == (
        told(f"{777:0100d}")
    )


def test_e10_touched_file_is_not_read_again(tmp_path: Path, driver: Driver) -> None:
    """E10: new times over equal bytes change nothing, and what was found is remembered."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1", "2"))
    driver.poll()
    path.touch()
    assert driver.poll() == []
    driver.restart()
    assert driver.poll() == []
    assert driver.sink.warnings == []
