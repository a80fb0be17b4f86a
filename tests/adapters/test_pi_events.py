"""Promise: each sort of pi entry gives the events that the mapping says, and nothing else is emitted."""

import pytest

from tests.support.pi import (
    HEADER,
    assistant,
    call,
    entry,
    events,
    file_of,
    heard,
    image,
    message,
    parse,
    rejected,
    seen,
    skipped,
    texts,
    tool_result,
    user,
    warned,
)

SIGNAL = "[COLONY_SIGNAL:COMPLETE] [c1|colony-mq2x7f3a-9kd0z]\n## Report"


def only(*entries: object, **options: object):
    found = events(parse(file_of(HEADER, *entries), **options))
    assert len(found) == 1
    return found[0]


def test_a_user_message_is_a_message() -> None:
    event = only(user("u1", None, "Count the gates"))
    assert (event.type, event.role, event.text, event.raw_type) == (
        "message",
        "user",
        "Count the gates",
        "message/user",
    )
    assert (event.message_id, event.labels) == ("u1", [])


def test_text_blocks_are_joined_by_a_newline() -> None:
    assert only(user("u1", None, [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])).text == "a\nb"


@pytest.mark.parametrize("content", ["plain words", {"type": "text", "text": "plain words"}, ["plain words"]])
def test_content_may_be_text_or_a_block_alone(content: object) -> None:
    """Old versions and forks write a string; a lone block or a string in the list is read the same."""
    assert only(message("user", "u1", None, content=content)).text == "plain words"


def test_an_assistant_gives_its_reasoning_its_words_and_each_call() -> None:
    """Reasoning never stands in what was said; each call is an event with the place of its block in its id."""
    content = [
        {"type": "thinking", "thinking": "Which gate?", "thinkingSignature": "s"},
        {"type": "text", "text": "I look."},
        call("look", {"at": "reeds"}, "t1"),
        call("look", {"at": "bank"}, "t2"),
    ]
    thought, said, first, second = events(parse(file_of(HEADER, assistant("a1", None, content, stopReason="toolUse"))))
    assert (thought.type, thought.text, thought.labels, thought.message_id) == (
        "status",
        "Which gate?",
        ["reasoning"],
        "a1#0",
    )
    assert (said.type, said.text, said.message_id, said.model) == ("message", "I look.", "a1", "heron-mid-2")
    assert (first.type, first.text, first.message_id) == ("tool_call", 'look {"at":"reeds"}', "a1#2")
    assert (second.tool_name, second.tool_call_id, second.message_id) == ("look", "t2", "a1#3")
    assert {event.role for event in (thought, said, first, second)} == {"assistant"}


def test_a_tool_result_is_the_tools() -> None:
    event = only(tool_result("r1", None, "ok"))
    assert (event.type, event.role, event.text) == ("tool_result", "toolResult", "ok")
    assert (event.tool_name, event.tool_call_id, event.labels) == ("bash", "t1", [])


def test_a_failed_tool_result_is_labelled() -> None:
    """E28: isError."""
    assert only(tool_result("r1", None, "no such file", isError=True)).labels == ["error"]


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({"exitCode": 0}, []),
        ({"exitCode": None}, []),
        ({}, []),
        ({"exitCode": 1}, ["error", "exit-1"]),
        ({"exitCode": 127, "truncated": True, "fullOutputPath": "/nowhere"}, ["error", "exit-127", "truncated"]),
        ({"exitCode": None, "cancelled": True}, ["cancelled"]),
        ({"exitCode": True, "cancelled": "no"}, []),
    ],
)
def test_a_command_of_the_operator(fields: dict, labels: list[str]) -> None:
    """E28: the command and its output; exit code, cancellation and truncation as labels."""
    event = only(message("bashExecution", "b1", None, command="ls", output="a\nb", **fields))
    assert (event.type, event.role, event.text) == ("tool_result", "bashExecution", "$ ls\na\nb")
    assert event.labels == ["operator-shell", *labels]


def test_a_command_without_output_is_shown_alone() -> None:
    assert only(message("bashExecution", "b1", None, command="true", output="")).text == "$ true"


