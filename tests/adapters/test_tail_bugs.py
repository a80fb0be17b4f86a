"""Promise: the known faults of other tailers are not ours.

Each test is a row of their catalogue: Vector, Filebeat, Fluent Bit, OpenTelemetry Collector, spooldir.
"""

import os
import shutil
import time
from pathlib import Path
from unittest import mock

import pytest

from adapters.files.checkpoint import (
    SOURCE_PART,
    CheckpointError,
    FileState,
    decode_state,
    encode_state,
    key_of,
)
from adapters.files.fingerprint import Cursor, Head
from adapters.files.known import KEEP_GONE_SECONDS
from adapters.files.parsers import LiveParsers
from tests.support.tail import Driver, LineEcho, append, line, lines, told


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def recreate_with_inode(path: Path, inode: int, data: bytes) -> bool:
    """Create the file anew until its inode is the one that was freed; returns whether the file system gave it."""
    for _ in range(200):
        path.write_bytes(data)
        if path.stat().st_ino == inode:
            return True
        path.unlink()
    path.write_bytes(data)
    return False


def test_b01_files_with_the_same_first_line_are_two_files(tmp_path: Path, driver: Driver) -> None:
    """B1: equal heads do not make two files one."""
    (tmp_path / "a.jsonl").write_bytes(lines("same", "a1"))
    (tmp_path / "b.jsonl").write_bytes(lines("same", "b1", "b2"))
    assert driver.poll() == told("same", "a1", "same", "b1", "b2")
    append(tmp_path / "a.jsonl", line("a2"))
    assert driver.poll() == told("a2")


@pytest.mark.parametrize("restart", [False, True])
def test_b01_b03_b19_b30_reused_inode_is_another_file(tmp_path: Path, driver: Driver, restart: bool) -> None:
    """B1, B3, B19, B30: a new file with the inode of a deleted one is read from its start, while running or not."""
    old = tmp_path / "old.jsonl"
    old.write_bytes(lines("1", "2", "3"))
    driver.poll()
    inode = old.stat().st_ino
    old.unlink()
    recreate_with_inode(tmp_path / "new.jsonl", inode, lines("1", "x", "y", "z"))
    if restart:
        driver.restart()
    assert driver.poll() == told("1", "x", "y", "z")


def test_b02_offsets_of_files_with_equal_heads_are_not_swapped(tmp_path: Path, driver: Driver) -> None:
    """B2: 6,498 and 152 bytes, equal heads: each keeps its own cursor, also when they trade names."""
    head = line("h" * 100)
    big, small = tmp_path / "big.jsonl", tmp_path / "small.jsonl"
    big.write_bytes(head + lines(*(f"{number:050d}" for number in range(100))))
    small.write_bytes(head + line("tiny"))
    driver.poll()
    driver.restart()
    big.rename(tmp_path / "swap")
    small.rename(big)
    (tmp_path / "swap").rename(small)
    append(big, line("after small"))
    append(small, line("after big"))
    driver.poll()
    assert set(told("after small", "after big")) <= set(driver.sink.texts)
    assert len(driver.sink.once) == 104


@pytest.mark.parametrize(
    ("data", "expected"), [(b"", []), (b"x", []), (b'{"a":1}', []), (b'{"a":1}\n', ['{"a":1}']), (b"7\n", ["7"])]
)
def test_b04_short_files_are_read(tmp_path: Path, driver: Driver, data: bytes, expected: list[str]) -> None:
    """B4: a file of one byte or one line is read like any other, and goes on when it grows."""
    path = tmp_path / "short.jsonl"
    path.write_bytes(data)
    assert driver.poll() == expected
    append(path, b"\n" if data and not data.endswith(b"\n") else line("more"))
    assert len(driver.poll()) == 1


