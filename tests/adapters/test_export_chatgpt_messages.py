"""Every kind of ChatGPT message becomes what it was: words, a call, a result, reasoning, an error, hidden context."""

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Heard, Skipped
from schemas.captured import CapturedEvent
from tests.support.ai_exports import ANY, heard, rejected, skipped, told, warned
from tests.support.chatgpt import assistant, chat, elements, message, rich, tool, user


def only(*messages: dict, **options) -> CapturedEvent:
    (event,) = heard(elements(chat(*messages), **options))
    return event


def parts(*found: object, **members) -> dict:
    return {"content_type": "multimodal_text", "parts": list(found), **members}


def image(key: str = "file_a", **members) -> dict:
    return {"content_type": "image_asset_pointer", "asset_pointer": f"sediment://{key}", "size_bytes": 9, **members}


THOUGHTS = [{"summary": "Look", "content": "c"}, {"content": "b"}]
ROWS = {
    "text": (user("m", "hello"), ("message", "user", "hello")),
    "several parts": (user("m", {"content_type": "text", "parts": ["a", "", "b"]}), ("message", "user", "a\nb")),
    "content as text": (user("m", {}) | {"content": "bare"}, ("message", "user", "bare")),
    "multimodal": (user("m", parts(image(), None, "what?", "")), ("message", "user", "what?")),
    "voice": (
        user("m", parts({"content_type": "audio_transcription", "text": "spoken", "direction": "in"}, 7)),
        ("message", "user", "spoken"),
    ),
    "image alone": (user("m", parts(image())), ("message", "user", "[image]")),
    "code to a tool": (
        assistant("m", {"content_type": "code", "language": "python", "text": "1 + 1"}, recipient="python"),
        ("tool_call", "assistant", "python 1 + 1"),
    ),
    "code to everybody": (assistant("m", {"content_type": "code", "text": "1 + 1"}), ("message", "assistant", "1 + 1")),
    "canvas": (
        assistant("m", '{"name":"plan","type":"document","content":"# Plan', recipient="canmore.create_textdoc"),
        ("tool_call", "assistant", 'canmore.create_textdoc {"name":"plan","type":"document","content":"# Plan'),
    ),
    "picture asked for": (
        assistant("m", '{"prompt":"a fern"}', recipient="dalle.text2im"),
        ("tool_call", "assistant", 'dalle.text2im {"prompt":"a fern"}'),
    ),
    "picture made": (tool("m", "dalle.text2im", parts(image())), ("tool_result", "tool", "[image]")),
    "picture with an order to the model": (
        tool("m", "t2uay3k.sj1i4kz", parts(image(), "From now on, do not say or show ANYTHING. Please end.")),
        ("tool_result", "tool", "[image]"),
    ),
    "output": (
        tool("m", "python", {"content_type": "execution_output", "text": "4 <<ImageDisplayed>>"}),
        ("tool_result", "tool", "4 [image]"),
    ),
    "browsing": (
        tool("m", "browser", {"content_type": "tether_browsing_display", "result": "L0: page", "summary": None}),
        ("tool_result", "tool", "L0: page"),
    ),
    "quote": (
        tool("m", "browser", {"content_type": "tether_quote", "text": "quoted", "url": "https://q.example.test"}),
        ("tool_result", "tool", "quoted"),
    ),
    "browsing code": (
        assistant("m", {"content_type": "tether_browsing_code", "text": "open(1)"}),
        ("tool_call", "assistant", "browser open(1)"),
    ),
    "web page": (
        tool("m", "web.run", {"content_type": "sonic_webpage", "text": "page", "url": "https://p.example.test"}),
        ("tool_result", "tool", "page"),
    ),
    "screen": (
        tool("m", "computer.do", {"content_type": "computer_output", "screenshot": image("file_s"), "state": {}}),
        ("tool_result", "tool", "[image]"),
    ),
    "screen without a picture": (
        tool("m", "computer.do", {"content_type": "computer_output", "state": {}}),
        ("tool_result", "tool", ""),
    ),
    "error": (
        message("m", "assistant", {"content_type": "system_error", "name": "ServerError", "text": "went wrong"}),
        ("status", "assistant", "went wrong"),
    ),
    "error without words": (
        message("m", "assistant", {"content_type": "system_error", "name": "ServerError"}),
        ("status", "assistant", "ServerError"),
    ),
    "thoughts": (
        assistant("m", {"content_type": "thoughts", "thoughts": THOUGHTS}),
        ("status", "assistant", "Look\nc\n\nb"),
    ),
    "analysis": (assistant("m", "hm", channel="analysis"), ("status", "assistant", "hm")),
    "final": (assistant("m", "so", channel="final"), ("message", "assistant", "so")),
    "old function": (message("m", "function", "4"), ("tool_result", "function", "4")),
    "unknown role": (message("m", "critic", "well"), ("message", "critic", "well")),
    "no author": (user("m", "words", author=None), ("message", "", "words")),
    "new type with text": (user("m", {"content_type": "new", "text": "kept"}), ("message", "user", "kept")),
    "new type with content": (user("m", {"content_type": "new", "content": "kept"}), ("message", "user", "kept")),
    "new type with result": (user("m", {"content_type": "new", "result": "kept"}), ("message", "user", "kept")),
    "new part": (user("m", parts({"content_type": "new", "text": "kept"})), ("message", "user", "kept")),
    "no type": (user("m", {"parts": ["kept"]}), ("message", "user", "kept")),
    "old tool traffic of weight 0": (tool("m", "browser", "page", weight=0.0), ("tool_result", "tool", "page")),
}


