"""Promise: whole objects on a glued or torn line are recovered, fragments named by their bytes, in bounded time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.files.json_line import MAX_PIECES, BadLine, Fragment, Whole, decode_line, split_glued

A = b'{"type":"message","id":"a1","message":{"text":"x } { \\" y"}}'
B = b'{"type":"message","id":"b2","list":[{"text":"{"},{"n":1}]}'


def entry(raw: bytes) -> dict | None:
    """Say what is an entry: an object with a type, as in session files."""
    try:
        value = decode_line(raw)
    except BadLine:
        return None
    return value if isinstance(value, dict) and "type" in value else None


def shape(raw: bytes) -> list[tuple[str, bytes]]:
    pieces = split_glued(raw, entry)
    return [("whole" if isinstance(p, Whole) else "fragment", raw[p.start : p.end]) for p in pieces]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (A + B, [("whole", A), ("whole", B)]),  # B23
        (A + b"  " + B, [("whole", A), ("whole", B)]),
        (A[:40] + B, [("fragment", A[:40]), ("whole", B)]),  # B1
        (A[:30] + b"\\" + B, [("fragment", A[:30] + b"\\"), ("whole", B)]),
        (A[:40] + B + A, [("fragment", A[:40]), ("whole", B), ("whole", A)]),
        (A + B[:20], [("whole", A), ("fragment", B[:20])]),
        (A + B[:20] + A, [("whole", A), ("fragment", B[:20]), ("whole", A)]),
        (A[:25] + B[:30] + A, [("fragment", A[:25] + B[:30]), ("whole", A)]),
        (b"junk" + A, [("fragment", b"junk"), ("whole", A)]),
        (A + b"junk", [("whole", A), ("fragment", b"junk")]),
        (A[:-1], [("fragment", A[:-1])]),
        (b"plain words", [("fragment", b"plain words")]),
        (b"{{{{", [("fragment", b"{{{{")]),
        (b"", []),
    ],
)
def test_pieces_of_a_glued_line(raw: bytes, expected: list[tuple[str, bytes]]) -> None:
    """Whole objects from both ends, at most one fragment between: E20."""
    assert shape(raw) == expected


def test_the_inside_of_a_torn_entry_is_no_entry() -> None:
    """A nested object that happens to end a torn line has no type of its own, and is not taken for an entry."""
    torn = b'{"type":"message","message":{"role":"user"}'
    assert shape(torn) == [("fragment", torn)]


def test_bytes_that_are_no_utf8_do_not_move_places() -> None:
    """Places are bytes, whatever stands before them."""
    torn = b'{"type":"message","text":"\xff\xfe\xc3'
    pieces = split_glued(torn + A, entry)
    assert pieces == [Fragment(0, len(torn)), Whole(len(torn), len(torn + A), entry(A))]


@pytest.mark.parametrize(
    "raw",
    [
        b"{" * 10_000_000,
        b"}" * 10_000_000,
        b'"' * 10_000_000,
        b'{"a":' * 2_000_000,
        b"{" * 3_000_000 + b"}" * 3_000_000,
        b"\\" * 10_000_000 + b'"}',
        b"x" + b" " * 10_000_000 + b"}",
        b"{}" * 3_000_000 + b"x",
        b'{"type":1}' * 500_000 + b"x",
        b"x" + b'{"type":1}' * 500_000,
    ],
    ids=["open", "close", "quotes", "nested", "balanced", "backslashes", "spaces", "empty", "front", "back"],
)
def test_adversarial_lines_end(raw: bytes) -> None:
    """Ten megabytes of the worst kind cost linear work; a quadratic search would not end within the test's timeout."""
    pieces = split_glued(raw, entry)
    assert len(pieces) <= 2 * MAX_PIECES + 1
    assert sum(piece.end - piece.start for piece in pieces) <= len(raw)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=3), max_size=4),
    st.integers(min_value=0, max_value=200),
    st.data(),
)
def test_what_stands_behind_a_torn_entry_is_recovered(others: list[dict], cut: int, data: st.DataObject) -> None:
    """However an entry is torn, all whole entries behind it are recovered and the bytes of all pieces are in order."""
    whole = [json.dumps({"type": "t", **other}, ensure_ascii=data.draw(st.booleans())).encode() for other in others]
    torn = A[: cut % len(A)]
    raw = torn + b"".join(whole)
    pieces = split_glued(raw, entry)
    assert [raw[p.start : p.end] for p in pieces if isinstance(p, Whole)] == whole
    assert [raw[p.start : p.end] for p in pieces if isinstance(p, Fragment)] == ([torn] if torn else [])
    places = [place for piece in pieces for place in (piece.start, piece.end)]
    assert places == sorted(places)


@given(st.binary(max_size=120))
def test_any_bytes_split(raw: bytes) -> None:
    """No bytes raise; what is given are places inside the line, in order."""
    places = [place for piece in split_glued(raw, entry) for place in (piece.start, piece.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(raw) for place in places)