def test_a_command_kept_out_of_context_is_hidden() -> None:
    """`!!cmd` gives no event and is counted; it is shown only to who asks for it."""
    content = file_of(
        HEADER, message("bashExecution", "b1", None, command="env", output="K=V", excludeFromContext=True)
    )
    assert skipped(parse(content)) == [("hidden", "message/bashExecution", 1)]
    shown = events(parse(content, include_hidden=True))
    assert [(e.type, e.role, e.labels) for e in shown] == [("status", "system", ["operator-shell", "hidden"])]


@pytest.mark.parametrize(
    "value",
    [
        entry("custom_message", "c1", None, customType="ant-colony-report", content=SIGNAL, display=True),
        message("custom", "c1", None, customType="ant-colony-report", content=SIGNAL, display=True),
        message("hookMessage", "c1", None, customType="ant-colony-report", content=SIGNAL, display=True),
    ],
    ids=["entry", "message", "version 2"],
)
def test_a_custom_message_names_its_type(value: dict) -> None:
    """The normaliser finds true colony signals by the custom type, in every form that versions give it."""
    event = only(value)
    assert (event.type, event.role, event.text, event.raw_type) == ("message", "custom", SIGNAL, "ant-colony-report")


def test_a_custom_message_that_is_not_displayed_is_emitted_with_a_label() -> None:
    event = only(entry("custom_message", "c1", None, customType="note", content="quiet", display=False))
    assert (event.text, event.labels) == ("quiet", ["hidden"])


def test_a_custom_message_without_a_type_has_its_entrys() -> None:
    assert only(entry("custom_message", "c1", None, content="x", display=True)).raw_type == "custom_message"


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (entry("compaction", "s1", None, summary="Kept.", firstKeptEntryId="x", tokensBefore=5), "compaction"),
        (entry("branch_summary", "s1", "b", summary="Kept.", fromId="b"), "branch-summary"),
        (message("compactionSummary", "s1", None, summary="Kept.", tokensBefore=5), "compaction"),
        (message("branchSummary", "s1", None, summary="Kept.", fromId="root"), "branch-summary"),
    ],
)
def test_a_summary(value: dict, label: str) -> None:
    """B25: a branch summary is emitted without looking for the leaf it names."""
    event = only(value)
    assert (event.type, event.role, event.text, event.labels) == ("summary", "system", "Kept.", [label])


def test_what_a_compaction_keeps_is_never_emitted() -> None:
    """E31: one summary; retained tail, system message and replacement history never become events."""
    kept = [{"role": "user", "content": "old words"}]
    compaction = entry(
        "compaction", "s1", None, summary="S", retainedTail=kept, systemMessage="prompt", replacementHistory=kept
    )
    assert texts(parse(file_of(HEADER, compaction))) == ["S"]


@pytest.mark.parametrize(
    ("fields", "text", "labels"),
    [
        ({"stopReason": "error", "errorMessage": "line went dead"}, "line went dead", ["error"]),
        (
            {"stopReason": "error", "errorMessage": "429 Too Many Requests"},
            "429 Too Many Requests",
            ["error", "rate-limit"],
        ),
        ({"stopReason": "error", "errorMessage": "Quota exceeded"}, "Quota exceeded", ["error", "rate-limit"]),
        ({"stopReason": "error", "errorMessage": "rate_limit_error"}, "rate_limit_error", ["error", "rate-limit"]),
        ({"stopReason": "error", "errorMessage": "RESOURCE_EXHAUSTED"}, "RESOURCE_EXHAUSTED", ["error", "rate-limit"]),
        ({"stopReason": "error", "errorMessage": "port 14290"}, "port 14290", ["error"]),
        ({"stopReason": "error"}, "error", ["error"]),
        ({"stopReason": "aborted"}, "aborted", ["aborted"]),
        ({"stopReason": "aborted", "errorMessage": "Request was aborted"}, "Request was aborted", ["aborted"]),
        ({"stopReason": "stop", "errorMessage": "late trouble"}, "late trouble", ["error"]),
    ],
)
def test_a_failed_answer_is_a_status(fields: dict, text: str, labels: list[str]) -> None:
    """E21: empty content and an error message give a status; E30: aborted ones too."""
    event = only(assistant("a1", None, [], **fields))
    assert (event.type, event.role, event.text, event.labels) == ("status", "assistant", text, labels)


def test_a_failed_answer_keeps_its_words_beside_the_status() -> None:
    """E30: what was said before the abort stays, and so does the retry after it."""
    found = events(
        parse(file_of(HEADER, assistant("a1", None, "Half a", stopReason="aborted"), assistant("a2", "a1", "Whole.")))
    )
    assert [(e.type, e.text) for e in found] == [("message", "Half a"), ("status", "aborted"), ("message", "Whole.")]


