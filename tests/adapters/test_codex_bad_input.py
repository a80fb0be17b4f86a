"""Promise: whatever a line of a Codex rollout holds, it costs at most itself, is counted, and never raises."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.contract import MAX_SAMPLE_BYTES, Rejected
from adapters.files.lines import Line, LongLine
from adapters.sessions.codex_parser import CodexParser
from ingest.packing import pack
from tests.support.codex import (
    FILE,
    answered,
    answered_item,
    asked,
    asked_event,
    completed,
    event,
    item,
    meta,
    parse,
    row,
    turn,
)
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
)

FIRST, LAST = asked("before"), asked("after", at=59)
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
SAMPLES = [
    asked([{"type": "input_text", "text": "hello"}, IMAGE]),
    asked("<user_shell_command>\n<command>\nls\n</command>\n<result>x</result>\n</user_shell_command>"),
    asked_event("hello", images=["data:image/png;base64,AAAA"], local_images=["/x.png"], kind="plain"),
    answered("hi"),
    answered_item("hi"),
    completed("Reasoning", summary_text=["x"], raw_content=["y"]),
    completed("Plan", text="x"),
    item("reasoning", summary=[{"type": "summary_text", "text": "x"}], content=[{"type": "reasoning_text"}]),
    item("function_call", name="shell", arguments='{"a":1}', call_id="c1"),
    item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
    item("local_shell_call", action={"command": ["ls"]}, call_id="c3"),
    item("function_call_output", call_id="c1", output={"content": [IMAGE], "success": True}),
    item("custom_tool_call_output", call_id="c2", output='{"output":"x","metadata":{"exit_code":1}}'),
    item("agent_message", author="/root", content=[{"type": "input_text", "text": "x"}]),
    event("agent_reasoning", text="x"),
    event("turn_aborted", reason="interrupted", turn_id="x"),
    event("thread_rolled_back", num_turns=1),
    event("task_started", turn_id="x"),
    event("token_count", info={"total": 1}),
    row("compacted", {"message": "x", "replacement_history": []}),
    row("inter_agent_communication", {"author": "x", "content": "y"}),
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "bare"}]},
]
HEADERS = [
    meta("other"),
    meta("other", source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}, forked_from_id="q"),
    {"id": "old", "timestamp": "2025-05-07T17:24:21.000Z", "instructions": None},
]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(SAMPLES))
def test_any_member_may_be_missing_or_of_any_type(value: object) -> None:
    """A broken line never costs its neighbours anything: what they give is what they give without it."""
    raw = json.dumps(value).encode()
    _, before, broken, after = feed_each(CodexParser(FILE), [line(meta()), line(FIRST), raw, line(LAST)])
    assert (texts(before), texts(after)) == (["before"], ["after"])
    assert seen(broken) >= 1
    assert not (heard(broken) and rejected(broken))
    assert all("byte" in element.where for element in rejected(broken))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(mutated([*SAMPLES, *HEADERS, turn("t"), meta()]), max_size=8), st.booleans())
def test_what_is_emitted_can_be_recorded_and_is_the_same_again(lines: list[object], hidden: bool) -> None:
    """Nothing that a file holds makes an event that the log refuses (B21), and reading again gives the same."""
    content = file_of(*[json.dumps(value).encode() for value in lines])
    elements = parse(content, include_hidden=hidden)
    packed = pack(elements, "codex", lambda: "2026-01-02T03:04:05.000Z")
    assert packed.progress.counts.get("rejected", 0) == len(rejected(elements))
    again = parse(content, include_hidden=hidden)
    assert (events(elements), skipped(elements), rejected(elements)) == (events(again), skipped(again), rejected(again))
    assert len(set(ids(elements))) == len(ids(elements))


@settings(max_examples=100)
@given(st.lists(st.binary(max_size=60), max_size=5))
def test_any_bytes_are_counted(lines: list[bytes]) -> None:
    for raw, elements in zip(lines, feed_each(CodexParser(FILE), lines), strict=True):
        assert seen(elements) >= 1, raw


@given(st.integers(1, 100))
def test_a_torn_line_before_a_whole_one(cut: int) -> None:
    """B23, E20: the whole line is told, the stub is one rejected element."""
    torn = line(asked("torn"))[:cut]
    _, glued, after = feed_each(CodexParser(FILE), [line(meta()), torn + line(FIRST), line(LAST)])
    assert (texts(glued), [element.reason for element in rejected(glued)]) == (["before"], ["invalid-json"])
    assert texts(after) == ["after"]


def test_two_whole_lines_without_a_newline_between() -> None:
    elements = parse(line(meta()) + line(FIRST) + line(LAST) + b"\n")
    assert (texts(elements), rejected(elements)) == (["before", "after"], [])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 100_000, "too-deep"),
        (b"[1, 2]", "not-an-object"),
        (b"null", "not-an-object"),
        (b"not json", "invalid-json"),
        (b'{"type":"event_msg"', "invalid-json"),
        (b"{}", "invalid-entry"),
        (b'{"type":5}', "invalid-entry"),
        (b'{"type":"event_msg","payload":null}', "invalid-entry"),
        (b'{"type":"event_msg","payload":{}}', "invalid-entry"),
        (b'{"type":"response_item","payload":[1]}', "invalid-entry"),
        (b'{"type":"response_item","payload":{}}', "invalid-entry"),
        (b'{"type":"response_item","payload":{"type":"message"}}', "invalid-entry"),
        (b'{"type":"event_msg","payload":{"type":"item_completed"}}', "invalid-entry"),
        (b'{"type":"compacted"}', "invalid-entry"),
    ],
)
def test_what_cannot_be_read_is_rejected_with_its_reason(raw: bytes, reason: str) -> None:
    """E18: reasons are of a closed set, the place and a sample are given, and the lines around are read."""
    elements = feed_each(CodexParser(FILE), [line(meta()), raw, line(LAST)])
    (element,) = elements[1]
    assert isinstance(element, Rejected)
    assert (element.reason, element.size_bytes, element.sample) == (reason, len(raw), raw[:MAX_SAMPLE_BYTES])
    assert texts(elements[2]) == ["after"]


@pytest.mark.parametrize("depth", [100, 900, 950, 980, 1_000, 5_000])
def test_deep_arguments_cost_their_line(depth: int) -> None:
    """E18: as JSON, and as JSON within a text, where a text that is too deep is shown as it stands."""
    deep = "[" * depth + "]" * depth
    for call in (
        item("function_call", name="look", arguments=deep, call_id="c"),
        item("local_shell_call", action="@", call_id="c"),
    ):
        raw = line(call).replace(b'"@"', deep.encode())
        _, given, after = feed_each(CodexParser(FILE), [line(meta()), raw, line(LAST)])
        assert len(given) == 1
        assert [element.reason for element in rejected(given)] in ([], ["too-deep"])
        assert texts(after) == ["after"]


def test_a_line_above_the_limit_is_counted() -> None:
    """E19, B19."""
    parser = CodexParser(FILE)
    (element,) = parser.feed(LongLine(10, 40_000_010, 40_000_000, b'{"type"'))
    assert element == Rejected(f"{FILE}: byte 10", "line-too-long", "40000000 bytes", b'{"type"', 40_000_000)
    assert parser.feed(Line(40_000_010, 40_000_020, line(meta()))) == []


def test_lone_surrogates_cost_their_characters() -> None:
    """B21: in words, and in arguments that are JSON within a text."""
    lone = line(asked("x@y")).replace(b"@", b"\\udcb2")
    call = line(item("function_call", name="look", arguments='{"a":"@"}', call_id="c")).replace(b"@", b"\\\\udcb2")
    assert texts(parse(file_of(meta(), lone, call))) == ["x\ufffdy", 'look {"a":"\ufffd"}']
