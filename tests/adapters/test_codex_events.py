"""Promise: each line of a Codex rollout gives the events that the mapping says, and nothing nobody said."""

import json

import pytest

from tests.support.codex import (
    FILE,
    NAMELESS,
    SESSION,
    answered,
    asked,
    asked_event,
    completed,
    event,
    iso,
    item,
    meta,
    parse,
    row,
    turn,
)
from tests.support.sessions import events, file_of, heard, ids, seen, skipped, texts, threads, told, warned


def only(*lines: dict):
    (one,) = events(parse(file_of(meta(), *lines)))
    return one


def test_words_of_a_person_and_of_the_model() -> None:
    elements = parse(file_of(meta(), turn("t"), asked("Greased?", at=8), answered("On Friday.", at=9)))
    assert told(elements) == [("message", "user", "Greased?"), ("message", "assistant", "On Friday.")]
    first, second = events(elements)
    assert (first.times, first.model, second.model) == ([iso(8)], None, "heron-deep-3")
    thread = heard(elements)[0].thread
    assert (thread.provider, thread.thread_id, thread.workspace) == ("codex", SESSION, "/srv/sluice")
    assert skipped(elements) == [("empty", "turn_context", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
        "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>",
        "\n<subagent_notification>\n{}\n</subagent_notification>",
        "<skill>\n<name>weir</name>\n</skill>",
    ],
)
def test_context_that_the_program_put_in_is_hidden(text: str) -> None:
    for line in (asked(text), asked_event(text), completed("UserMessage", content=[{"type": "text", "text": text}])):
        elements = parse(file_of(meta(), line))
        assert (texts(elements), [outcome for outcome, _, _ in skipped(elements)]) == ([], ["hidden"])
    (shown,) = events(parse(file_of(meta(), asked(text)), include_hidden=True))
    assert (shown.type, shown.role, shown.labels) == ("status", "system", ["hidden"])


def test_context_beside_a_persons_words_is_left_out() -> None:
    parts = [{"type": "input_text", "text": t} for t in ("<environment_context>x</environment_context>", "Ring it")]
    assert only(asked(parts)).text == "Ring it"


def test_an_event_of_another_kind_is_no_message() -> None:
    """Of 2025: the program's own context as an event."""
    assert skipped(parse(file_of(meta(), asked_event("x", kind="environment_context")))) == [
        ("hidden", "user_message", 1)
    ]


@pytest.mark.parametrize("role", ["developer", "system"])
def test_instructions_are_hidden(role: str) -> None:
    line = item("message", role=role, content=[{"type": "input_text", "text": "You keep the sluice."}])
    assert skipped(parse(file_of(meta(), line))) == [("hidden", f"message/{role}", 1)]


def test_reasoning_is_a_status_and_the_encrypted_is_never_read() -> None:
    line = item(
        "reasoning",
        summary=[{"type": "summary_text", "text": "Hm."}],
        content=[{"type": "reasoning_text", "text": "Raw."}],
        encrypted_content="gAAAA",
    )
    elements = parse(file_of(meta(), line))
    assert told(elements) == [("status", "assistant", "Hm."), ("status", "assistant", "Raw.")]
    assert events(elements)[0].labels == ["reasoning"]
    only_encrypted = item("reasoning", summary=[], content=None, encrypted_content="gAAAA")
    assert skipped(parse(file_of(meta(), only_encrypted))) == [("empty", "reasoning", 1)]


@pytest.mark.parametrize(
    ("line", "tool", "text"),
    [
        (
            item("function_call", name="shell", arguments='{ "b": 1, "a": ["ls"] }', call_id="c1"),
            "shell",
            'shell {"a":["ls"],"b":1}',
        ),
        (item("function_call", name="shell", arguments="{broken", call_id="c1"), "shell", "shell {broken"),
        (item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="c1"), "apply_patch", None),
        (item("local_shell_call", action={"type": "exec", "command": ["ls"]}, call_id="c1"), "local_shell", None),
        (item("web_search_call", action={"type": "search", "query": "eels"}, id="c1"), "web_search", None),
    ],
)
def test_calls(line: dict, tool: str, text: str | None) -> None:
    one = only(turn("t"), line)
    assert (one.type, one.role, one.tool_name, one.tool_call_id, one.model) == (
        "tool_call", "assistant", tool, "c1", "heron-deep-3",
    )  # fmt: skip
    assert one.text == text if text else one.text.startswith(f"{tool} ")