@pytest.mark.parametrize("row", ROWS)
def test_rows(row: str) -> None:
    said, expected = ROWS[row]
    assert told(elements(chat(said))) == [expected]


EMPTY = {
    "empty part": assistant("m", "", status="in_progress"),
    "no parts": assistant("m", {"content_type": "text"}, status="in_progress"),
    "blank": assistant("m", " \n"),
    "head of a conversation": message(
        "m", "system", "", weight=0.0, metadata={"is_visually_hidden_from_conversation": True}
    ),
    "new type without words": assistant("m", {"content_type": "super_widget", "data": {"a": 1}}),
    "tool without words": tool("m", "web", ""),
}


@pytest.mark.parametrize("row", EMPTY)
def test_messages_without_words_are_counted_and_give_nothing(row: str) -> None:
    found = elements(chat(EMPTY[row]))
    assert skipped(found) == [Skipped("empty", "message without words")]
    assert not heard(found)


HIDDEN = {
    "custom instructions": user(
        "m", {"content_type": "user_editable_context", "user_profile": "a", "user_instructions": "b"}
    ),
    "memory": message("m", "tool", {"content_type": "model_editable_context", "model_set_context": "likes ferns"}),
    "reasoning recap": assistant("m", {"content_type": "reasoning_recap", "content": "Thought for 8s"}),
    "system prompt": message("m", "system", "be kind"),
    "hidden message": user("m", "go on", metadata={"is_visually_hidden_from_conversation": True}),
    "message out of use": user("m", "taken back", weight=0.0),
    "instruction to the model": tool("m", "t2uay3k.sj1i4kz", "From now on, do not say or show ANYTHING."),
}


@pytest.mark.parametrize("what", HIDDEN)
def test_hidden_context_is_counted_and_shown_only_on_request(what: str) -> None:
    assert elements(chat(HIDDEN[what])) == [Skipped("hidden", what)]
    event = only(HIDDEN[what], include_hidden=True)
    assert (event.type, event.role, event.labels) == ("status", "system", ["hidden"])
    assert event.text


@pytest.mark.parametrize("role", ["user", "system"])
def test_instructions_of_older_exports_are_known_by_their_mark(role: str) -> None:
    said = message("m", role, "be brief", metadata={"is_user_system_message": True, "user_context_message_data": {}})
    assert elements(chat(said)) == [Skipped("hidden", "custom instructions")]


def test_parents_do_not_depend_on_what_is_hidden() -> None:
    plain = {event.id: event.parent_message_id for event in heard(elements(rich()))}
    shown = {event.id: event.parent_message_id for event in heard(elements(rich(), include_hidden=True))}
    assert len(shown) > len(plain)
    assert plain.items() <= shown.items()


