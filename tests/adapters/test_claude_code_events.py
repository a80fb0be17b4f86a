"""Promise: each line of a Claude Code session gives the events that the mapping says, and nothing nobody said."""

import pytest

from adapters.sessions.drafts import MAX_CALL_CHARS
from tests.support.claude_code import SESSION, assistant, call, entry, image, iso, parse, result, said, user, uuid
from tests.support.sessions import events, file_of, heard, ids, seen, skipped, texts, told

REMINDER = "<system-reminder>\nThe plan has two open items.\n</system-reminder>"


def only(*lines: dict):
    (event,) = events(parse(file_of(*lines)))
    return event


def test_words_of_a_person_and_of_the_model() -> None:
    elements = parse(file_of(user("a", None, "Read the gauge"), assistant("b", "a", "0.41 m", at=8)))
    assert told(elements) == [("message", "user", "Read the gauge"), ("message", "assistant", "0.41 m")]
    first, second = events(elements)
    assert (first.message_id, first.parent_message_id, first.times) == (uuid("a"), None, [iso(6)])
    assert (second.message_id, second.parent_message_id, second.model) == (uuid("b"), uuid("a"), "egret-large-1")
    thread = heard(elements)[0].thread
    assert (thread.provider, thread.thread_id, thread.workspace) == ("claude-code", SESSION, "/srv/weir")


def test_lines_that_share_a_message_id_are_all_told() -> None:
    """B28: one event a block, each with an id of its own."""
    lines = [
        assistant("a", None, "Reading.", message_id="msg_1"),
        assistant("b", "a", call("Gauge", {"which": "north"}, "t1"), message_id="msg_1"),
        assistant("c", "b", call("Gauge", {"which": "south"}, "t2"), message_id="msg_1"),
    ]
    elements = parse(file_of(*lines))
    assert [event.type for event in events(elements)] == ["message", "tool_call", "tool_call"]
    assert len(set(ids(elements))) == 3
    assert texts(elements)[1] == 'Gauge {"which":"north"}'


def test_an_answer_that_is_written_again_as_it_grows_is_told_once() -> None:
    """B28: a longer line of the same message that begins with the blocks of the former adds only what is new."""
    lines = [
        assistant("a", None, "Reading.", message_id="msg_1"),
        assistant("b", "a", "Reading.", call("Gauge", {}), message_id="msg_1"),
    ]
    elements = parse(file_of(*lines))
    assert texts(elements) == ["Reading.", "Gauge {}"]
    assert skipped(elements) == [("duplicate", "assistant", 1)]


def test_the_same_words_twice_in_one_message_are_two_events() -> None:
    lines = [assistant("a", None, "Wait.", message_id="m"), assistant("b", "a", "Wait.", message_id="m")]
    assert texts(parse(file_of(*lines))) == ["Wait.", "Wait."]


def test_several_blocks_on_one_line_are_told_in_order() -> None:
    line = assistant(
        "a", None, {"type": "thinking", "thinking": "Hm.", "signature": "x"}, "One", call("Look", {}), "Two"
    )
    elements = parse(file_of(line))
    assert told(elements) == [
        ("status", "assistant", "Hm."),
        ("message", "assistant", "One"),
        ("tool_call", "assistant", "Look {}"),
        ("message", "assistant", "Two"),
    ]
    assert events(elements)[0].labels == ["reasoning"]
    assert [event.message_id for event in events(elements)] == [f"{uuid('a')}#{k}" for k in range(4)]


def test_results_of_tools_are_the_tools() -> None:
    """A user line whose blocks are all tool_result: one event each, with the name of the tool that was called."""
    lines = [
        assistant("a", None, call("Gauge", {}, "t1"), call("Lamp", {}, "t2")),
        user("b", "a", [result("0.41", "t1"), result([said("off"), image()], "t2", is_error=True)], toolUseResult={}),
    ]
    first, second = events(parse(file_of(*lines)))[2:]
    assert (first.type, first.role, first.text, first.tool_name, first.tool_call_id) == (
        "tool_result", "tool", "0.41", "Gauge", "t1",
    )  # fmt: skip
    assert (second.text, second.labels, second.tool_name) == ("off", ["error", "image"], "Lamp")
    assert [a.mime_type for a in second.attachments] == ["image/png"]