@pytest.mark.parametrize(
    ("output", "text", "labels"),
    [
        ("ok", "ok", []),
        ("", "", []),
        (None, "", []),
        ({"content": "ok", "success": False}, "ok", ["error"]),
        ({"body": "ok"}, "ok", []),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}], "a",
         ["image"]),
        (json.dumps({"output": "no such file\n", "metadata": {"exit_code": 2}}), "no such file\n", ["error", "exit-2"]),
        (json.dumps({"output": "ok", "metadata": {"exit_code": 0}}), "ok", []),
        ('{"output": 5}', '{"output": 5}', []),
        ('{"output": broken', '{"output": broken', []),
        ("Exit code: 1\nWall time: 0.1 s\nOutput:\nx", "Exit code: 1\nWall time: 0.1 s\nOutput:\nx",
         ["error", "exit-1"]),
        ("Process exited with code 0\nx", "Process exited with code 0\nx", []),
    ],
)  # fmt: skip
def test_results(output: object, text: str, labels: list[str]) -> None:
    """E22, E28: a result is kept without words; what failed is labelled."""
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    for kind in ("function_call_output", "custom_tool_call_output"):
        one = events(parse(file_of(meta(), call, item(kind, call_id="c1", output=output))))[1]
        assert (one.type, one.role, one.text, one.labels) == ("tool_result", "tool", text, labels)
        assert (one.tool_name, one.tool_call_id) == ("shell", "c1")


@pytest.mark.parametrize(
    ("output", "text"),
    [([{"type": "input_text", "text": "on"}, {"type": "hologram"}], "on"), (5, ""), ({"level": 0.4}, "")],
)
def test_parts_of_a_result_that_nobody_knows_are_counted(output: object, text: str) -> None:
    """E26: the result and its other parts are kept."""
    elements = parse(file_of(meta(), item("function_call_output", call_id="c1", output=output)))
    assert [one.text for one in events(elements)] == [text]
    assert skipped(elements) == [("empty", "unknown block", 1)]


def test_a_call_written_again_is_a_duplicate() -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    elements = parse(file_of(meta(), call, call, {**call, "payload": {**call["payload"], "call_id": "c2"}}))
    assert (len(ids(elements)), skipped(elements)) == (2, [("duplicate", "function_call", 1)])


def test_a_command_that_the_person_ran() -> None:
    text = (
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\nweir.py\n</result>\n"
        "</user_shell_command>"
    )
    one = only(asked(text))
    assert (one.type, one.role, one.labels) == ("tool_result", "tool", ["operator-shell"])
    assert one.text == "$ ls\nExit code: 0\nOutput:\nweir.py"


@pytest.mark.parametrize(
    ("line", "text", "labels"),
    [
        (event("turn_aborted", reason="interrupted", turn_id="t"), "interrupted", ["aborted"]),
        (event("turn_aborted"), "aborted", ["aborted"]),
        (event("error", message="stream closed"), "stream closed", ["error"]),
        (event("error", message="429 Too Many Requests"), "429 Too Many Requests", ["error", "rate-limit"]),
        (event("stream_error", message=None), "error", ["error"]),
        (event("thread_rolled_back", num_turns=2), "rolled back 2 turns", ["rolled-back"]),
        (event("thread_rolled_back", num_turns="x"), "rolled back", ["rolled-back"]),
        (event("context_compacted"), "context compacted", ["compaction"]),
        (completed("Plan", text="1. Dig"), "1. Dig", ["plan"]),
    ],
)
def test_statuses(line: dict, text: str, labels: list[str]) -> None:
    one = only(line)
    assert (one.type, one.text, one.labels) == ("status", text, labels)


