"""Every block of a Claude message becomes what it was, and only what somebody said is a message's text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Skipped
from schemas.captured import CapturedEvent
from schemas.event import Citation
from tests.support.ai_exports import ANY, assert_conserved, heard, ids, skipped, told, warned
from tests.support.claude import assistant, chat, elements, human, iso, message, rich, words

NOTICE = "```\nThis block is not supported on your current device yet.\n```"


def answer(*blocks: object, **members) -> dict:
    return chat(assistant("m", list(blocks), at=9, **members))


def only(conversation: dict, **options) -> CapturedEvent:
    (event,) = heard(elements(conversation, **options))
    return event


def test_texts_are_joined_with_a_blank_line() -> None:
    assert told(elements(answer(words("one"), words("two")))) == [("message", "assistant", "one\n\ntwo")]


def test_blocks_win_over_the_flattened_text() -> None:
    flat = f"must look it up\n\n{NOTICE}\n\nIt is 4."
    assert only(answer(words("It is 4."), text=flat)).text == "It is 4."


CONTENTS = {
    "missing": (None, "flattened copy"),
    "empty": ([], "flattened copy"),
    "a text": ("plain", "plain"),
    "a list in a text": (json.dumps([words("inner")]), "inner"),
    "no list in a text": ("[{broken", "[{broken"),
    "one block": (words("alone"), "alone"),
    "texts as blocks": (["bare"], "bare"),
    "machinery alone": ([{"type": "token_budget"}], "flattened copy"),
    "a new type alone": ([{"type": "new"}], "flattened copy"),
    "a number": (5, "flattened copy"),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_content_of_every_form(kind: str) -> None:
    """The flattened copy speaks only where no block does."""
    content, text = CONTENTS[kind]
    said = assistant("m", [], text="flattened copy")
    said["content"] = content
    assert only(chat(said)).text == text


def test_missing_content_falls_back_to_the_text() -> None:
    said = human("m", "said")
    del said["content"]
    assert only(chat(said)).text == "said"


def test_notices_in_a_flattened_copy_are_nobodys_words() -> None:
    assert only(chat(assistant("m", [], text=f"Yes.\n\n{NOTICE}"))).text == "Yes."
    assert elements(chat(assistant("m", [], text=NOTICE))) == [Skipped("empty", "message without words")]


def test_reasoning_stands_beside_the_answer() -> None:
    found = elements(answer({"type": "thinking", "thinking": "hm", "summaries": []}, words("So.")))
    assert told(found) == [("status", "assistant", "hm"), ("message", "assistant", "So.")]
    assert [event.labels for event in heard(found)] == [["reasoning"], []]


def test_reasoning_may_have_summaries_alone() -> None:
    block = {"type": "thinking", "thinking": "", "summaries": [{"summary": "a"}, {"summary": "b"}, 5]}
    assert only(answer(block)).text == "a\n\nb"
    assert skipped(elements(answer({"type": "thinking"}, words("x")))) == [Skipped("empty", "reasoning without words")]


def test_reasoning_alone_does_not_make_the_flattened_copy_an_answer() -> None:
    assert only(answer({"type": "thinking", "thinking": "hm"}, text="hm")).type == "status"


def test_injected_prompts_are_hidden() -> None:
    block = {"type": "injected_prompt_block", "prompt": "User memory: a dog", "injection_source": "memory"}
    said = chat(human("m", [words("When?"), block]))
    assert elements(said)[0] == Skipped("hidden", "injected prompt")
    assert told(elements(said)) == [("message", "human", "When?")]
    assert told(elements(said, include_hidden=True)) == [
        ("status", "system", "User memory: a dog"),
        ("message", "human", "When?"),
    ]
    assert elements(chat(human("m", [block], text="User memory: a dog"))) == [Skipped("hidden", "injected prompt")]


def test_machinery_is_counted() -> None:
    found = elements(
        answer({"type": "token_budget", "remaining": 5}, {"type": "redacted_thinking", "data": "x"}, words("a"))
    )
    assert [(e.outcome, e.what) for e in skipped(found)] == [
        ("hidden", "token budget"),
        ("hidden", "redacted reasoning"),
    ]


def test_blocks_that_nobody_described_are_counted_and_told() -> None:
    found = elements(answer({"type": "something_new", "text": {"a": 1}}, {"type": "flag"}, {}, 5, words("a")))
    assert [e.what for e in skipped(found)] == ["unknown block"] * 4
    assert told(found) == [("message", "assistant", "a")]
    assert warned(found)[0].startswith("1 times unknown block 'something_new'")


def test_voice_notes_are_words() -> None:
    assert only(chat(human("m", [{"type": "voice_note", "title": "Note", "text": "spoken"}]))).text == "spoken"


def test_uploads_and_their_text_belong_to_the_message() -> None:
    said = human(
        "m",
        "Compare",
        attachments=[
            {"file_name": "one.py", "file_size": 12, "file_type": "txt", "extracted_content": "x = 1"},
            {"file_name": "", "file_size": 9, "file_type": "text/plain", "extracted_content": "pasted"},
            {"file_name": "bare.pdf", "extracted_content": ""},
            5,
        ],
        files=[{"file_name": "chart.png", "file_uuid": "f-1"}, {"file_name": "chart.png", "file_uuid": "f-1"}],
        files_v2=[
            {"file_kind": "image", "file_uuid": "f-1", "file_name": "chart.png"},
            {"file_kind": "document", "file_uuid": "f-2"},
        ],
    )
    event = only(chat(said))
    assert event.text == "Compare\n\n[file: one.py]\nx = 1\n\n[file: (unnamed)]\npasted"
    assert [(a.kind, a.name, a.mime_type, a.size_bytes, a.url) for a in event.attachments] == [
        ("file", "one.py", None, 12, None),
        ("file", "(unnamed)", "text/plain", 9, None),
        ("file", "bare.pdf", None, None, None),
        ("image", "chart.png", None, None, "f-1"),
        ("file", "(unnamed)", None, None, "f-2"),
    ]


def test_files_without_words_have_a_placeholder() -> None:
    said = human("m", [], text="", files=[{"file_name": "plan.pdf", "file_uuid": "f-1"}])
    assert only(chat(said)).text == "[file: plan.pdf]"


def test_image_and_document_blocks_are_attachments() -> None:
    blocks = [
        {"type": "image", "file_uuid": "f-1", "source": {"media_type": "image/png"}},
        {"type": "document", "title": "Plan"},
    ]
    event = only(chat(human("m", [*blocks, words("see")])))
    assert (event.text, [(a.kind, a.name, a.mime_type) for a in event.attachments]) == (
        "see", [("image", None, "image/png"), ("file", "Plan", None)],
    )  # fmt: skip


def test_citations_of_both_forms() -> None:
    cited = [
        {"uuid": "c", "start_index": 0, "end_index": 2, "details": {"type": "web_search_citation", "url": "https://a"}},
        {"url": "https://b", "title": "B", "sources": [{"url": "https://b", "title": "B"}]},
    ]
    assert only(answer(words("x", citations=cited))).citations == [
        Citation(url="https://a"),
        Citation(url="https://b", title="B"),
    ]


def test_blocks_have_finer_times_than_their_message() -> None:
    block = {"type": "thinking", "thinking": "hm", "start_timestamp": iso(3)}
    found = heard(elements(answer(block, words("So.", start_timestamp=iso(5)))))
    assert [event.times for event in found] == [[iso(3), iso(9)], [iso(9)]]


def test_a_message_without_time_takes_that_of_its_first_block_and_says_so() -> None:
    event = only(chat(human("m", [words("x", start_timestamp=iso(5))], at=None)))
    assert (event.times, event.labels) == ([iso(5)], ["time-inferred"])
    assert only(chat(human("m", "x", at=None))).times == []


@pytest.mark.parametrize("sender", ["system", None, 7, {}])
def test_other_senders_keep_their_word_and_are_counted(sender: object) -> None:
    found = elements(chat(human("m1", "a"), message("m2", sender, "b")))
    assert heard(found)[1].role == (sender if isinstance(sender, str) else "")
    assert [message.split(": ")[0] for message in warned(found)] == [f"1 times unknown sender {sender!r}"]


def test_parts_of_a_message_share_its_id_and_differ_in_their_own() -> None:
    found = [event for event in heard(elements(rich())) if event.message_id == "m2"]
    assert [event.type for event in found] == ["status", "tool_call", "tool_result", "message"]
    assert len({event.id for event in found}) == 4
    assert {event.model for event in found if event.role == "assistant"} == {"claude-sonnet-4-5"}


def test_hidden_context_changes_no_id() -> None:
    assert set(ids(elements(rich()))) < set(ids(elements(rich(), include_hidden=True)))


@given(
    st.sampled_from(
        ["text", "thinking", "tool_use", "tool_result", "voice_note", "image", "injected_prompt_block", "new"]
    ),
    st.sampled_from(
        [
            "text",
            "thinking",
            "summaries",
            "id",
            "tool_use_id",
            "name",
            "input",
            "content",
            "source",
            "citations",
            "start_timestamp",
            "prompt",
            "is_error",
            "type",
        ]
    ),
    ANY,
)
def test_blocks_of_any_shape_are_counted(kind: str, member: str, value: object) -> None:
    found = elements(answer({"type": kind, "text": "x", "name": "t", member: value}, text=""))
    assert found
    assert_conserved(found)


def test_a_file_full_of_inventions_is_told_shortly() -> None:
    found = warned(elements(answer(*({"type": f"new {n}"} for n in range(5000)))))
    assert len(found) <= 201
    assert sum(int(message.split(" ")[0]) for message in found) == 5000
