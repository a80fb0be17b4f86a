"""The window on a file's end holds exactly its last lines, whatever the bytes, and counts all of them."""

import io

from hypothesis import given
from hypothesis import strategies as st

import triage.report.window as under_test
from triage.report.window import BLOCK_BYTES, count_lines, tail_window

_files = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b" ", b"\t", b'{"x":1}', b"\xe2\x80\xa8"]), max_size=40).map(
    b"".join
)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


@given(_files, st.integers(1, 12))
def test_window_is_the_last_lines(data: bytes, lines: int) -> None:
    """What lies from `start` on are the last lines, and `total` is all of them."""
    window = tail_window(io.BytesIO(data), lines)
    assert window.total == len(_lines(data))
    assert _lines(data[window.start :]) == _lines(data)[-lines:]
    assert window.scanned == min(lines, window.total)


@given(_files, st.integers(1, 12), st.integers(1, 7))
def test_block_size_does_not_matter(data: bytes, lines: int, block: int) -> None:
    """Lines that cross blocks are found as well as others."""
    original = BLOCK_BYTES
    try:
        under_test.BLOCK_BYTES = block  # type: ignore[misc]
        window = tail_window(io.BytesIO(data), lines)
    finally:
        under_test.BLOCK_BYTES = original  # type: ignore[misc]
    assert _lines(data[window.start :]) == _lines(data)[-lines:]
    assert window.total == len(_lines(data))


def test_window_that_reaches_the_start_holds_the_first_line() -> None:
    """B37: a file smaller than the window is read from its first byte."""
    assert tail_window(io.BytesIO(b"only\n"), 160).start == 0


def test_line_longer_than_a_block_is_one_line() -> None:
    """Memory holds a block, a line may be longer."""
    data = b"x" * (BLOCK_BYTES * 2 + 5) + b"\nlast"
    assert count_lines(io.BytesIO(data)) == 2
    assert tail_window(io.BytesIO(data), 1).start == BLOCK_BYTES * 2 + 6
