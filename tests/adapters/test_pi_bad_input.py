"""Promise: whatever a line holds, it costs at most itself, is counted, and never raises."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.contract import MAX_SAMPLE_BYTES, Heard, Rejected
from adapters.files.lines import Line, LongLine
from adapters.sessions.pi_parser import PiParser
from ingest.packing import pack
from tests.support.pi import (
    FILE,
    HEADER,
    assistant,
    call,
    entry,
    events,
    file_of,
    heard,
    ids,
    image,
    line,
    message,
    parse,
    parse_lines,
    rejected,
    seen,
    texts,
    tool_result,
    user,
    warned,
)
from tests.support.sessions import mutated, scalars

FIRST, LAST = user("first", None, "before"), user("last", "first", "after", at=59)
CALL = [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "x"}, call("bash", {"command": "ls"}), image()]
SAMPLES: list[dict[str, Any]] = [
    HEADER,
    {"kind": "header", "version": 4, "id": "v4", "createdAt": 1, "cwd": "/w"},
    user("u1", "first", "hello"),
    assistant("a1", "u1", CALL, stopReason="error", errorMessage="429"),
    tool_result("r1", "a1", "ok", isError=True),
    message(
        "bashExecution", "b1", "r1", command="ls", output="x", exitCode=1, cancelled=True, excludeFromContext=False
    ),
    message("custom", "k1", "b1", customType="note", content=[image()], display=False),
    message("compactionSummary", "k2", "b1", summary="S"),
    message("system", "k3", "b1", content="", sections={"a": "b"}),
    entry("custom_message", "c1", "k1", customType="note", content="x", display=True),
    entry("compaction", "s1", "c1", summary="S", firstKeptEntryId="u1", details={"a": [1]}),
    entry("branch_summary", "s2", "s1", summary="S", fromId="s1"),
    entry("model_change", "m1", "s2", provider="p", modelId="m"),
    entry("session_info", "i1", "m1", name="n"),
    entry("usage", "y1", "i1", kind="cache_warm", account="ana"),
    {"kind": "fact", "seq": 1, "fact": "name", "name": "n"},
    {"kind": "entry", "lane": "main", "seq": 2, **user("e1", "first", "hello"), "timestamp": 1767323046000},
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(SAMPLES))
def test_any_member_may_be_missing_or_of_any_type(value: object) -> None:
    """A broken line never costs its neighbours anything: what they give is what they give without it."""
    raw = json.dumps(value).encode()
    _, before, broken, after = parse_lines([line(HEADER), line(FIRST), raw, line(LAST)])
    assert texts(before) == ["before"]
    assert texts(after) == ["after"]
    assert [e.id for e in events(after)] == ids(parse(file_of(HEADER, FIRST, LAST)))[1:]
    assert all(isinstance(element.reason, str) and "byte" in element.where for element in rejected(broken))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(SAMPLES), max_size=8))
def test_every_line_is_counted(lines: list[object]) -> None:
    """Conservation: each line but headers and titles is emitted, skipped or rejected, once at least."""
    raws = [json.dumps(value).encode() for value in lines]
    for raw, elements in zip(raws, parse_lines([line(HEADER), *raws])[1:], strict=True):
        value = json.loads(raw)
        is_head = isinstance(value, dict) and (
            value.get("type") in ("session", "title") or value.get("kind") == "header"
        )
        assert seen(elements) >= (0 if is_head else 1)
        assert not (heard(elements) and rejected(elements))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(SAMPLES), max_size=8))
def test_what_is_emitted_can_be_recorded(lines: list[object]) -> None:
    """Nothing that a file holds makes an event that the log refuses: no poison pill (B21)."""
    elements = parse(file_of(HEADER, *[json.dumps(value).encode() for value in lines]))
    packed = pack(elements, "pi", lambda: "2026-01-02T03:04:05.000Z")
    assert packed.progress.counts.get("rejected", 0) == len(rejected(elements))
    assert packed.progress.counts.get("emitted", 0) == len(heard(elements))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(SAMPLES), max_size=8))
def test_any_lines_read_twice_give_equal_ids(lines: list[object]) -> None:
    content = file_of(HEADER, *[json.dumps(value).encode() for value in lines])
    assert ids(parse(content)) == ids(parse(content))


@given(st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner)))
def test_any_json_is_a_line(value: object) -> None:
    """E18: scalars, arrays, objects of no kind: one element at most, no exception."""
    elements = parse(file_of(HEADER, json.dumps(value).encode(), LAST))
    assert texts(elements)[-1:] == ["after"]


@given(st.binary(max_size=300).filter(lambda raw: b"\n" not in raw))
def test_any_bytes_are_a_line(raw: bytes) -> None:
    """E19: what cannot be decoded is rejected, and the next line is read."""
    elements = parse_lines([line(HEADER), raw, line(LAST)])
    assert texts(elements[2]) == ["after"]
    assert all(isinstance(element, Rejected) or not isinstance(element, Heard) for element in elements[1])


@given(st.binary(max_size=40).filter(lambda raw: b"\n" not in raw), st.integers(0, 400))
def test_any_splice_of_two_entries(noise: bytes, cut: int) -> None:
    """E20: however a line is torn and glued, the whole entry at its end is recovered."""
    torn = line(FIRST)[: cut % len(line(FIRST))] + noise.replace(b"}", b"").replace(b'"', b"")
    given_up = parse_lines([line(HEADER), torn + line(LAST)])[1]
    assert texts(given_up) == ["after"]
    assert len(rejected(given_up)) == (1 if torn.strip(b" \t\r\n") else 0)  # JSON's white space, and no other


def test_a_torn_entry_glued_to_a_whole_one() -> None:
    """B1: the fragment is rejected with its place, the whole entry read, and the ids are not mixed."""
    first, third = user("a1", None, "one"), user("a3", "a2", "three")
    torn = line(user("a2", "a1", "two"))[:40]
    content = file_of(HEADER, first, torn + line(third), user("a4", "a3", "four"))
    elements = parse(content)
    assert [(e.message_id, e.text) for e in events(elements)] == [("a1", "one"), ("a3", "three"), ("a4", "four")]
    (fragment,) = rejected(elements)
    assert fragment.sample == torn
    assert fragment.where == f"{FILE}: byte {content.index(torn)}"
    assert seen(elements) == 4


def test_two_whole_entries_on_one_line() -> None:
    """B23: both are read, and so is what follows."""
    spliced = line(user("a", None, "one")) + line(assistant("b", "a", "two"))
    elements = parse(file_of(HEADER, spliced, user("c", "b", "three")))
    assert texts(elements) == ["one", "two", "three"]
    assert rejected(elements) == []


def test_a_header_glued_to_an_entry() -> None:
    elements = parse(line(HEADER) + file_of(user("a", None, "one")))
    assert texts(elements) == ["one"]
    assert (warned(elements), rejected(elements)) == ([], [])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 100_000, "too-deep"),
        (b'{"type":"message","message":' * 30_000, "too-deep"),
        (b"[1, 2]", "not-an-object"),
        (b"null", "not-an-object"),
        (b'"words"', "not-an-object"),
        (b"not json", "invalid-json"),
        (b'{"type":"message"', "invalid-json"),
        (b"\x00\x00\x00", "invalid-json"),
        (b"{}", "invalid-entry"),
        (b'{"type":5}', "invalid-entry"),
        (b'{"type":"message","id":"x","message":null}', "invalid-entry"),
        (b'{"type":"message","id":"x","message":[1]}', "invalid-entry"),
        (b'{"type":"message","id":"x","message":{}}', "invalid-entry"),
        (b'{"type":"message","id":"x","message":{"role":""}}', "invalid-entry"),
    ],
)
def test_what_cannot_be_read_is_rejected_with_its_reason(raw: bytes, reason: str) -> None:
    """E18: reasons are of a closed set, the place and a sample are given, and the lines around are read."""
    elements = parse_lines([line(HEADER), line(FIRST), raw, line(LAST)])
    (element,) = elements[2]
    assert isinstance(element, Rejected)
    assert (element.reason, element.size_bytes) == (reason, len(raw))
    assert element.sample == raw[:MAX_SAMPLE_BYTES]
    assert texts(elements[3]) == ["after"]


def test_deep_arguments_cost_their_entry() -> None:
    """E18: whether the stack ends while decoding or while writing them out, it is one rejection or one event."""
    for depth in (100, 500, 900, 950, 980, 1_000, 5_000):
        raw = line(assistant("a", None, [call("look", "@")])).replace(b'"@"', b"[" * depth + b"]" * depth)
        elements = parse_lines([line(HEADER), raw, line(LAST)])
        assert len(elements[1]) == 1
        assert [element.reason for element in rejected(elements[1])] in ([], ["too-deep"])
        assert texts(elements[2]) == ["after"]


def test_what_no_json_number_can_hold_is_null() -> None:
    """E18: NaN and infinities in arguments are shown as JavaScript writes them; huge integers as they are."""
    raw = line(assistant("a", None, [call("look", "@")])).replace(b'"@"', b"[NaN,-Infinity,1e999," + b"9" * 30 + b"]")
    assert texts(parse(file_of(HEADER, raw))) == ["look [null,null,null," + "9" * 30 + "]"]


def test_of_equal_keys_the_last_wins() -> None:
    """E18: on whatever road the line is read."""
    raw = line(user("u", None, "first")).replace(b'"type": "message"', b'"type": "usage", "type": "message"')
    assert texts(parse(file_of(HEADER, raw))) == ["first"]
    twice = line(user("u", None, "x")).replace(b'"role": "user"', b'"role": "user", "role": "assistant"')
    assert [e.role for e in events(parse(file_of(HEADER, twice)))] == ["assistant"]


def test_a_line_above_the_limit_is_counted() -> None:
    """E19, B19: it was passed over in bounded memory; its place, size and beginning are told."""
    parser = PiParser(FILE)
    (element,) = parser.feed(LongLine(10, 40_000_010, 40_000_000, b'{"type"'))
    assert element == Rejected(f"{FILE}: byte 10", "line-too-long", "40000000 bytes", b'{"type"', 40_000_000)
    assert parser.feed(Line(40_000_010, 40_000_020, line(HEADER))) == []


def test_invalid_utf8_costs_its_characters() -> None:
    """E19: replacement within the line, never the line or the file."""
    raw = line(user("u", None, "a@b")).replace(b"@", b"\xff\xfe")
    elements = parse(file_of(HEADER, raw, LAST))
    assert texts(elements) == ["a\ufffd\ufffdb", "after"]


def test_carriage_returns_blank_lines_and_a_missing_last_newline() -> None:
    """E17."""
    content = b"\r\n  \n".join([line(HEADER), line(FIRST), line(LAST)])
    elements = parse(content)
    assert texts(elements) == ["before", "after"]
    assert (seen(elements), rejected(elements)) == (2, [])
