"""Gemini's activity and conversations are read as they really are: prompt, then answer, oldest first, stable ids."""

import pytest

from adapters.contract import PermanentSourceError
from adapters.exports.gemini_titles import read_title
from tests.support.ai_exports import as_json, heard, ids, imported, read, rejected, skipped, told, warned
from tests.support.ai_google import activity, ai_studio, gemini_conversation, gemini_session, workspace
from tests.support.ai_samples import READERS, SAMPLES

ACTIVITY = READERS["Gemini activity"]


def read_activity(*records: object, **options) -> list:
    return read(ACTIVITY, as_json(list(records)), **options)


@pytest.mark.parametrize(
    ("title", "answered", "prompt", "files"),
    [
        ("Prompted hello", False, "hello", 0),
        ("Prompted\u00a0hello", False, "hello", 0),
        ("Prompted with: hello", False, "hello", 0),
        ("Asked Gemini: hello", False, "hello", 0),
        ("Asked Bard: hello", False, "hello", 0),
        ("Said hello", True, "hello", 0),
        ("Branched hello", True, "hello", 0),
        ("Eingegebener Prompt: hallo 2 Datei(en) angehängt.", False, "hallo", 2),
        ("Gav instruktionen\u00a0hej", False, "hej", 0),
        ("Prompted look Attached 3 files.", True, "look", 3),
        ("Prompted Attached 1 file.", True, "", 1),
        ("Prompted line one\nline two", False, "line one\nline two", 0),
        ("Used Gemini Apps", False, None, 0),
        ("Gave feedback: Good response", False, None, 0),
        ("Created Gemini Canvas titled Tides", True, None, 0),
        ("Selected preferred draft", False, None, 0),
        ("Userland is what?", True, "Userland is what?", 0),
        ("조수란?", True, "조수란?", 0),
        ("조수란?", False, None, 0),
        ("", True, None, 0),
    ],
)
def test_titles_say_who_spoke(title: str, answered: bool, prompt: str | None, files: int) -> None:
    """An unknown language is a prompt with an answer beside it, and unknown without one (3.1)."""
    read = read_title(title, answered=answered)
    assert (read.prompt, read.files) == (prompt, files)


def test_records_come_oldest_first_and_prompts_before_answers() -> None:
    elements = read_activity(
        activity("Prompted c", "2026-04-02T07:00:00Z", "<p>3</p>"),
        activity("Prompted a", "2026-04-01T20:00:00.000Z", "<p>1</p>"),
        activity("Prompted b", "2026-04-01T20:00:00.001Z", "<p>2</p>"),
    )
    assert [event.text for event in heard(elements)] == ["a", "<p>1</p>", "b", "<p>2</p>", "c", "<p>3</p>"]


def test_drafts_are_joined_and_counted() -> None:
    elements = read_activity(activity("Prompted x", "2026-04-01T20:00:00Z", "<p>one</p>", "two &amp; more"))
    assert [event.event.text for event in imported(elements).events] == ["x", "one\n\ntwo & more"]
    assert heard(elements)[1].labels == ["drafts:2"]


def test_what_nobody_said_is_counted_by_its_verb() -> None:
    elements = read_activity(activity("Gave feedback: Good"), activity("Used Gemini Apps"), activity("질문"))
    assert [skip.what for skip in skipped(elements)] == [
        "activity: Gave feedback",
        "activity: Used",
        "activity: unknown",
    ]
    assert not heard(elements)


def test_ids_stand_on_time_and_title_alone() -> None:
    """Not on the answer, the other records, or the chat a later export names."""
    alone = ids(read_activity(activity("Prompted x", "2026-04-01T20:00:00Z", "<p>one</p>")))
    named = activity(
        "Prompted x", "2026-04-01T20:00:00Z", "<p>other</p>", titleUrl="https://gemini.google.com/app/0123456789abcdef"
    )
    assert ids(read_activity(activity("Prompted y", "2026-04-01T19:00:00Z"), named))[1:] == alone


