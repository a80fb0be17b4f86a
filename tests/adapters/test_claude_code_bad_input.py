"""Promise: whatever a line of a Claude Code session holds, it costs at most itself, is counted, and never raises."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.contract import MAX_SAMPLE_BYTES, Rejected
from adapters.files.lines import Line, LongLine
from adapters.sessions.claude_code_parser import ClaudeCodeParser
from ingest.packing import pack
from tests.support.claude_code import FILE, SESSION, assistant, call, entry, image, parse, result, said, user
from tests.support.sessions import (
    events,
    feed_each,
    file_of,
    heard,
    ids,
    line,
    mutated,
    rejected,
    seen,
    skipped,
    texts,
    warned,
)

FIRST, LAST = user("first", None, "before"), user("last", "first", "after", at=59)
SAMPLES = [
    user("u1", "first", "hello"),
    user("u2", "first", [said("hello"), image()]),
    user("u3", "a1", [result([said("ok"), image()], is_error=True)], toolUseResult={"stdout": "ok"}),
    user("u4", "first", "hook", isMeta=True, origin={"kind": "hook"}),
    user("u5", "first", "It goes on.", isCompactSummary=True),
    user("u6", "first", "<command-name>/review</command-name><command-args>x</command-args>"),
    assistant("a1", "first", {"type": "thinking", "thinking": "t"}, "x", call("Bash", {"command": "ls"})),
    assistant("a2", "first", "API Error", model="<synthetic>", isApiErrorMessage=True, error="rate_limit"),
    entry("attachment", "q1", "first", attachment={"type": "queued_command", "prompt": [said("and")], "origin": None}),
    entry("system", "s1", "first", subtype="api_error", content=None, error={"status": 529, "error": {"message": "x"}}),
    entry("system", "s2", None, subtype="compact_boundary", logicalParentUuid="x", content="Compacted"),
    entry("system", "s3", "first", subtype="local_command", content="<command-name>/clear</command-name>"),
    {"type": "summary", "summary": "t", "leafUuid": "x"},
    {"type": "custom-title", "customTitle": "t", "sessionId": SESSION},
    {**user("k1", None, "side"), "isSidechain": True, "agentId": "b2"},
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(SAMPLES))
def test_any_member_may_be_missing_or_of_any_type(value: object) -> None:
    """A broken line never costs its neighbours anything: what they give is what they give without it."""
    raw = json.dumps(value).encode()
    before, broken, after = feed_each(ClaudeCodeParser(FILE), [line(FIRST), raw, line(LAST)])
    assert (texts(before), texts(after)) == (["before"], ["after"])
    assert ids(after) == ids(parse(file_of(FIRST, LAST)))[1:]
    assert seen(broken) >= 1
    assert not (heard(broken) and rejected(broken))
    assert all("byte" in element.where for element in rejected(broken))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated(SAMPLES), max_size=8), st.booleans())
def test_what_is_emitted_can_be_recorded_and_is_the_same_again(lines: list[object], hidden: bool) -> None:
    """Nothing that a file holds makes an event that the log refuses (B21), and reading again gives the same."""
    content = file_of(*[json.dumps(value).encode() for value in lines])
    elements = parse(content, include_hidden=hidden)
    packed = pack(elements, "claude-code", lambda: "2026-01-02T03:04:05.000Z")
    assert packed.progress.counts.get("rejected", 0) == len(rejected(elements))
    again = parse(content, include_hidden=hidden)
    assert (events(elements), skipped(elements), rejected(elements)) == (events(again), skipped(again), rejected(again))
    assert len(set(ids(elements))) == len(ids(elements))


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=60), max_size=5))
def test_any_bytes_are_counted(lines: list[bytes]) -> None:
    for raw, elements in zip(lines, feed_each(ClaudeCodeParser(FILE), lines), strict=True):
        assert seen(elements) >= 1, raw


@given(st.integers(1, 400), st.integers(0, 400))
def test_a_torn_line_before_a_whole_one(cut: int, keep: int) -> None:
    """B23, E20: the whole line is told, the stub is one rejected element, nothing is mixed."""
    torn = line(user("t", None, "torn"))[: min(cut, len(line(user("t", None, "torn"))) - 1)]
    _, glued, after = feed_each(ClaudeCodeParser(FILE), [line(FIRST), torn + line(SAMPLES[keep % 3]), line(LAST)])
    assert ids(glued) == ids(feed_each(ClaudeCodeParser(FILE), [line(FIRST), line(SAMPLES[keep % 3])])[1])
    assert [element.reason for element in rejected(glued)] == ["invalid-json"]
    assert texts(after) == ["after"]


def test_two_whole_lines_without_a_newline_between() -> None:
    elements = parse(line(FIRST) + line(LAST) + b"\n")
    assert (texts(elements), rejected(elements), warned(elements)) == (["before", "after"], [], [])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 100_000, "too-deep"),
        (b"[1, 2]", "not-an-object"),
        (b"null", "not-an-object"),
        (b"not json", "invalid-json"),
        (b'{"type":"user"', "invalid-json"),
        (b"\x00\x00\x00", "invalid-json"),
        (b"{}", "invalid-entry"),
        (b'{"type":5}', "invalid-entry"),
        (b'{"type":"user","message":null}', "invalid-entry"),
        (b'{"type":"assistant","message":[1]}', "invalid-entry"),
    ],
)
def test_what_cannot_be_read_is_rejected_with_its_reason(raw: bytes, reason: str) -> None:
    """E18: reasons are of a closed set, the place and a sample are given, and the lines around are read."""
    elements = feed_each(ClaudeCodeParser(FILE), [line(FIRST), raw, line(LAST)])
    (element,) = elements[1]
    assert isinstance(element, Rejected)
    assert (element.reason, element.size_bytes, element.sample) == (reason, len(raw), raw[:MAX_SAMPLE_BYTES])
    assert texts(elements[2]) == ["after"]


def test_deep_arguments_cost_their_line() -> None:
    """E18: whether the stack ends while decoding or while writing them out."""
    for depth in (100, 900, 950, 980, 1_000, 5_000):
        raw = line(assistant("a", None, call("look", "@"))).replace(b'"@"', b"[" * depth + b"]" * depth)
        elements = feed_each(ClaudeCodeParser(FILE), [raw, line(LAST)])
        assert len(elements[0]) == 1
        assert [element.reason for element in rejected(elements[0])] in ([], ["too-deep"])
        assert texts(elements[1]) == ["after"]


def test_a_line_above_the_limit_is_counted() -> None:
    """E19, B19."""
    parser = ClaudeCodeParser(FILE)
    (element,) = parser.feed(LongLine(10, 40_000_010, 40_000_000, b'{"type"'))
    assert element == Rejected(f"{FILE}: byte 10", "line-too-long", "40000000 bytes", b'{"type"', 40_000_000)
    assert texts(parser.feed(Line(40_000_010, 40_000_020, line(FIRST)))) == ["before"]


def test_lone_surrogates_and_invalid_utf8_cost_their_characters() -> None:
    """B21, E19."""
    lone = line(user("a", None, "x@y")).replace(b"@", b"\\udcb2")
    broken = line(user("b", "a", "x@y")).replace(b"@", b"\xff")
    assert texts(parse(file_of(lone, broken))) == ["x\ufffdy", "x\ufffdy"]


def test_many_reminders_take_linear_time() -> None:
    """A text of a hundred thousand reminders is read like any other of its length."""
    text = "<system-reminder>x</system-reminder>\n" * 100_000
    assert texts(parse(file_of(user("a", None, text + "Go on")))) == ["Go on"]
    assert texts(parse(file_of(user("a", None, "Go on\n" + text)))) == ["Go on"]
    assert len(events(parse(file_of(user("a", None, "<system-reminder>" * 100_000 + "</system-reminder>"))))) <= 1


def test_a_prompt_history_is_no_session() -> None:
    """Its lines are counted should it be read as one."""
    history = {"display": "go on", "pastedContents": {}, "timestamp": 1767323046000, "project": "/w"}
    assert skipped(parse(file_of(history))) == [("empty", "prompt history", 1)]
