"""Promise: Claude Code lines keep their identity in copies, and their place in threads, branches and sub-agents."""

import io
from pathlib import Path

import pytest

from adapters.sessions.claude_code_parser import ClaudeCodeParser, Head, find_head
from tests.support.claude_code import (
    AGENT,
    AGENT_FILE,
    FILE,
    NAMELESS,
    SESSION,
    assistant,
    call,
    entry,
    parse,
    result,
    said,
    user,
    uuid,
)
from tests.support.sessions import events, feed, file_of, heard, ids, line, skipped, texts, threads

OTHER = "9f8e7d6c-1111-4222-8333-444455556666"
CONVERSATION = [
    user("a", None, "Draw the weir"),
    assistant("b", "a", "Drawing.", call("Ink", {"colour": "blue"})),
    user("c", "b", [result("drawn")]),
    assistant("d", "c", "Drawn."),
]


def places(*lines: dict, path: Path = FILE) -> dict[str, tuple[str | None, str | None]]:
    """Give branch and parent of each event by its text."""
    return {e.text: (e.branch_id, e.parent_message_id) for e in events(parse(file_of(*lines), path))}


def test_a_resumed_session_copies_lines_with_their_ids() -> None:
    """The copies name the new session or the old one; their ids are those of the originals, so first sight wins."""
    new = [user("e", "d", "And the lamp?"), assistant("f", "e", "Lit.")]
    for session in (SESSION, OTHER):
        copied = [{**value, "sessionId": session} for value in CONVERSATION]
        resumed = parse(file_of(*copied, *[{**value, "sessionId": OTHER} for value in new]), Path(f"{OTHER}.jsonl"))
        assert ids(resumed)[:-2] == ids(parse(file_of(*CONVERSATION)))
        assert threads(resumed) == [session] * 5 + [OTHER] * 2


def test_the_thread_is_the_lines_session_whatever_the_file_is_called() -> None:
    assert threads(parse(file_of(*CONVERSATION), Path(f"{OTHER}.jsonl"))) == [SESSION] * 5
    assert threads(parse(file_of(*CONVERSATION), NAMELESS)) == [SESSION] * 5


def without_session(*lines: dict) -> list[dict]:
    return [{key: part for key, part in value.items() if key != "sessionId"} for value in lines]


def test_a_line_without_a_session_belongs_to_the_one_before_or_to_the_files_name() -> None:
    first, second = without_session(*CONVERSATION[:2])
    assert threads(parse(file_of(first))) == [SESSION]
    assert threads(parse(file_of(CONVERSATION[0], second), Path(f"{OTHER}.jsonl"))) == [SESSION] * 3


def test_a_file_without_any_session_has_an_id_of_its_content() -> None:
    lines = without_session(*CONVERSATION)
    (thread,) = set(threads(parse(file_of(*lines), NAMELESS)))
    assert thread in set(threads(parse(file_of(*lines), Path("moved.jsonl"))))
    assert thread not in threads(parse(file_of(*lines[1:]), NAMELESS))


def test_a_session_that_the_next_lines_name_is_found_first() -> None:
    title = {"type": "summary", "summary": "The dam", "leafUuid": uuid("x")}
    parser = ClaudeCodeParser(NAMELESS, find_head=lambda: Head(SESSION))
    assert threads(feed(parser, file_of(title, CONVERSATION[0]))) == [SESSION] * 2


def test_first_lines_without_a_time_have_the_first_time_that_follows() -> None:
    """Titles come first and have none; when the file was written last is further off, and may be a copy's time."""
    title = {"type": "summary", "summary": "The dam", "leafUuid": uuid("x")}
    content = file_of(title, title | {"leafUuid": uuid("y")}, b"{broken", *CONVERSATION)
    head = find_head(io.BytesIO(content))
    assert head == Head(SESSION, CONVERSATION[0]["timestamp"])
    elements = heard(feed(ClaudeCodeParser(NAMELESS, 1e9, find_head=lambda: head), content))
    assert [each.nearby[0] for each in elements[:2]] == [CONVERSATION[0]["timestamp"]] * 2
    untimed = feed(ClaudeCodeParser(NAMELESS, 1e9, find_head=lambda: Head(SESSION)), file_of(title))
    assert [each.nearby for each in heard(untimed)] == [(1e9,)]


