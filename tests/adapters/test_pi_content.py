"""Promise: whatever a message's content holds, its words come out, and never its bytes of images."""

import pytest

from adapters.sessions.drafts import MAX_CALL_CHARS
from tests.support.pi import (
    HEADER,
    assistant,
    blocks,
    call,
    entry,
    events,
    file_of,
    image,
    message,
    parse,
    rejected,
    seen,
    skipped,
    texts,
    tool_result,
    user,
)


def given(*entries: dict) -> list:
    return parse(file_of(HEADER, *entries))


@pytest.mark.parametrize(
    "content", [None, [], "", " \n\t ", 5, True, {}, [None], [5, []], blocks(" "), [{"type": "text"}]]
)
@pytest.mark.parametrize("role", ["user", "assistant", "custom", "lighthouse"])
def test_a_message_without_words_is_empty(role: str, content: object) -> None:
    """B15, E22: null, blank, or no content at all: no event, no error, one count."""
    elements = given(message(role, "x", None, content=content))
    assert (events(elements), rejected(elements), seen(elements)) == ([], [], 1)
    assert [outcome for outcome, _, _ in skipped(elements)] == ["empty"]


def test_messages_without_content_do_not_stop_what_follows() -> None:
    """B15: four empty ones, then a real one that knows no parent among them."""
    nothing = assistant("c", "b", None)
    del nothing["message"]["content"]
    custom = entry("custom_message", "d", "c", customType="note", content=None, display=True)
    elements = given(user("a", None, None), assistant("b", "a", None), nothing, custom, user("e", "d", "Is it on?"))
    assert texts(elements) == ["Is it on?"]
    assert (seen(elements), len(skipped(elements))) == (5, 4)


@pytest.mark.parametrize("content", [None, [], "", " ", blocks(""), [{"type": "text"}], [{"type": "text", "text": 5}]])
def test_a_tool_result_without_words_is_kept(content: object) -> None:
    """E22: the call has ended; the text is what there is of it."""
    (event,) = events(given(tool_result("r", None, content)))
    assert event.type == "tool_result"
    assert event.text.strip() == ""


@pytest.mark.parametrize("role", ["user", "assistant", "toolResult", "custom"])
def test_images_without_words_have_a_placeholder(role: str) -> None:
    """E23."""
    (event,) = events(given(message(role, "x", None, content=[image(), image("QUJD", "image/jpeg")])))
    assert event.text == "[image: image/png]\n[image: image/jpeg]"
    assert event.labels == ["image"]
    assert [(a.mime_type, a.size_bytes) for a in event.attachments] == [("image/png", 8), ("image/jpeg", 3)]


@pytest.mark.parametrize("broken", [{}, {"mimeType": 5, "data": 6}, {"mimeType": "x" * 300, "data": ""}])
def test_an_image_that_does_not_say_what_it_is(broken: dict) -> None:
    (event,) = events(given(user("x", None, [{"type": "image", **broken}])))
    assert event.text == "[image: unknown type]"
    assert [(a.mime_type, a.size_bytes) for a in event.attachments] == [(None, None)]


def test_three_megabytes_of_image_leave_a_label() -> None:
    """B19: the words come out, the bytes do not, and the next line is read."""
    content = [image("QmlyY2hCYXJr" * 262_144), {"type": "text", "text": "ok"}]
    elements = given(tool_result("r", None, content), user("u", "r", "next"))
    assert texts(elements) == ["ok", "next"]
    assert events(elements)[0].labels == ["image"]
    assert "QmlyY2hC" not in repr(events(elements))


def test_unknown_blocks_are_ignored_and_counted() -> None:
    """E26: the others of the entry are kept."""
    content = [{"type": "hologram", "text": "no"}, {"type": "text", "text": "yes"}, 7, {"type": ["text"]}]
    elements = given(user("u", None, content), assistant("a", "u", content))
    assert texts(elements) == ["yes", "yes"]
    assert skipped(elements) == [("empty", "unknown block", 3)] * 2