def test_what_one_agent_tells_another() -> None:
    content = [{"type": "input_text", "text": "Survey the dam"}]
    lines = [
        item("agent_message", author="/root", recipient="/root/surveyor", content=content),
        row("inter_agent_communication", {"author": "/root", "content": "Survey the dam"}),
    ]
    one = only(*lines)
    assert (one.type, one.role, one.author_id, one.text) == ("message", "agent", "/root", "Survey the dam")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (event("token_count", info=None), "token_count"),
        (event("task_complete", last_agent_message="x"), "task_complete"),
        (event("exec_command_end", call_id="c", aggregated_output="x"), "exec_command_end"),
        (completed("CommandExecution", command=["ls"]), "item_completed"),
        (item("ghost_snapshot", ghost_commit={}), "ghost_snapshot"),
        (item("compaction", encrypted_content="x"), "compaction"),
        (row("world_state", {}), "world_state"),
        ({"record_type": "state"}, "state"),
        (row("telepathy", {}), "unknown line type"),
        (event("telepathy"), "unknown event type"),
        (item("telepathy"), "unknown item type"),
        (completed("Telepathy"), "unknown completed item"),
        (asked([{"type": "telepathy"}]), "unknown block"),
        (asked(None), "message/user"),
        (asked(""), "message/user"),
    ],
)
def test_what_says_nothing_is_counted(line: dict, what: str) -> None:
    """What nobody knows is counted as such, so that a change of the format shows."""
    assert skipped(parse(file_of(meta(), line))) == [("empty", what, 1)]


def test_an_unknown_block_does_not_cost_the_others() -> None:
    elements = parse(file_of(meta(), asked([{"type": "telepathy"}, {"type": "input_text", "text": "words"}])))
    assert (texts(elements), seen(elements)) == (["words"], 2)


def test_a_sub_agents_session_names_its_parent() -> None:
    """Its own id is its thread, although `session_id` is its parent's; its prompts were written by a model."""
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "parent", "depth": 1}}}
    lines = [turn("t"), asked("Survey"), answered("Done."), item("function_call_output", call_id="c", output="x")]
    for fields in (
        {"source": spawn, "session_id": "parent"},
        {"source": {"subagent": "review"}, "session_id": "parent"},
        {"thread_source": "subagent", "parent_thread_id": "parent"},
    ):
        elements = parse(file_of(meta("child", **fields), *lines), NAMELESS)
        assert told(elements)[:3] == [
            ("status", "system", "sub-agent of session parent"),
            ("message", "agent", "Survey"),
            ("message", "agent", "Done."),
        ]
        assert events(elements)[3].role == "tool"
        assert (set(threads(elements)), events(elements)[0].labels) == ({"child"}, ["sub-agent"])


def test_items_without_an_envelope() -> None:
    """Files of 2025: a header without a type, items as lines, without times of their own."""
    lines = [
        {"id": "old", "timestamp": "2025-05-07T17:24:21.000Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Ring"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "rung"},
    ]
    elements = parse(file_of(*lines), NAMELESS)
    assert told(elements) == [
        ("message", "user", "Ring"),
        ("tool_call", "assistant", "shell {}"),
        ("tool_result", "tool", "rung"),
    ]
    first = heard(elements)[0]
    assert (first.thread.thread_id, first.event.times, first.nearby[0]) == ("old", [], "2025-05-07T17:24:21.000Z")


def test_a_session_without_a_header_is_named_after_its_file() -> None:
    elements = parse(file_of(asked("Ring")), FILE)
    assert (threads(elements), len(warned(elements))) == ([SESSION], 1)
    nameless = parse(file_of(asked("Ring")), NAMELESS)
    assert threads(nameless) == threads(parse(file_of(asked("Ring", at=50)), NAMELESS)) != [SESSION]
