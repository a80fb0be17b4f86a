"""The elements of any JSON array come out whole and in order, at any chunk size, in bounded memory, bad ones alone."""

import io
import json
import tracemalloc
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.files import json_damage, json_stream, json_values
from adapters.files.json_stream import Cut, Slice, TooLong, array_elements

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def scan(raw: bytes, start: int = 0, chunk: int = json_values.CHUNK_BYTES):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "CHUNK_BYTES", chunk)
        return list(array_elements(io.BytesIO(raw), start))


@settings(deadline=None)
@given(st.lists(JSON, max_size=8), st.integers(1, 40), st.sampled_from([None, 2]), st.booleans())
def test_every_element_comes_out_whole(values, chunk: int, indent: int | None, ascii_only: bool) -> None:
    """Whatever the layout, the escapes and the chunk size; `start` is where the element stands in the file."""
    raw = b"  " + json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass") + b"  "
    pieces = scan(raw, 2, chunk)
    assert [json.loads(piece.raw.decode("utf-8", "surrogatepass")) for piece in pieces] == values
    assert all(raw[piece.start : piece.start + len(piece.raw)] == piece.raw for piece in pieces)


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"1", b'{"a":nope}', b'"x]"', b'{"b":[1,{"c":"}"}]}', b"nul"]), max_size=6))
def test_a_bad_element_costs_only_itself(elements: list[bytes]) -> None:
    """Whatever its neighbours are: nothing good is in the piece that holds it."""
    pieces = [piece.raw for piece in scan(b"[" + b",".join(elements) + b"]")]
    good = [element for element in elements if element not in {b'{"a":nope}', b"nul"}]
    assert b",".join(pieces) == b",".join(elements)
    assert [piece for piece in pieces if piece in good] == good


@settings(deadline=None)
@given(st.lists(JSON, min_size=1, max_size=4), st.data())
def test_a_file_that_is_cut_says_so(values, data) -> None:
    """What was whole before the cut is there, in order; the last piece is a Cut."""
    raw = json.dumps(values).encode()
    cut = data.draw(st.integers(1, len(raw) - 1))
    ends = accumulate((len(json.dumps(value)) + 2 for value in values), initial=-1)
    whole = sum(end < cut for end in ends) - 1
    pieces = scan(raw[:cut])
    assert isinstance(pieces[-1], Cut)
    assert [json.loads(piece.raw) for piece in pieces[:whole]] == values[:whole]


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(1, 20))
def test_any_bytes_end_without_an_error(rest: bytes, chunk: int) -> None:
    pieces = scan(b"[" + rest, 0, chunk)
    assert sum(len(getattr(piece, "raw", b"")) for piece in pieces) <= len(rest)


def test_an_element_that_is_too_long_is_passed_over_in_bounded_memory(monkeypatch) -> None:
    for module in (json_stream, json_values, json_damage):
        monkeypatch.setattr(module, "MAX_ELEMENT_BYTES", 1_000_000)
    monkeypatch.setattr(json_values, "CHUNK_BYTES", 65_536)
    raw = b'["' + b"x" * 30_000_000 + b'", 2]'
    stream = io.BytesIO(raw)
    tracemalloc.start()
    pieces = list(array_elements(stream, 0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(pieces[0], TooLong)
    assert (pieces[0].start, pieces[0].size, len(pieces[0].sample)) == (1, 30_000_002, 65_536)
    assert pieces[1] == Slice(len(raw) - 2, b"2")
    assert peak < 5_000_000


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(ValueError, match="no array at byte 0"):
        scan(b"{}")