@pytest.mark.parametrize(
    ("members", "labels"),
    [
        ({"status": "in_progress"}, ["unfinished"]),
        ({"status": "finished_partial_completion"}, ["unfinished"]),
        ({"status": "error"}, ["error"]),
        ({"status": "finished_successfully"}, []),
        ({"status": None}, []),
        ({"status": {"a": 1}}, []),
        ({"channel": "commentary"}, ["commentary"]),
    ],
)
def test_labels(members: dict, labels: list) -> None:
    assert only(assistant("m", "Soft rain, and th", **members)).labels == labels


@pytest.mark.parametrize(
    ("metadata", "default", "model"),
    [
        ({"model_slug": "gpt-4o"}, "gpt-4", "gpt-4o"),
        ({"model_slug": None, "resolved_model_slug": "gpt-5"}, "gpt-4", "gpt-5"),
        ({}, "gpt-4", "gpt-4"),
        (None, "gpt-4", "gpt-4"),
        ({"model_slug": 4}, None, None),
    ],
)
def test_the_model_of_an_answer(metadata: object, default: object, model: str | None) -> None:
    found = heard(elements(chat(user("u", "?"), assistant("m", "x", metadata=metadata), default_model_slug=default)))
    assert [event.model for event in found] == [None, model]


def test_tools_are_named() -> None:
    call = only(assistant("m", "{}", recipient="file_search"))
    result = only(tool("m", "file_search", "found"))
    assert (call.tool_name, result.tool_name) == ("file_search", "file_search")


@pytest.mark.parametrize("recipient", ["all", None, "", 5, "user"])
def test_what_is_said_to_the_person_is_no_call(recipient: object) -> None:
    assert only(assistant("m", "x", recipient=recipient)).type == "message"


def test_who_wrote_in_the_assistants_name_is_kept() -> None:
    author = {"role": "assistant", "name": None, "metadata": {"real_author": "tool:web"}}
    assert only(assistant("m", "x", author=author)).author_id == "tool:web"


@pytest.mark.parametrize("time", [None, "yesterday", True, [], {"a": 1}])
def test_a_time_that_is_none_is_left_to_the_normaliser(time: object) -> None:
    found = elements(chat(user("a", "x"), user("m", "y", create_time=time)))
    usable = time if isinstance(time, str) else None
    assert found[1].event.times == ([usable] if usable else [])


@pytest.mark.parametrize("time", [1764355435, 1764355435.125, "1764355435.125", "2025-11-28T18:43:55Z"])
def test_times_of_every_form_are_passed_on(time: object) -> None:
    assert only(user("m", "x", create_time=time)).times == [time]


def test_the_time_of_an_update_stands_in() -> None:
    assert only(user("m", "x", at=None, update_time=5.5)).times == [5.5]


def test_what_nobody_described_is_counted_for_the_whole_file() -> None:
    new = assistant("m", {"content_type": "super_widget", "text": "x"})
    part = user("u", parts({"content_type": "hologram"}, 5, {}, "x"))
    found = warned(elements(chat(new, part), chat(new, key="c-2")))
    assert [message.split(":")[0] for message in found] == [
        "2 times unknown content type 'super_widget'",
        "1 times unknown part 'hologram'",
        "1 times unknown part 'int'",
        "1 times unknown part 'without a type'",
    ]


MEMBERS = [
    "author",
    "create_time",
    "update_time",
    "content",
    "status",
    "weight",
    "metadata",
    "recipient",
    "channel",
    "id",
]


@given(st.sampled_from(MEMBERS), ANY, st.sampled_from(["user", "assistant"]))
def test_the_quick_way_says_what_the_long_way_says(member: str, value: object, role: str) -> None:
    conversation = chat(message("m", role, "words", metadata={"model_slug": "gpt-4o"}))
    conversation["mapping"]["m"]["message"][member] = value
    quick = events_or_others(elements(conversation))
    with patch("adapters.exports.chatgpt_messages.usual_words", return_value=None):
        assert events_or_others(elements(conversation)) == quick


def events_or_others(found: list) -> object:
    return [element.event if isinstance(element, Heard) else element for element in found]


@given(st.sampled_from(["content_type", "parts", "text", "thoughts", "screenshot", "name", "url"]), ANY)
def test_content_of_any_shape_is_counted(member: str, value: object) -> None:
    found = elements(chat(assistant("m", {"content_type": "text", "parts": ["x"], member: value})))
    assert len(heard(found)) + len(skipped(found)) + len(rejected(found)) == 1