def test_reasoning_alone_is_no_message() -> None:
    """E21."""
    (event,) = events(given(assistant("a", None, [{"type": "thinking", "thinking": "An egret?"}])))
    assert (event.type, event.labels, event.text) == ("status", ["reasoning"], "An egret?")


@pytest.mark.parametrize("block", [{}, {"thinking": ""}, {"thinking": None, "redacted": True}, {"thinking": 5}])
def test_reasoning_without_words_is_empty(block: dict) -> None:
    assert skipped(given(assistant("a", None, [{"type": "thinking", **block}]))) == [("empty", "message/assistant", 1)]


def test_calls_alone_are_calls() -> None:
    """E21."""
    assert [e.type for e in events(given(assistant("a", None, [call("look", {}), call("look", {}, "t2")])))] == [
        "tool_call",
        "tool_call",
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"b": 1, "a": "é"}, 'look {"a":"é","b":1}'),
        ({}, "look {}"),
        (None, "look"),
        ("raw", 'look "raw"'),
        ([1, None], "look [1,null]"),
        (10**30, "look " + str(10**30)),
        (0.5, "look 0.5"),
    ],
)
def test_arguments_of_any_kind_are_shown(arguments: object, text: str) -> None:
    """E27: also when they are no object; keys sorted, no spaces."""
    assert texts(given(assistant("a", None, [call("look", arguments)]))) == [text]


@pytest.mark.parametrize("block", [{}, {"name": "", "id": 5}, {"name": ["x"], "id": "", "arguments": None}])
def test_a_call_without_a_name_is_a_call(block: dict) -> None:
    """E27."""
    (event,) = events(given(assistant("a", None, [{"type": "toolCall", **block}])))
    assert (event.type, event.text, event.tool_name, event.tool_call_id) == ("tool_call", "unnamed", None, None)


def test_long_arguments_are_cut_and_labelled() -> None:
    (event,) = events(given(assistant("a", None, [call("write", {"content": "x" * 100_000})])))
    assert (len(event.text), event.labels) == (MAX_CALL_CHARS, ["truncated"])


def test_a_result_without_a_call_and_a_call_id_twice_are_events() -> None:
    """E27."""
    lines = [tool_result("r1", None, "a", toolCallId="nobody"), tool_result("r2", "r1", "b", toolCallId="nobody")]
    assert texts(given(*lines)) == ["a", "b"]


@pytest.mark.parametrize("field", ["toolCallId", "toolName", "isError"])
@pytest.mark.parametrize("value", [None, 5, "", [], "x" * 300])
def test_members_of_a_result_may_be_anything(field: str, value: object) -> None:
    elements = given(tool_result("r", None, "ok", **{field: value}))
    assert texts(elements) == ["ok"]
    assert rejected(elements) == []


def test_raw_line_separators_and_markup_stay() -> None:
    """B20, E25, E32: text is passed on as it is; what to remove is for the normaliser to say."""
    words = "a\u2028b\u2029c\u0085d List<int> <div> \x1b[31mred\x1b[0m \u202ertl\u202c e\u0301"
    assert texts(given(user("u", None, words))) == [words]


def test_a_lone_surrogate_is_replaced() -> None:
    """B21: the event is delivered, a proper pair beside it is kept."""
    raw = rb'{"type":"message","id":"u","parentId":null,"timestamp":"t","message":{"role":"user","content":'
    elements = parse(file_of(HEADER, raw + rb'"x\udcb2y \ud83d\udc3e"}}'))
    assert texts(elements) == ["x\ufffdy \U0001f43e"]


def test_colony_signals_are_passed_on_as_they_are() -> None:
    """B39, E39: whether a text is a signal, a mention or a template is for the normaliser to say."""
    text = "[COLONY_SIGNAL:FAILED] [${colonyIdentity(colony)}]"
    (event,) = events(given(tool_result("r", None, text, toolName="ant_colony")))
    assert (event.type, event.text, event.tool_name) == ("tool_result", text, "ant_colony")
