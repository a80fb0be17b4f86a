"""Promise: lines are found at byte 0x0A only, the same ones however the bytes arrive, in bounded memory."""

import io
import resource
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.files import lines as module
from adapters.files.fingerprint import read_at
from adapters.files.lines import Line, LongLine, read_lines, split_lines
from tests.support.tail import Driver, append

if TYPE_CHECKING:
    from collections.abc import Iterator

# Mostly the bytes that matter, so that short inputs meet every rule.
bytestrings = st.lists(
    st.sampled_from([b"\n", b"\r", b"\0", b" ", b"a", b'{"b":1}', b"\xe2\x80\xa8", b"\xef\xbb\xbf"])
).map(b"".join)


class Dribble(io.RawIOBase):
    """A stream that gives its bytes in pieces of chosen sizes, and cannot seek."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.rest = data
        self.sizes: Iterator[int] = iter(sizes)

    def read(self, size: int = -1) -> bytes:
        count = min(next(self.sizes, len(self.rest) or 1), size)
        piece, self.rest = self.rest[:count], self.rest[count:]
        return piece

    def seekable(self) -> bool:
        return False


def all_lines(data: bytes, *, final: bool = True) -> list[Line | LongLine]:
    return list(read_lines(io.BytesIO(data), 0, None, final=final))


def texts(data: bytes, *, final: bool = True) -> list[bytes]:
    return [line.raw for line in all_lines(data, final=final) if isinstance(line, Line)]


@given(data=bytestrings, sizes=st.lists(st.integers(1, 7)))
def test_any_division_into_reads_gives_the_same_lines(data: bytes, sizes: list[int]) -> None:
    """Chunk borders inside a line end, a BOM or a character change nothing."""
    assert list(read_lines(Dribble(data, sizes), 0, None, final=True)) == all_lines(data)  # type: ignore[arg-type]


@given(data=bytestrings)
def test_lines_are_slices_of_the_file_in_order(data: bytes) -> None:
    """Nothing is invented, overlapped or reordered: each line is bytes of its own place, and ends where it says."""
    end = 0
    for line in all_lines(data):
        assert isinstance(line, Line)
        assert line.start >= end
        assert data[line.start :].startswith(line.raw)
        assert line.raw.strip()
        assert line.end == len(data) or data[line.end - 1 : line.end] == b"\n"
        end = line.end


@given(data=bytestrings, cut=st.integers(0, 40))
def test_reading_on_from_a_line_end_gives_the_rest(data: bytes, cut: int) -> None:
    """A reader that stops after any line and goes on from its end loses and repeats nothing."""
    whole = all_lines(data)
    first = whole[:cut]
    start = first[-1].end if first else 0
    assert first + list(read_lines(io.BytesIO(data), start, None, final=True)) == whole


@given(data=bytestrings)
def test_without_final_only_lines_with_a_newline_count(data: bytes) -> None:
    """The beginning of a line is never given out while its file may grow."""
    complete = data[: data.rfind(b"\n") + 1]
    assert all_lines(data, final=False) == all_lines(complete)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n\r\n  \n", []),
        (b"a", [b"a"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\rb\n", [b"a\rb"]),
        (b"a\r\r\n", [b"a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
        ("a\u2028b\u2029c\u0085d\n".encode(), ["a\u2028b\u2029c\u0085d".encode()]),
        (b"a\x0bb\x0cc\x1cd\n", [b"a\x0bb\x0cc\x1cd"]),
        (b"a\n\0\0\0\0b\n", [b"a", b"b"]),
        (b"a\n\0\0\0\0\nb\n", [b"a", b"\0\0\0\0", b"b"]),
        (b"  a  \n", [b"  a  "]),
    ],
)
def test_line_ends(data: bytes, expected: list[bytes]) -> None:
    """LF alone ends a line; one CR before it, a BOM at the start, blank lines and NUL padding before data go."""
    assert texts(data) == expected


def test_nul_padded_tail_is_no_line_until_it_is_complete() -> None:
    """What a crash leaves at the end of a file waits for what comes after it."""
    assert texts(b"a\n" + b"\0" * 5000, final=False) == [b"a"]
    [_, padded] = all_lines(b"a\n" + b"\0" * 5000 + b"b\n")
    assert padded == Line(2 + 5000, 2 + 5000 + 2, b"b")


def test_limit_stops_after_about_so_many_bytes() -> None:
    """A limit bounds what is read, yet a line longer than the limit is still read whole."""
    data = (b"x" * 99 + b"\n") * 100_000
    some = list(read_lines(io.BytesIO(data), 0, 1, final=False))
    assert 0 < len(some) < 100_000
    assert some == all_lines(data)[: len(some)]


def test_long_line_is_passed_over_with_a_sample() -> None:
    """A line above the limit costs itself only; its place, size and first 64 KiB are kept."""
    with mock.patch.object(module, "MAX_LINE_BYTES", 3_000_000):
        data = b"before\n" + b"y" * 5_000_000 + b"\nafter\n"
        before, long, after = all_lines(data)
    assert (before, after) == (Line(0, 7, b"before"), Line(5_000_008, 5_000_014, b"after"))
    assert long == LongLine(7, 5_000_008, 5_000_001, b"y" * 65536)


def test_line_just_at_the_limit_is_read() -> None:
    """The limit is the longest line that counts, not the first that does not."""
    with mock.patch.object(module, "MAX_LINE_BYTES", 2_000_000):
        at, above = all_lines(b"a" * 1_999_999 + b"\n" + b"b" * 2_000_000 + b"\n")
    assert isinstance(at, Line)
    assert isinstance(above, LongLine)


def test_split_lines_places_lines_by_their_base() -> None:
    """A byte order mark counts only at byte 0 of the file."""
    assert list(split_lines(b"\xef\xbb\xbfa\nb\n", 100)) == [Line(100, 105, b"\xef\xbb\xbfa"), Line(105, 107, b"b")]


def sparse(path: Path, size: int, end: bytes) -> None:
    with path.open("wb") as file:
        file.write(b'{"first":1}\n{"long":"')
        file.truncate(size)
        file.seek(size)
        file.write(end)


@pytest.mark.parametrize("size", [300_000_000, pytest.param(2_000_000_000, marks=pytest.mark.soak)])
def test_huge_line_takes_no_memory(tmp_path: Path, size: int) -> None:
    """A line of 2 GB is searched through, counted, and the next line read, within twice the limit of a line."""
    path = tmp_path / "huge.jsonl"
    sparse(path, size, b'"}\n{"after":1}\n')
    tracemalloc.start()
    with path.open("rb", buffering=0) as stream:
        first, long, after = read_lines(stream, 0, None, final=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(long, LongLine)
    assert (first.start, long.start, long.size) == (0, 12, after.start - 12)
    assert peak < 80 * 1024 * 1024


def test_growing_long_line_is_searched_once(tmp_path: Path) -> None:
    """A line that grows over many polls is never searched again from its start, nor held."""
    path = tmp_path / "growing.jsonl"
    sparse(path, 400_000_000, b"")
    driver = Driver(tmp_path)
    assert driver.poll() == ['{"first":1}']
    tracemalloc.start()
    with mock.patch("adapters.files.blocks.read_at", side_effect=read_at) as counted:
        for _ in range(50):
            append(path, b"z" * 1000)
            assert driver.poll() == []
        read = sum(call.args[2] for call in counted.call_args_list)
        append(path, b'"}\n{"after":1}\n')
        assert driver.poll() == ['{"after":1}']
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [rejected] = driver.sink.rejected
    assert (rejected.reason, rejected.size_bytes) == ("line-too-long", 400_000_000 - 12 + 50_000 + 3)
    assert rejected.sample.startswith(b'{"long":"\0')
    assert read < 50 * 3 * 1024 * 1024
    assert peak < 16 * 1024 * 1024


@pytest.mark.soak
def test_memory_of_the_process_stays_bounded_over_long_lines(tmp_path: Path) -> None:
    """Twenty lines of 200 MB, tailed: the process's peak is that of one block."""
    path = tmp_path / "many.jsonl"
    with path.open("wb") as file:
        for number in range(20):
            file.seek(200_000_000, io.SEEK_CUR)
            file.write(b"\n%d\n" % number)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    driver = Driver(tmp_path)
    assert driver.poll() == [str(number) for number in range(20)]
    assert len(driver.sink.rejected) == 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024
