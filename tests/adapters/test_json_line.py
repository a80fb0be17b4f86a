"""Promise: a line of JSON that somebody else wrote decodes, forgivingly and always alike, or is a `BadLine`."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.files.json_line import BadLine, LineDecoder, compact_json, decode_line

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


class Named(msgspec.Struct):
    name: Any = None


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'"x\udcb2y"', "x\ufffdy"),  # B21
        (rb'"\ud83d\udc3e"', "\U0001f43e"),
        (rb'"\ud83d\ud83d\udc3e"', "\ufffd\U0001f43e"),
        (rb'"\ud83d x"', "\ufffd x"),
        (rb'"\\udcb2 \udcb2"', "\\udcb2 \ufffd"),
        (rb'{"\udcb2": 1}', {"\ufffd": 1}),
        (b'"\xff\xc3\xa9"', "\ufffd\u00e9"),  # E19
        (b'"a\x01b\tc"', "a\x01b\tc"),
        (b"NaN", None),  # E18
        (b"[1, -Infinity, 1e999]", [1, None, None]),
        (b"1" * 30, int("1" * 30)),
        (b"1" * 5000, None),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('"a\u2028b\u2029c\u0085d"'.encode(), "a\u2028b\u2029c\u0085d"),  # B20
        (b'"\\u0000"', "\0"),
    ],
)
def test_what_is_forgiven(raw: bytes, value: object) -> None:
    """Each row is an input that a strict reader refuses, or reads in a way that breaks what comes after."""
    assert decode_line(raw) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "invalid-json"),
        (b"   ", "invalid-json"),
        (b'{"a": ', "invalid-json"),
        (b'{"a": 1,}', "invalid-json"),
        (b"{} {}", "invalid-json"),
        (b"\x00\x01\x02", "invalid-json"),
        (b"[" * 100_000, "too-deep"),
        (b'{"a":' * 100_000, "too-deep"),
        (b"NaN " + b"[" * 100_000, "invalid-json"),
        (b"[NaN," * 100_000, "too-deep"),
    ],
)
def test_what_is_not(raw: bytes, reason: str) -> None:
    """What cannot be read is one error with a reason of a closed set: E18."""
    with pytest.raises(BadLine) as error:
        decode_line(raw)
    assert error.value.reason == reason
    assert str(error.value)


@given(json_values)
def test_both_roads_read_the_same(value: object) -> None:
    """A value reads the same whether the fast road took it or, for a NaN beside it, the forgiving one."""
    raw = json.dumps(value).encode()
    assert decode_line(b"[NaN, " + raw + b"]") == [None, decode_line(raw)]


@given(st.text(alphabet=st.characters(codec=None), max_size=30))
def test_no_lone_surrogate_survives(text: str) -> None:
    """Whatever surrogates a string is made of, what comes out can be encoded: B21."""
    decoded = decode_line(json.dumps({"k" + text: [text]}).encode())
    assert compact_json(decoded).encode("utf-8")


def outcome(decoder: LineDecoder[Any], raw: bytes) -> object:
    try:
        return decoder.decode(raw)
    except BadLine as bad:
        return bad.reason


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_bad(raw: bytes) -> None:
    """No bytes raise anything but `BadLine`, and what is decoded can be written out."""
    assert compact_json(outcome(LineDecoder[object](Any), raw))
    named = outcome(LineDecoder[Named](Named), raw)
    assert isinstance(named, Named) or named in {"invalid-json", "too-deep", "not-an-object"}


@pytest.mark.parametrize("raw", [b"[1]", b"5", b'"x"', b"null", b"[NaN]"])
def test_a_typed_decoder_says_what_is_no_object(raw: bytes) -> None:
    """A line that is no object is told apart from one that is no JSON: E18."""
    with pytest.raises(BadLine) as error:
        LineDecoder[Named](Named).decode(raw)
    assert error.value.reason == "not-an-object"


def test_a_typed_decoder_reads_the_same_on_both_roads() -> None:
    assert LineDecoder[Named](Named).decode(b'{"name": NaN, "name": [1]}') == Named([1])
    assert LineDecoder[Named](Named).decode(b'{"other": NaN, "name": [1]}') == Named([1])


@given(json_values)
def test_compact_json_is_json_and_needs_no_order(value: object) -> None:
    """What it writes reads as the same value, and a dict written in another order gives the same text."""
    written = compact_json(value)
    assert json.loads(written) == value
    if isinstance(value, dict):
        assert compact_json(dict(reversed(value.items()))) == written


def test_compact_json_writes_integers_of_any_size() -> None:
    """Numbers of more than 64 bits, which the fast encoder refuses, are written as they were: E18."""
    assert compact_json({"b": 10**30, "a": 1}) == '{"a":1,"b":' + str(10**30) + "}"


def test_numbers_that_come_out_are_finite() -> None:
    assert all(value is None or math.isfinite(value) for value in decode_line(b"[1e308, 1e309, -1e999, 0.5]"))
