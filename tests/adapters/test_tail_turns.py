"""Promise: files have fair, bounded turns in the right order, and what happens to them is told."""

import functools
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import pytest

from adapters.contract import Element, Heard, Warned
from adapters.files.lines import Line, LongLine
from adapters.files.reading import Budget
from tests.support.tail import Driver, LineEcho, append, line, lines, told


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def test_backfill_is_in_order_of_names(tmp_path: Path, driver: Driver) -> None:
    """Parents come before their forks, wherever they lie, however large: session names begin with their time."""
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "2026-01-01.jsonl").write_bytes(lines(*(f"parent {number}" for number in range(5000))))
    (tmp_path / "a" / "2026-01-02.jsonl").write_bytes(lines("fork"))
    assert driver.poll() == told(*(f"parent {number}" for number in range(5000)), "fork")


def test_huge_old_file_does_not_starve_a_live_one(tmp_path: Path, driver: Driver) -> None:
    """While an old file is read, a line appended elsewhere comes with the next capture."""
    live = tmp_path / "z.jsonl"
    live.write_bytes(lines("first"))
    driver.poll()
    (tmp_path / "a.jsonl").write_bytes(lines(*("x" * 1000 for _ in range(20_000))))
    driver.restart()
    driver.engine.sweep()
    driver.engine.read()
    append(live, line("live"))
    driver.engine.look([str(live)])
    capture = driver.engine.read()
    assert capture is not None
    driver.sink.commit(capture)
    assert told("live")[0] in driver.sink.texts
    assert driver.engine.busy


def test_huge_old_file_does_not_starve_other_old_ones(tmp_path: Path, driver: Driver) -> None:
    """An old file has the floor for a bounded number of bytes."""
    (tmp_path / "a.jsonl").write_bytes(lines(*("x" * 1000 for _ in range(5_000))))
    (tmp_path / "b.jsonl").write_bytes(lines("short"))
    with mock.patch("adapters.files.engine.BACKFILL_TURN_BYTES", 2_000_000):
        driver.poll()
    place = driver.sink.texts.index(told("short")[0])
    assert 1500 < place < 4000


def test_captures_are_small(tmp_path: Path, driver: Driver) -> None:
    """A capture is bounded in bytes and elements, whatever is waiting."""
    (tmp_path / "a.jsonl").write_bytes(lines(*map(str, range(10_000))))
    (tmp_path / "b.jsonl").write_bytes(lines(*("x" * 100_000 for _ in range(100))))
    driver.engine.sweep()
    captures = driver.captures()
    assert max(len(capture.elements) for capture in captures) <= 2000
    sizes = [sum(len(e.event.text) for e in capture.elements if isinstance(e, Heard)) for capture in captures]
    assert max(sizes) < 2_500_000


def test_rebuilding_is_spread_over_captures(tmp_path: Path, driver: Driver) -> None:
    """The parser of a large file is rebuilt in stretches, so that others have their turn meanwhile."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*("x" * 1000 for _ in range(3000))))
    driver.poll()
    driver.restart()
    append(path, line("new"))
    driver.engine.sweep()
    with mock.patch("adapters.files.engine.Budget", functools.partial(Budget, quiet=1_000_000)):
        assert driver.engine.read() is None
        driver.captures()
    assert driver.sink.texts[-1:] == told("new")
    assert driver.sink.numbers == list(range(1, 3002))


class Failing(LineEcho):
    def feed(self, line: Line | LongLine) -> Iterable[Element]:
        if isinstance(line, Line) and b"poison" in line.raw:
            raise ValueError("cannot")
        return super().feed(line)


def test_parser_that_fails_costs_one_line(tmp_path: Path) -> None:
    """A parser's fault is no poison pill: the line is rejected with its place and bytes, the next one is read."""
    driver = Driver(tmp_path, parser=Failing)
    (tmp_path / "a.jsonl").write_bytes(lines("1", "poison", "2"))
    assert driver.poll() == told("1", "2")
    [rejected] = driver.sink.rejected
    assert (rejected.reason, rejected.detail) == ("parser-failed", "ValueError: cannot")
    assert rejected.where == f"{tmp_path / 'a.jsonl'}: byte {len(line('1'))}"
    assert rejected.sample + b"\n" == line("poison")


def test_stats_say_what_is_going_on(tmp_path: Path, driver: Driver) -> None:
    """Known files, what is unread, what was read."""
    data = lines(*map(str, range(5000)))
    (tmp_path / "a.jsonl").write_bytes(data)
    driver.engine.sweep()
    assert driver.engine.stats.pending_bytes == len(data)
    driver.captures()
    stats = driver.engine.stats
    assert (stats.files_known, stats.pending_files, stats.pending_bytes, stats.open_files) == (1, 0, 0, 0)
    assert stats.bytes_read == len(data)
    assert stats.last_sweep > 0


def test_restarts_of_a_file_are_told(tmp_path: Path, driver: Driver) -> None:
    """That a file is read again is said with its place and the reason, once."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines("1", "2"))
    driver.poll()
    path.write_bytes(lines("other", "2", "3"))
    driver.poll()
    [warned] = [element for element in driver.sink.elements if isinstance(element, Warned)]
    assert warned.where == str(path)
    assert warned.message.startswith("replaced by other content after")
