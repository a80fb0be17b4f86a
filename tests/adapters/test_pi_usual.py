"""Promise: the fast road for usual entries and the general one give the same for every line."""

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.contract import Element, Heard
from adapters.sessions.pi_usual import decode_usual, usual_drafts
from tests.support.pi import HEADER, assistant, call, entry, file_of, image, parse, tool_result, user

texts = st.sampled_from(["", " ", "words", "a\nb", "\u00a0", "x" * 70_000])
thinking = st.builds(lambda t: {"type": "thinking", "thinking": t}, texts)
text = st.builds(lambda t: {"type": "text", "text": t}, texts)
calls = st.builds(call, st.sampled_from(["bash", "", "n" * 250]), st.sampled_from([{}, None, {"b": 1, "a": []}, "raw"]))
other = st.sampled_from([image(), {"type": "new"}, "bare", None])
contents = st.lists(text | thinking | calls | other, max_size=4) | st.lists(text, min_size=1, max_size=1) | texts
stops = st.sampled_from(["stop", "toolUse", "length", "error", "aborted", "pending", None])


@st.composite
def entries(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Make a few messages, most of them usual, on one chain."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 5))):
        name, parent = f"e{number}", draw(st.sampled_from([f"e{number - 1}", None, "e0", "gone"]))
        content = draw(contents)
        made.append(
            draw(
                st.sampled_from(
                    [
                        user(name, parent, copy.deepcopy(content)),
                        assistant(name, parent, copy.deepcopy(content), stopReason=draw(stops)),
                        tool_result(name, parent, copy.deepcopy(content), isError=draw(st.booleans())),
                        entry("label", name, parent, targetId="x"),
                    ]
                )
            )
        )
    return made


def plain(elements: list[Element]) -> list[object]:
    """Make elements comparable: threads are compared by what they hold."""
    return [
        (msgspec.structs.asdict(e.thread), msgspec.structs.asdict(e.event), e.nearby) if isinstance(e, Heard) else e
        for e in elements
    ]


def on_the_general_road(lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    with monkeypatch.context() as patch:
        patch.setattr("adapters.sessions.pi_parser.PiParser._usual", lambda self, raw: None)
        return plain(parse(file_of(HEADER, *lines)))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(entries())
def test_both_roads_agree(monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]]) -> None:
    assert plain(parse(file_of(HEADER, *lines))) == on_the_general_road(lines, monkeypatch)


USUAL = [
    user("u", None, "hi"),
    user("u", "p", "hi"),
    assistant("a", "u", "hi"),
    assistant("a", "u", [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "x"}, call("bash", {})]),
    assistant("a", "u", [call("bash", {"x": 1}), call("bash", {}, "t2")], stopReason="toolUse"),
    tool_result("r", "a", "out"),
    tool_result("r", "a", ""),
    tool_result("r", "a", "out", isError=True, details={"diff": "x"}),
]


@pytest.mark.parametrize("value", USUAL)
def test_the_usual_takes_the_fast_road(value: dict) -> None:
    """Else the fast road would be there for nothing."""
    assert usual_drafts(decode_usual(json.dumps(value).encode()))


@pytest.mark.parametrize(
    "change",
    [
        {"id": None},
        {"id": ""},
        {"id": "x" * 201},
        {"parentId": 5},
        {"timestamp": 1767323046000},
        {"timestamp": None},
        {"account": "ana"},
        {"provider_account": "ana"},
        {"kind": "record"},
        {"type": "custom_message"},
        {"message": None},
    ],
)
def test_anything_unusual_takes_the_general_road(change: dict) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_usual(json.dumps({**USUAL[0], **change}).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"role": "custom"},
        {"timestamp": "2026-01-02"},
        {"timestamp": 10**30},
        {"stopReason": "error"},
        {"errorMessage": "x"},
        {"accountId": "ana"},
        {"content": [image()]},
        {"content": None},
        {"model": ""},
    ],
)
def test_anything_unusual_in_the_message_takes_the_general_road(change: dict) -> None:
    value = assistant("a", "u", "hi")
    value["message"] |= change
    with pytest.raises(msgspec.DecodeError):
        decode_usual(json.dumps(value).encode())