def test_b06_states_of_old_files_are_never_dropped(tmp_path: Path) -> None:
    """B6: a file untouched for years keeps its cursor; only one that is gone for long loses it."""
    now = [time.time()]
    driver = Driver(tmp_path, clock=lambda: now[0])
    kept, gone = tmp_path / "kept.jsonl", tmp_path / "gone.jsonl"
    kept.write_bytes(lines("1"))
    gone.write_bytes(lines("2"))
    os.utime(kept, (0, 0))
    driver.poll()
    gone.unlink()
    driver.poll()
    now[0] += KEEP_GONE_SECONDS / 2
    driver.restart()
    driver.poll()
    assert key_of(str(gone)) in driver.sink.checkpoints
    now[0] += KEEP_GONE_SECONDS
    driver.restart()
    assert driver.poll() == []
    driver.poll()
    assert set(driver.sink.checkpoints) == {SOURCE_PART, key_of(str(kept))}
    driver.restart()
    assert driver.poll() == []


def test_b06_files_below_an_unreadable_root_are_not_gone(tmp_path: Path) -> None:
    """B6: an unmounted disk says nothing of its files."""
    now = [time.time()]
    root = tmp_path / "disk"
    root.mkdir()
    (root / "a.jsonl").write_bytes(lines("1"))
    driver = Driver(root, clock=lambda: now[0])
    driver.poll()
    root.rename(tmp_path / "unplugged")
    for _ in range(3):
        now[0] += KEEP_GONE_SECONDS
        driver.poll()
    (tmp_path / "unplugged").rename(root)
    driver.restart()
    assert driver.poll() == []


def test_b07_packed_copy_is_not_read(tmp_path: Path, driver: Driver) -> None:
    """B7, session B35: a file that is replaced by its compressed form gives nothing new."""
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(lines("1"))
    driver.poll()
    path.rename(tmp_path / "rollout.jsonl.zst")
    assert driver.poll() == []
    assert driver.sink.warnings == []


def test_b08_b45_half_a_line_is_never_given(tmp_path: Path, driver: Driver) -> None:
    """B8, B45: a writer that pauses after each byte of a line gives one line, at its end."""
    path = tmp_path / "slow.jsonl"
    for byte in line("slow")[:-1]:
        append(path, bytes([byte]))
        assert driver.poll() == []
    append(path, b"\n")
    assert driver.poll() == told("slow")