def test_a_result_without_words_is_kept() -> None:
    """E22."""
    assert (only(user("a", None, [result("")])).type, only(user("a", None, [result(None)])).text) == ("tool_result", "")


def test_words_beside_a_result_are_the_persons() -> None:
    elements = parse(file_of(user("a", None, [result("ok"), said("and now the lamp")])))
    assert told(elements) == [("tool_result", "tool", "ok"), ("message", "user", "and now the lamp")]


def test_persisted_outputs_are_never_opened() -> None:
    line = user("a", None, [result("cut")], toolUseResult={"persistedOutputPath": "/etc/passwd", "stdout": "secret"})
    assert texts(parse(file_of(line))) == ["cut"]


def test_images_without_words() -> None:
    """E23."""
    event = only(user("a", None, [image()]))
    assert (event.text, event.labels, event.attachments[0].size_bytes) == ("[image: image/png]", ["image"], 8)


def test_parts_of_a_result_that_nobody_knows_are_counted() -> None:
    """E26: the others are kept."""
    content = [said("on"), {"type": "hologram"}, 5, {"type": "tool_reference", "tool_name": "Lamp"}]
    elements = parse(file_of(user("a", None, [result(content, "t1")])))
    assert texts(elements) == ["on"]
    assert skipped(elements) == [("empty", "unknown block", 2)]


def test_a_document_is_no_image() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}
    event = only(user("a", None, [{"type": "document", "source": source}]))
    assert (event.text, event.labels, event.attachments[0].kind) == ("[document: application/pdf]", [], "document")


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"isMeta": True}, "user/meta"),
        ({"isVisibleInTranscriptOnly": True}, "user/transcript-only"),
        ({"origin": {"kind": "hook"}}, "user/origin"),
    ],
)
def test_lines_that_nobody_typed_are_hidden(fields: dict, what: str) -> None:
    """B30: counted, and shown only to who asks for them, never as a person's words."""
    line = user("a", None, "formatter ran", **fields)
    assert (texts(parse(file_of(line))), skipped(parse(file_of(line)))) == ([], [("hidden", what, 1)])
    (event,) = events(parse(file_of(line), include_hidden=True))
    assert (event.type, event.role, event.labels) == ("status", "system", ["hidden"])


def test_a_human_origin_is_a_person() -> None:
    assert only(user("a", None, "mine", origin={"kind": "human"})).role == "user"


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-stdout>done</local-command-stdout>",
        "<local-command-caveat>Caveat: …</local-command-caveat>",
        "Caveat: The messages below were generated by the user while running local commands. Do not answer.",
        "<task-notification>\n<task-id>x</task-id>\n</task-notification>",
        "<ide_opened_file>The user opened weir.py</ide_opened_file>",
        "Stop hook feedback:\n- lint failed",
        REMINDER,
        f"\n{REMINDER}\n{REMINDER}\n",
        "<command-message></command-message>",
    ],
)
def test_texts_that_the_program_put_in_are_hidden(text: str) -> None:
    for content in (text, [said(text)]):
        assert skipped(parse(file_of(user("a", None, content)))) == [("hidden", "user/injected", 1)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([said("Go on"), said(REMINDER)], "Go on"),
        (f"Go on\n{REMINDER}", "Go on"),
        (f"{REMINDER}\n\nGo on", "Go on"),
        ("What does <system-reminder> mean?", "What does <system-reminder> mean?"),
        (f"Why is\n{REMINDER}\nthere?", f"Why is\n{REMINDER}\nthere?"),
        ([said("<ide_selection>x = 1</ide_selection>"), said("explain"), said("both")], "explain\nboth"),
    ],
)
def test_reminders_are_cut_from_around_a_persons_words(content: object, expected: str) -> None:
    assert only(user("a", None, content)).text == expected