@pytest.mark.parametrize(
    "members",
    [
        {"titleUrl": "https://gemini.google.com/app/0123456789abcdef"},
        {"titleUrl": "https://gemini.google.com/app/c/0123456789abcdef"},
        {"titleUrl": "https://gemini.google.com/u/1/app/0123456789abcdef?hl=de"},
        {"titleUrl": "https://gemini.google.com/gem/coach/0123456789abcdef"},
        {"details": [{"name": "Chat", "url": "https://gemini.google.com/app/0123456789abcdef"}]},
    ],
)
def test_a_chat_that_is_named_is_the_thread(members: dict) -> None:
    elements = read_activity(
        activity("Prompted x", **members), activity("Prompted y", "2026-03-09T17:16:00Z", **members)
    )
    assert [element.thread.thread_id for element in elements] == ["0123456789abcdef"] * 2


def test_documented_variants_are_read() -> None:
    """Variant A says who spoke by name, variant B serialises JSON; what both say is said once (PAM 4.4)."""
    by_name = activity("Used Gemini Apps", details=[
        {"name": "Request", "value": "hi"}, {"name": "Response", "value": "hello"},
        {"name": "Location", "value": "home"}])  # fmt: skip
    assert told(read_activity(by_name)) == [("message", "user", "hi"), ("message", "model", "hello")]
    serialised = activity("Used Gemini Apps", userInteractions=[
        {"userInteraction": {"request": '{"contents":[{"parts":[{"text":"hi"}]}]}',
                             "response": '{"candidates":[{"content":{"parts":[{"text":"hel"},{"text":"lo"}]}}]}'}},
    ])  # fmt: skip
    assert told(read_activity(serialised)) == [("message", "user", "hi"), ("message", "model", "hel\nlo")]
    plain = activity(
        "Used Gemini Apps", userInteractions=[{"userInteraction": {"request": "hi", "response": "{broken"}}]
    )
    assert told(read_activity(plain)) == [("message", "user", "hi"), ("message", "model", "{broken")]


def test_attachments_and_citations() -> None:
    (prompt, answer) = heard(read_activity(activity(
        "Prompted look Attached 2 files.", "2026-04-01T20:00:00Z", "<p>a cup</p>",
        subtitles=[{"name": "Attached 2 files."}, {"name": "-  cup.png", "url": "cup-1.png"},
                   {"name": "Cups", "url": "https://cups.example.test"}, {"name": "Coach was used in this chat"}],
        attachedFiles=["cup-1.png", "plan.pdf"])))  # fmt: skip
    assert [(item.name, item.url) for item in prompt.attachments] == [("cup.png", "cup-1.png"), ("plan.pdf", None)]
    assert [citation.url for citation in answer.citations] == ["https://cups.example.test"]
    assert prompt.labels == ["gem:Coach"]


def test_a_prompt_of_files_alone_gets_a_placeholder() -> None:
    (prompt,) = heard(read_activity(activity("Prompted Attached 1 file.")))
    assert prompt.text == "[file]"


def test_other_products_in_the_same_file_are_passed_over() -> None:
    elements = read_activity(
        activity("Prompted x"), activity("Watched y", header="YouTube", products=["YouTube"], activityControls=[])
    )
    assert len(heard(elements)) == 1
    assert [skip.what for skip in skipped(elements)] == ["activity of another product"]


@pytest.mark.parametrize(
    "name",
    ["Google activity without Gemini", "Google activity page without Gemini", "Gemini Gems or scheduled actions",
     "AI Studio index"],
)  # fmt: skip
def test_files_without_chats_say_what_to_import(name: str) -> None:
    (message,) = warned(read(READERS[name], SAMPLES[name][1]))
    assert "import" in message or "choose" in message