def test_b11_refused_capture_is_read_again(tmp_path: Path, driver: Driver) -> None:
    """B11: while the log is down nothing moves; killed and started with the log up, nothing is missing."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1"))
    driver.poll()
    for text in ("2", "3"):
        append(path, line(text))
        driver.engine.sweep()
        assert driver.engine.read() is not None
        driver.restart()
    assert driver.poll() == told("2", "3")
    assert driver.sink.numbers == [1, 2, 3]


def test_b13_b22_removed_file_is_read_to_its_end(tmp_path: Path, driver: Driver) -> None:
    """B22: a file removed while it is being read is read to its end; B13: then nothing holds it open."""
    path = tmp_path / "big.jsonl"
    path.write_bytes(lines(*map(str, range(10_000))))
    driver.engine.sweep()
    first = driver.engine.read()
    assert first is not None
    driver.sink.commit(first)
    path.unlink()
    driver.poll()
    assert driver.sink.texts == told(*map(str, range(10_000)))
    assert driver.engine.stats.open_files == 0


def test_b13_descriptors_are_few_while_files_are_many(tmp_path: Path, driver: Driver) -> None:
    """B13, E15: a thousand old files at first start, never more than a handful open, none at rest."""
    for number in range(1000):
        (tmp_path / f"{number:04d}.jsonl").write_bytes(lines(str(number)))
    before = open_descriptors()
    driver.engine.sweep()
    while driver.engine.busy:
        capture = driver.engine.read()
        assert open_descriptors() <= before + 32
        if capture:
            driver.sink.commit(capture)
    assert driver.sink.texts == told(*map(str, range(1000)))
    assert open_descriptors() == before


def test_b14_empty_files_cost_no_state(tmp_path: Path, driver: Driver) -> None:
    """B14: empty files are seen, give nothing to remember, and are forgotten when they go."""
    for number in range(2000):
        (tmp_path / f"{number}.jsonl").touch()
    driver.poll()
    assert set(driver.sink.checkpoints) == {SOURCE_PART}
    assert driver.engine.stats.parsers == 0
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    driver.poll()
    assert driver.engine.stats.files_known == 0


def state() -> FileState:
    return FileState(cursor=Cursor(17, 99, "ab" * 12, 17), head=Head(17, "cd" * 12))


def test_b15_b23_b24_b40_damage_to_a_state_is_recognised_at_every_byte() -> None:
    """B15, B23, B24, B40: a state cut or changed at any byte is refused with a reason, never believed."""
    good = encode_state(state())
    assert decode_state(good) == state()
    for index in range(len(good)):
        for damaged in (good[:index], good[:index] + bytes([good[index] ^ 0x11]) + good[index + 1 :]):
            with pytest.raises(CheckpointError):
                decode_state(damaged)


@pytest.mark.parametrize("value", [b"", b"\0" * 40, b"[2,0,[]]", b"{}", b"[1,0,[]]", b"\xff"])
def test_b15_b23_b24_damaged_state_means_reading_that_file_again(tmp_path: Path, driver: Driver, value: bytes) -> None:
    """B15, B23, B24: an unusable state is named, costs its own file a second reading, and is replaced."""
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(lines(name))
    driver.poll()
    driver.sink.checkpoints[key_of(str(tmp_path / "a.jsonl"))] = value
    driver.restart()
    assert driver.poll() == told("a.jsonl")
    [warning] = driver.sink.warnings
    assert "read again from its start" in warning
    driver.restart()
    assert driver.poll() == []


def test_b21_parser_dropped_from_memory_goes_on_from_the_cursor(tmp_path: Path, driver: Driver) -> None:
    """B21: what is dropped for want of use comes back where it was, its state rebuilt from the lines before."""
    with mock.patch("adapters.files.engine.LiveParsers", lambda factory: LiveParsers(factory, limit=2)):
        driver.restart()
    paths = [tmp_path / f"{number}.jsonl" for number in range(6)]
    for turn in range(3):
        for path in paths:
            append(path, line(f"{path.name} {turn}"))
        driver.poll()
        assert driver.engine.stats.parsers == 2
    assert sorted(driver.sink.numbers) == sorted([1, 2, 3] * 6)


def test_b22_unread_file_that_vanishes_is_told(tmp_path: Path, driver: Driver) -> None:
    """B22, B33: what cannot be known any more is named with its size, not hidden."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1"))
    driver.engine.sweep()
    path.unlink()
    driver.captures()
    assert driver.sink.warnings == [f"removed with {len(line('1'))} bytes unread"]
    path.write_bytes(lines("1"))
    assert driver.poll() == told("1")