def test_a_slash_command_stands_as_it_was_typed() -> None:
    """With arguments it says something; one without only works the program."""
    wrapped = (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>{}</command-args>"
    )
    event = only(user("a", None, wrapped.format("the spillway")))
    assert (event.type, event.role, event.text, event.labels) == (
        "message", "user", "/review the spillway", ["command"],
    )  # fmt: skip
    assert (only(user("a", None, wrapped.format(""))).type, only(user("a", None, wrapped.format(""))).text) == (
        "status",
        "/review",
    )


def test_a_command_in_the_shell_and_its_output() -> None:
    lines = [
        user("a", None, "<bash-input>ls</bash-input>"),
        user("b", "a", "<bash-stdout>weir.py</bash-stdout><bash-stderr></bash-stderr>"),
    ]
    elements = parse(file_of(*lines))
    assert told(elements) == [("tool_call", "user", "$ ls"), ("tool_result", "tool", "weir.py")]
    assert all(event.labels == ["operator-shell"] for event in events(elements))


def test_an_interruption_is_a_status() -> None:
    event = only(user("a", None, [said("[Request interrupted by user for tool use]")]))
    assert (event.type, event.labels) == ("status", ["aborted"])


@pytest.mark.parametrize(
    "line",
    [
        user("a", None, "It goes on.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        user("a", None, [said("It goes on.")], isCompactSummary=True, isMeta=True),
    ],
)
def test_a_compact_summary_is_a_summary(line: dict) -> None:
    """B30: of the system, not of the person."""
    event = only(line)
    assert (event.type, event.role, event.text, event.labels) == ("summary", "system", "It goes on.", ["compaction"])


def test_a_continuation_without_its_flag_is_a_summary() -> None:
    text = "This session is being continued from a previous conversation that ran out of context. The dam was surveyed."
    assert only(user("a", None, text)).type == "summary"


def queued(prompt: object, *, named: str | None = None, **fields: object) -> dict:
    return entry("attachment", named, None, attachment={"type": "queued_command", "prompt": prompt, **fields})


@pytest.mark.parametrize("prompt", ["And the lamp?", [{"type": "text", "text": "And the lamp?"}]])
def test_a_queued_command_is_a_persons_message(prompt: object) -> None:
    """Typed while the model worked; it may lack a uuid."""
    for line in (queued(prompt), queued(prompt, named="q", commandMode="prompt", origin={"kind": "human"})):
        event = only(line)
        assert (event.type, event.role, event.text) == ("message", "user", "And the lamp?")


def test_a_queued_notification_is_hidden() -> None:
    for fields in ({"commandMode": "task-notification"}, {"origin": {"kind": "task-notification"}}):
        assert skipped(parse(file_of(queued("job done", **fields)))) == [("hidden", "queued_command", 1)]


def test_other_attachments_are_counted() -> None:
    line = entry("attachment", "a", None, attachment={"type": "hook_success", "content": "ran"})
    assert skipped(parse(file_of(line))) == [("empty", "attachment", 1)]


@pytest.mark.parametrize(
    ("error", "text", "labels"),
    [
        ({"status": 529, "message": "overloaded"}, "529 overloaded", ["error"]),
        ({"status": 429, "error": {"error": {"message": "slow down"}}}, "429 slow down", ["error", "rate-limit"]),
        ({"cause": {"code": "FailedToOpenSocket"}}, "FailedToOpenSocket", ["error"]),
        ("rate_limit", "rate_limit", ["error", "rate-limit"]),
        (None, "error", ["error"]),
        ({"headers": {}}, "error", ["error"]),
    ],
)
def test_a_failed_request_is_a_status_from_its_error(error: object, text: str, labels: list[str]) -> None:
    """B32: content is null."""
    event = only(entry("system", "a", None, subtype="api_error", content=None, error=error))
    assert (event.type, event.text, event.labels) == ("status", text, labels)


def test_an_answer_that_is_an_error_is_a_status() -> None:
    event = only(
        assistant("a", None, "API Error: try again", model="<synthetic>", isApiErrorMessage=True, error="rate_limit")
    )
    assert (event.type, event.text, event.labels, event.model) == (
        "status", "API Error: try again", ["error", "rate-limit"], None,
    )  # fmt: skip


def test_answers_that_the_program_made_up_are_hidden() -> None:
    line = assistant("a", None, "No response requested.", model="<synthetic>")
    assert skipped(parse(file_of(line))) == [("hidden", "assistant/synthetic", 1)]


def test_titles_are_statuses_and_told_once() -> None:
    """They are written again and again, without a uuid and without a time; a summary names another session."""
    title = {"type": "custom-title", "customTitle": "Weir", "sessionId": SESSION}
    summary = {"type": "summary", "summary": "The dam", "leafUuid": uuid("elsewhere")}
    elements = parse(file_of(summary, title, {"type": "ai-title", "aiTitle": "Traps", "sessionId": SESSION}, title))
    assert told(elements) == [
        ("status", "system", "name of another session: The dam"),
        ("status", "system", "session name: Weir"),
        ("status", "system", "session name: Traps"),
    ]
    assert skipped(elements) == [("duplicate", "title", 1)]


@pytest.mark.parametrize(
    "kind", ["progress", "queue-operation", "file-history-snapshot", "last-prompt", "pr-link", "mode"]
)
def test_bookkeeping_is_counted_by_its_type(kind: str) -> None:
    assert skipped(parse(file_of(entry(kind, None, None, content="words")))) == [("empty", kind, 1)]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (entry("telepathy", "a"), "unknown line type"),
        (entry("system", "a", subtype="telepathy", content="x"), "unknown system subtype"),
        (assistant("a", None, {"type": "telepathy"}), "unknown block"),
        (user("a", None, [{"type": "telepathy"}]), "unknown block"),
        (user("a", None, [5]), "unknown block"),
    ],
)
def test_what_nobody_knows_is_counted_as_unknown(line: dict, what: str) -> None:
    """A change of the format shows in these counts."""
    assert skipped(parse(file_of(line))) == [("empty", what, 1)]