def test_conversations_keep_their_ids_and_order() -> None:
    elements = read(READERS["Gemini conversation"], as_json(gemini_conversation()))
    assert [text for _, _, text in told(elements)] == ["How do bats steer, g-1?", "By echo.", "and in water?"]
    assert {element.thread.thread_id for element in elements} == {"g-1"}
    assert ids(elements) == ids(read(READERS["Gemini conversation"], as_json([gemini_conversation()])))


def test_sessions_of_web_exporters() -> None:
    elements = read(READERS["Gemini conversation"], as_json(gemini_session()))
    assert told(elements) == [
        ("message", "user", "hello"),
        ("status", "gemini", "Greeting\nbe kind"),
        ("message", "gemini", "hi"),
    ]
    assert heard(elements)[2].model == "gemini-3-pro"


def test_workspace_turns() -> None:
    """Retries repeat the index, deleted turns are hidden, thoughts stand apart, and the file's number means nothing."""
    reader = READERS["Gemini in Workspace conversation"]
    elements = read(reader, as_json(workspace()), "conversation_1.txt")
    assert told(elements) == [
        ("message", "user_turn", "Plan a day"),
        ("status", "system_turn", "Idea\nsun is out"),
        ("message", "system_turn", "Walk."),
        ("message", "system_turn", "Again:\n\nSwim.\n\na card"),
    ]
    assert [skip.what for skip in skipped(elements)] == ["deleted turn"]
    assert ids(elements) == ids(read(reader, as_json(workspace()), "conversation_7.txt"))
    assert len(heard(read(reader, as_json(workspace()), include_hidden=True))) == 5


def test_ai_studio_chunks() -> None:
    """Words once, reasoning apart, drafts and the system prompt hidden, ids without the file's name (case 51)."""
    elements = read(READERS["AI Studio prompt"], as_json(ai_studio()), "Explain tides")
    assert told(elements) == [
        ("message", "user", "Explain tides"),
        ("status", "model", "about the moon"),
        ("message", "model", "The moon pulls."),
    ]
    assert sorted(skip.what for skip in skipped(elements)) == ["system prompt", "unsent draft"]
    assert heard(elements)[2].model == "models/gemini-2.5-pro"
    assert elements[1].thread.title == "Explain tides"
    assert ids(elements) == ids(read(READERS["AI Studio prompt"], as_json(ai_studio()), "Copy of Explain tides.json"))


def test_ai_studio_files_come_with_the_words_beside_them() -> None:
    file, words = {"role": "user", "driveDocument": {"id": "1Ab"}}, {"role": "user", "text": "what is it"}
    for chunks in ([file, words], [words, file]):
        (event,) = heard(read(READERS["AI Studio prompt"], as_json(ai_studio(*chunks))))
        assert (event.text, [item.name for item in event.attachments]) == ("what is it", ["1Ab"])
    alone = heard(read(READERS["AI Studio prompt"], as_json(ai_studio(file, {"role": "model", "text": "a plan"}))))
    assert [event.text for event in alone] == ["[file: 1Ab]", "a plan"]


def test_ai_studio_code_is_a_call_and_its_output_a_result() -> None:
    elements = read(READERS["AI Studio prompt"], as_json(ai_studio(
        {"role": "model", "executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"role": "model", "codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "1"}},
        {"role": "model", "errorMessage": "quota"})))  # fmt: skip
    assert [(event.type, event.labels) for event in heard(elements)] == [
        ("tool_call", []),
        ("tool_result", ["error"]),
        ("status", ["error"]),
    ]


def test_no_json_object_is_a_failed_file() -> None:
    with pytest.raises(PermanentSourceError):
        read(READERS["AI Studio prompt"], b"hello")


def test_one_bad_record_costs_itself() -> None:
    raw = as_json([activity("Prompted a"), "HERE", activity("Prompted b", "2026-03-09T18:00:00Z")])
    elements = read(ACTIVITY, raw.replace(b'"HERE"', b'{"title": nope}'))
    assert len(heard(elements)) == 2
    assert len(rejected(elements)) == 1