def test_the_same_line_again_is_a_duplicate() -> None:
    """B6, B23."""
    elements = parse(file_of(*CONVERSATION, *CONVERSATION))
    assert texts(elements) == texts(parse(file_of(*CONVERSATION)))
    assert sum(count for outcome, _, count in skipped(elements) if outcome == "duplicate") == 5


def test_a_uuid_used_again_with_other_words_is_another_event() -> None:
    """B7: nothing is lost, and reading it again gives the same ids."""
    lines = [user("a", None, "one"), user("b", "a", "two"), user("a", "b", "three"), user("a", "b", "three")]
    elements = parse(file_of(*lines))
    assert texts(elements) == ["one", "two", "three"]
    assert len(set(ids(elements))) == 3
    assert ids(elements) == ids(parse(file_of(*lines)))


def test_key_order_and_spaces_change_no_id() -> None:
    turned = [line(dict(reversed(value.items()))).replace(b": ", b":  ") for value in CONVERSATION]
    assert ids(parse(file_of(*turned))) == ids(parse(file_of(*CONVERSATION)))


def test_lines_without_a_uuid_are_known_by_words_and_time() -> None:
    queued = entry("attachment", None, attachment={"type": "queued_command", "prompt": "go on"})
    once, twice = parse(file_of(queued)), parse(file_of(queued, {**queued, "cwd": "/elsewhere"}))
    assert len(set(ids(twice))) == 2
    assert ids(once) == ids(twice)[:1]
    assert ids(once) == ids(parse(file_of({**queued, "sessionId": OTHER})))
    assert ids(once) != ids(parse(file_of({**queued, "timestamp": "2026-01-02T03:05:00.000Z"})))


def test_lines_without_uuid_and_time_are_told_apart_by_their_session() -> None:
    value = user(None, None, "yes")
    del value["timestamp"]
    assert ids(parse(file_of(value))) != ids(parse(file_of({**value, "sessionId": OTHER})))


TITLES = [
    {"type": "summary", "summary": "The dam", "leafUuid": uuid("x")},
    {"type": "custom-title", "customTitle": "Weir", "sessionId": SESSION},
    entry("attachment", None, attachment={"type": "queued_command", "prompt": "go on"}),
]


@pytest.mark.parametrize("before", [TITLES[:1], TITLES[1:2], TITLES])
def test_what_has_no_uuid_is_no_root(before: list[dict]) -> None:
    """Titles stand before the first message; the conversation behind them is the first line of descent."""
    elements = parse(file_of(*before, *CONVERSATION))
    assert {e.branch_id for e in events(elements)} == {None}
    assert ids(elements)[-5:] == ids(parse(file_of(*CONVERSATION)))


def test_the_first_root_of_each_session_in_a_file_is_no_branch() -> None:
    """A file may hold two sessions; the second root of one of them is a branch."""
    other = {**user("o", None, "other"), "sessionId": OTHER}
    assert places(user("a", None, "one"), other, user("b", None, "two")) == {
        "one": (None, None),
        "other": (None, None),
        "two": (uuid("b"), None),
    }


def test_a_rewind_opens_a_branch() -> None:
    """The second child of a line opens a branch named after itself; its descendants inherit."""
    lines = [
        user("a", None, "one"),
        assistant("b", "a", "two"),
        user("c", "b", "three"),
        user("d", "b", "other three"),
        assistant("e", "d", "four"),
        assistant("f", "c", "still"),
    ]
    assert places(*lines) == {
        "one": (None, None),
        "two": (None, uuid("a")),
        "three": (None, uuid("b")),
        "other three": (uuid("d"), uuid("b")),
        "four": (uuid("d"), uuid("d")),
        "still": (None, uuid("c")),
    }


@pytest.mark.parametrize("last", ["r1", "r2"])
def test_results_of_parallel_calls_are_no_branches(last: str) -> None:
    """Each hangs on its own call's line; whichever of them is gone on from, the conversation is one line."""
    lines = [
        user("a", None, "both"),
        assistant("b1", "a", call("Gauge", {}, "t1"), message_id="m"),
        assistant("b2", "b1", call("Lamp", {}, "t2"), message_id="m"),
        user("r2", "b2", [result("off", "t2")]),
        user("r1", "b1", [result("0.41", "t1")]),
        assistant("c", last, "Done."),
    ]
    assert {branch for branch, _ in places(*lines).values()} == {None}