def test_b27_device_number_is_no_identity(tmp_path: Path, driver: Driver) -> None:
    """B27: a mount that changes the device number makes no file new: it is not even remembered."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1"))
    driver.poll()
    stored = decode_state(driver.sink.checkpoints[key_of(str(path))])
    assert path.stat().st_dev not in (stored.seen.size, stored.seen.inode)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    driver.poll()
    shutil.copy2(path, moved / "copy.jsonl")
    assert set(driver.poll()) <= set(told("1"))


def test_b28_many_known_files_need_no_opening_at_start(tmp_path: Path, driver: Driver) -> None:
    """B28: a start over known, unchanged files opens none of them and builds no parser."""
    for number in range(500):
        (tmp_path / f"{number}.jsonl").write_bytes(lines(str(number)))
    time.sleep(0.05)  # out of the file system's clock tick, within which equal times prove nothing
    driver.poll()
    LineEcho.built = 0
    driver.restart()
    with mock.patch("adapters.files.handles.open_regular", side_effect=AssertionError("opened")):
        assert driver.poll() == []
    assert LineEcho.built == 0


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_b29_b32_renamed_file_keeps_its_cursor(tmp_path: Path, driver: Driver, restart: bool, again: bool) -> None:
    """B29, B32: rotation, seen or not, with or without a successor, reads nothing twice; the state moves along."""
    path, rotated = tmp_path / "log.jsonl", tmp_path / "log.1.jsonl"
    path.write_bytes(lines("1", "2"))
    driver.poll()
    append(path, line("3"))
    path.rename(rotated)
    if again:
        path.write_bytes(lines("new"))
    if restart:
        driver.restart()
    assert sorted(driver.poll()) == sorted(told("3", *(["new"] if again else [])))
    append(rotated, line("4"))
    assert driver.poll() == told("4")
    expected = {SOURCE_PART, str(rotated), *([str(path)] if again else [])}
    assert set(driver.sink.checkpoints) == expected


def test_b32_moved_across_devices_is_recognised_by_content(tmp_path: Path, driver: Driver) -> None:
    """B32: another inode and another path, the same content: the cursor moves along."""
    folder = tmp_path / "old"
    folder.mkdir()
    path = folder / "a.jsonl"
    path.write_bytes(lines(*map(str, range(200))))
    driver.poll()
    data = path.read_bytes()
    (tmp_path / "hold-the-inode").write_bytes(b"")
    path.rename(tmp_path / "hold-the-inode")
    driver.poll()
    (tmp_path / "moved.jsonl").write_bytes(data + line("new"))
    assert driver.poll() == told("new")


def test_b33_append_and_overwrite_loop(tmp_path: Path, driver: Driver) -> None:
    """B33: 50 lines appended and overwritten by turns, a poll after each: all there was to see is delivered."""
    path = tmp_path / "a.jsonl"
    for number in range(50):
        if number % 5 == 4:
            path.write_bytes(line(f"{number}"))
        else:
            append(path, line(f"{number}"))
        driver.poll()
    assert driver.sink.once == told(*map(str, range(50)))


@pytest.mark.parametrize("size", [2_000_000, 5_000_000])
def test_b35_b37_long_line_costs_itself_only_and_is_counted(tmp_path: Path, driver: Driver, size: int) -> None:
    """B35, session B37: the file goes on after a line above the limit, and the line is counted with place and size."""
    (tmp_path / "a.jsonl").write_bytes(line("before") + line("y" * size) + line("after"))
    with mock.patch("adapters.files.blocks.MAX_LINE_BYTES", 1_500_000):
        assert driver.poll() == told("before", "after")
    [rejected] = driver.sink.rejected
    assert rejected.reason == "line-too-long"
    assert rejected.size_bytes == len(line("y" * size))


def test_b41_successor_with_the_same_head_is_read(tmp_path: Path, driver: Driver) -> None:
    """B41: a rotated file's successor begins with the same 2 KB and is longer than the old cursor: the marker tells."""
    path = tmp_path / "a.jsonl"
    head = lines(*("banner" * 20 for _ in range(16)))
    path.write_bytes(head + lines(*map(str, range(50))))
    driver.poll()
    path.unlink()
    path.write_bytes(head + lines(*map(str, range(1000, 1200))))
    assert told(*map(str, range(1000, 1200))) == driver.poll()[-200:]


def test_b42_numbered_lines_over_many_kills_are_complete(tmp_path: Path, driver: Driver) -> None:
    """B42: numbered lines, a kill after every second capture: complete, in order, each counted by its parser right."""
    path = tmp_path / "a.jsonl"
    for begin in range(0, 20_000, 1000):
        append(path, lines(*map(str, range(begin, begin + 1000))))
        driver.engine.sweep()
        for commit in (True, False):
            if (capture := driver.engine.read()) is not None and commit:
                driver.sink.commit(capture)
        driver.restart()
    driver.poll()
    assert driver.sink.texts == told(*map(str, range(20_000)))
    assert driver.sink.numbers == list(range(1, 20_001))