@pytest.mark.parametrize(
    ("value", "text", "label"),
    [
        (entry("model_change", "m1", None, provider="heron", modelId="mid-2"), "model heron/mid-2", "model-change"),
        (entry("session_info", "m1", None, name="Low water"), "session name: Low water", "session-name"),
    ],
)
def test_changes_of_the_session_are_statuses(value: dict, text: str, label: str) -> None:
    event = only(value)
    assert (event.type, event.role, event.text, event.labels) == ("status", "system", text, [label])


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (entry("thinking_level_change", "x", None, thinkingLevel="low"), "thinking_level_change"),
        (entry("label", "x", None, targetId="y", label="l"), "label"),
        (entry("usage", "x", None, kind="record", usage={"input": 1}), "record"),
        (entry("usage", "x", None, kind="cache_warm", usage={"input": 1}), "usage"),
        (entry("context_edit", "x", None, targetId="y", replacement={"content": "short"}), "context_edit"),
        (entry("custom", "x", None, customType="state", data={"a": 1}), "custom"),
        (entry("leaf", "x", None, targetId="y"), "leaf"),
        (entry("moonrise", "x", None, text="words"), "unknown entry type"),
        ({"kind": "moonrise", "seq": 7}, "unknown entry type"),
        (entry("session_info", "x", None, name=""), "session_info"),
        (entry("session_info", "x", None), "session_info"),
        (entry("model_change", "x", None), "model_change"),
        (entry("compaction", "x", None, summary=" "), "compaction"),
    ],
)
def test_bookkeeping_says_nothing_and_is_counted(value: dict, what: str) -> None:
    """E29: labels, usage, context edits and unknown types give no event, and count once each by their sort."""
    elements = parse(file_of(HEADER, value))
    assert skipped(elements) == [("empty", what, 1)]
    assert seen(elements) == 1


def test_a_hundred_changes_of_the_thinking_level_give_nothing() -> None:
    """B27."""
    lines = [entry("thinking_level_change", f"t{n}", f"t{n - 1}", thinkingLevel="low") for n in range(100)]
    elements = parse(file_of(HEADER, *lines))
    assert events(elements) == []
    assert seen(elements) == 100


@pytest.mark.parametrize(
    "value",
    [
        message("system", "p1", None, content="", sections={"base": "You are a ferryman.", "empty": None}),
        message("system", "p1", None, content="You are a ferryman.", toolsAdded=[{"name": "row"}]),
        message("developer", "p1", None, content="You are a ferryman."),
    ],
)
def test_prompts_never_leave_unasked(value: dict) -> None:
    """E33: system prompts and instructions are counted as hidden; asked for, they are a status."""
    content = file_of(HEADER, value)
    assert skipped(parse(content)) == [("hidden", f"message/{value['message']['role']}", 1)]
    shown = events(parse(content, include_hidden=True))
    assert [(e.type, e.role, e.text, e.labels) for e in shown] == [
        ("status", "system", "You are a ferryman.", ["hidden"])
    ]


def test_an_empty_prompt_has_nothing_to_show() -> None:
    content = file_of(HEADER, message("system", "p1", None, content=""))
    assert skipped(parse(content, include_hidden=True)) == [("hidden", "message/system", 1)]


def test_a_role_that_only_an_extension_knows_is_passed_on() -> None:
    """The provider's own word goes to the normaliser, which knows what to make of it."""
    event = only(message("lighthouse", "x1", None, content="Fog."))
    assert (event.type, event.role, event.raw_type, event.text) == (
        "message",
        "lighthouse",
        "message/lighthouse",
        "Fog.",
    )


def test_raw_times_are_passed_on_best_first_with_what_is_near() -> None:
    """The entry's own time, then the message's; near it the entry before, the header, the file."""
    first, second = heard(parse(file_of(HEADER, user("u1", None, "a", at=6), user("u2", "u1", "b", at=9))))
    assert second.event.times == ["2026-01-02T03:04:09.000Z", 1767323046000 + 9000]
    assert second.nearby == ("2026-01-02T03:04:06.000Z", HEADER["timestamp"], 1767400000.0)
    assert first.nearby == (HEADER["timestamp"], 1767400000.0)