def test_what_gives_no_event_is_bridged() -> None:
    lines = [
        user("a", None, "one"),
        entry("progress", "p", "a"),
        user("m", "p", "hook", isMeta=True),
        assistant("b", "m", "two"),
    ]
    assert places(*lines)["two"] == (None, uuid("a"))


def test_a_parent_that_is_nowhere_stays_on_the_line_before() -> None:
    lines = [user("a", None, "one"), user("c", "nowhere", "three"), user("d", "d", "own parent")]
    assert {branch for branch, _ in places(*lines).values()} == {None}


def test_a_compaction_opens_no_branch() -> None:
    """The chain begins anew below the boundary; the logical parent says where it goes on."""
    boundary = entry(
        "system", "x", None, subtype="compact_boundary", logicalParentUuid=uuid("b"), content="Conversation compacted"
    )
    lines = [
        user("a", None, "one"),
        assistant("b", "a", "two"),
        boundary,
        user("s", "x", "It goes on.", isCompactSummary=True),
        assistant("c", "s", "three"),
    ]
    found = places(*lines)
    assert found["It goes on."] == (None, uuid("b"))
    assert found["three"] == (None, uuid("s"))


def side(value: dict, agent: str | None = AGENT) -> dict:
    return {**value, "isSidechain": True, **({} if agent is None else {"agentId": agent})}


def test_a_sub_agents_file_is_a_branch_of_its_parents_thread() -> None:
    """Its prompts were written by a model: the role of its words is agent, that of its tools is tool."""
    lines = [
        side(user("s1", None, "Survey the dam")),
        side(assistant("s2", "s1", call("Look", {}))),
        side(user("s3", "s2", [result("stone")])),
        side(assistant("s4", "s3", "It is of stone.")),
    ]
    elements = parse(file_of(*lines), AGENT_FILE)
    assert [(e.role, e.branch_id) for e in events(elements)] == [
        ("agent", AGENT), ("agent", AGENT), ("tool", AGENT), ("agent", AGENT),
    ]  # fmt: skip
    assert set(threads(elements)) == {SESSION}
    assert events(elements)[3].parent_message_id == uuid("s3")


def test_a_sub_agents_lines_that_say_less_are_known_by_the_files_place() -> None:
    value = side(user("s1", None, "Survey"), None)
    for missing in ({"sessionId"}, {"sessionId", "isSidechain"}):
        elements = parse(file_of({key: part for key, part in value.items() if key not in missing}), AGENT_FILE)
        assert (threads(elements), events(elements)[0].branch_id) == ([SESSION], AGENT)
        assert events(elements)[0].role == "agent"


def test_sub_agents_within_a_file_do_not_disturb_its_lines() -> None:
    lines = [
        user("a", None, "one"),
        assistant("b", "a", call("Task", {"prompt": "x"})),
        side(user("s1", None, "Survey")),
        side(user("t1", None, "Count"), "b2"),
        side(assistant("s2", "s1", "Surveyed.")),
        user("c", "b", [result("Surveyed.")]),
        assistant("d", "c", "two"),
    ]
    found = [(e.text, e.branch_id) for e in events(parse(file_of(*lines)))]
    assert found == [
        ("one", None), ('Task {"prompt":"x"}', None), ("Survey", AGENT), ("Count", "b2"), ("Surveyed.", AGENT),
        ("Surveyed.", None), ("two", None),
    ]  # fmt: skip


def test_a_side_chain_of_older_versions_is_a_branch_named_after_its_first_line() -> None:
    lines = [user("a", None, "one"), side(user("s1", None, "Survey"), None), side(assistant("s2", "s1", "Done"), None)]
    found = [(e.role, e.branch_id) for e in events(parse(file_of(*lines)))]
    assert found == [("user", None), ("agent", uuid("s1")), ("agent", uuid("s1"))]


def test_a_line_without_a_time_has_times_nearby() -> None:
    first, second = user("a", None, "one"), user("b", "a", "two")
    del second["timestamp"]
    elements = parse(file_of(first, second))
    assert (elements[1].event.times, elements[1].nearby) == ([], (first["timestamp"], 1767400000.0))


def test_a_deep_chain_needs_no_stack() -> None:
    """E34."""
    lines = [user(f"n{n}", f"n{n - 1}" if n else None, [said(str(n))]) for n in range(10_000)]
    assert {e.branch_id for e in events(parse(file_of(*lines)))} == {None}