def test_an_unknown_block_does_not_cost_the_others() -> None:
    """E26."""
    elements = parse(file_of(assistant("a", None, {"type": "telepathy"}, "words")))
    assert (texts(elements), skipped(elements), seen(elements)) == (["words"], [("empty", "unknown block", 1)], 2)


@pytest.mark.parametrize("content", [None, "", "  \n", [], [said(" ")], [{"type": "text"}], 5])
def test_lines_without_words_are_empty(content: object) -> None:
    """B15, E22."""
    assert skipped(parse(file_of(user("a", None, content)))) == [("empty", "user", 1)]


def test_thinking_that_is_encrypted_says_nothing() -> None:
    line = assistant("a", None, {"type": "thinking", "thinking": "", "signature": "x"}, {"type": "redacted_thinking"})
    assert skipped(parse(file_of(line))) == [("empty", "assistant", 1)]


def test_a_long_call_is_cut() -> None:
    event = only(assistant("a", None, call("Write", {"content": "x" * 100_000})))
    assert (len(event.text), event.labels) == (MAX_CALL_CHARS, ["truncated"])


def test_tools_of_the_provider() -> None:
    line = assistant(
        "a",
        None,
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "eels"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "Nine."}]},
    )
    assert told(parse(file_of(line))) == [
        ("tool_call", "assistant", 'web_search {"query":"eels"}'),
        ("tool_result", "tool", "Nine."),
    ]