@pytest.mark.parametrize("broken", [None, "", [], {}, True, "x" * 65, 10**30])
def test_what_is_no_time_is_left_out(broken: object) -> None:
    """E16: values that cannot be a time, or that no record could hold, are not passed on."""
    value = user("u1", None, "a")
    value["timestamp"] = broken
    assert only(value).times == [value["message"]["timestamp"]]


def test_entries_without_an_event_still_tell_the_time() -> None:
    lines = [entry("label", "l1", None, at=30, targetId="x"), user("u1", "l1", "a", at=31)]
    assert heard(parse(file_of(HEADER, *lines)))[0].nearby[0] == lines[0]["timestamp"]


@pytest.mark.parametrize("field", ["account", "accountId", "account_id", "providerAccount", "provider_account"])
@pytest.mark.parametrize("inside", [False, True])
def test_an_account_that_an_extension_wrote(field: str, *, inside: bool) -> None:
    """Found on the entry or in its message, trimmed and lower-cased; the same object for all events that have it."""
    lines = [user("u1", None, "a"), user("u2", "u1", "b", at=7), user("u3", "u2", "c", at=8)]
    for value in lines[:2]:
        (value["message"] if inside else value)[field] = " Ana@X.com "
    found = heard(parse(file_of(HEADER, *lines)))
    assert [h.thread.account for h in found] == ["ana@x.com", "ana@x.com", None]
    assert found[0].thread is found[1].thread
    assert {h.thread.thread_id for h in found} == {HEADER["id"]}


@pytest.mark.parametrize("value", ["unknown", " ", 5, None, ["a"]])
def test_what_is_no_account_is_none(value: object) -> None:
    line = user("u1", None, "a")
    line["account"], line["accountId"] = value, "team-b"
    assert heard(parse(file_of(HEADER, line)))[0].thread.account == "team-b"


def test_a_configured_account_stands_where_the_file_names_none() -> None:
    assert heard(parse(file_of(HEADER, user("u1", None, "a")), account="ana"))[0].thread.account == "ana"


def test_a_session_of_version_4() -> None:
    """E6: entries as in version 3, facts as session_info and label; records and lanes say nothing."""
    elements = parse(
        file_of(
            {"kind": "header", "version": 4, "id": "v4", "createdAt": 1774531333251, "cwd": "/srv"},
            {"kind": "lane", "seq": 1, "lane": "main", "leafId": None},
            {
                "kind": "entry",
                "lane": "main",
                "seq": 2,
                **user("u1", None, "Stock the pond"),
                "timestamp": 1774531334251,
            },
            {"kind": "record", "lane": "main", "type": "message", "id": "r", "seq": 3, "timestamp": 1774531335251},
            {"kind": "fact", "seq": 4, "fact": "name", "name": "carp"},
            {"kind": "fact", "seq": 5, "fact": "label", "targetId": "u1", "label": "l"},
        )
    )
    assert texts(elements) == ["Stock the pond", "session name: carp"]
    assert skipped(elements) == [("empty", "lane", 1), ("empty", "record", 1), ("empty", "label", 1)]
    thread = heard(elements)[0].thread
    assert (thread.thread_id, thread.workspace) == ("v4", "/srv")
    assert events(elements)[0].times[0] == 1774531334251
    assert rejected(elements) == []
    assert warned(elements) == []


def test_version_1_has_no_ids() -> None:
    """E37, E38: no ids, parents or branches; old header members are tolerated."""
    header = {"type": "session", "id": "v1", "timestamp": "2025-11-20T10:00:00.000Z", "cwd": "/w", "branchedFrom": "/x"}
    header |= {"provider": "heron", "modelId": "mid", "thinkingLevel": "low"}
    compaction = entry("compaction", summary="S", firstKeptEntryIndex=1, tokensBefore=9)
    found = events(parse(file_of(header, user(None, None, "a"), assistant(None, None, [call("x", {})]), compaction)))
    assert [(e.message_id, e.parent_message_id, e.branch_id) for e in found] == [(None, None, None)] * 3


def test_an_image_beside_words() -> None:
    event = only(user("u1", None, [{"type": "text", "text": "Look"}, image()]))
    assert (event.text, event.labels) == ("Look", ["image"])
    assert [(a.kind, a.mime_type, a.size_bytes) for a in event.attachments] == [("image", "image/png", 8)]
