"""Events are the same however their bytes are cut, and a bad one costs itself alone."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.signal_events import MAX_ID_BYTES, EventParser
from adapters.chat.signal_wire import MAX_LINE_BYTES
from adapters.contract import MAX_SAMPLE_BYTES

STREAM = (
    b':\nid:1-1\nevent:receive\ndata:{"envelope":{"timestamp":1}}\n\n'
    b":\r\n: words\r\nid: 1-2\r\nevent: receive\r\ndata: {\r\ndata: }\r\nretry: 7\r\n\r\n"
    b'event:callEvent\ndata:{"a":1}\n\n\n\ndata:[]\n\n'
)


def read(*chunks: bytes, last: str = "") -> list[dict[str, Any]]:
    parser = EventParser(last)
    return [json.loads(line.raw) for chunk in chunks for line in parser.feed(chunk)]


def told(event: str, result: Any, method: str = "receive") -> dict[str, Any]:
    params = {"subscription": 0, "event": event, "result": result}
    return {"jsonrpc": "2.0", "method": method, "params": params}


def test_events_are_what_a_subscription_would_give() -> None:
    """A number counts until the next one, an event without a name is a `message`, several lines of data are one."""
    assert read(STREAM) == [
        told("1-1", {"envelope": {"timestamp": 1}}),
        told("1-2", {}),
        told("1-2", {"a": 1}, "callEvent"),
        told("1-2", [], "message"),
    ]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_it_does_not_matter_where_bytes_are_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[start:end] for start, end in pairwise(places))) == read(STREAM)


@given(st.lists(st.binary(max_size=30), max_size=8))
def test_garbage_is_survived_by_the_next_event(garbage: list[bytes]) -> None:
    parser = EventParser()
    lines = [line for chunk in [*garbage, b'\n\nevent:receive\ndata:{"x":1}\n\n'] for line in parser.feed(chunk)]
    assert json.loads(lines[-1].raw)["params"]["result"] == {"x": 1}
    assert all(b"\n" not in line.raw for line in lines), "the journal has a line for each"
    assert parser.size == 0


@pytest.mark.parametrize("lines", [1, 40])
def test_data_that_is_too_long_is_kept_as_a_sample(lines: int) -> None:
    """In one line or in many; what comes behind it is read."""
    parser = EventParser()
    data = b"data:" + b"x" * (2 * MAX_LINE_BYTES // lines) + b"\n"
    found = [line for chunk in (*[data] * lines, b"\n", b"data:{}\n\n") for line in parser.feed(chunk)]
    assert [line.whole for line in found] == [False, True]
    assert found[0].size > 2 * MAX_LINE_BYTES
    assert len(found[0].raw) < 2 * MAX_SAMPLE_BYTES
    assert parser.size == 0


def test_a_number_that_is_too_long_is_none() -> None:
    assert read(b"id:" + b"9" * (MAX_ID_BYTES + 1) + b"\ndata:1\n\n", last="1-1") == [told("1-1", 1, "message")]
