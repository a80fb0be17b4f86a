"""Promise: what a Codex rollout says in one, two or three forms is told once, and what is said twice is told twice."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.codex import (
    NAMELESS,
    answered,
    answered_event,
    answered_item,
    asked,
    asked_event,
    asked_item,
    completed,
    event,
    item,
    meta,
    parse,
    row,
    turn,
)
from tests.support.sessions import file_of, ids, seen, skipped, texts, threads, told

ASKED = (asked, asked_event, asked_item)
ANSWERED = (answered, answered_event, answered_item)
SUBSETS = [tuple(f for f, taken in zip(range(3), bits, strict=True) if taken) for bits in product((0, 1), repeat=3)][1:]
START = event("task_started")
END = event("task_complete", last_agent_message="Greased.")


@pytest.mark.parametrize("forms", SUBSETS)
def test_a_prompt_and_its_reply_in_any_forms(forms: tuple[int, ...]) -> None:
    """B33: each once, whichever forms a version writes."""
    lines = [turn("t"), *[ASKED[f]("Greased?") for f in forms], *[ANSWERED[f]("Greased.") for f in forms], END]
    elements = parse(file_of(meta(), *lines))
    assert told(elements) == [("message", "user", "Greased?"), ("message", "assistant", "Greased.")]
    assert seen(elements) == len(lines)


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_the_order_of_forms_changes_nothing(first: list[int], second: list[int]) -> None:
    """Whichever comes first is told; its id is the same."""
    lines = [turn("t"), *[ASKED[f]("Greased?") for f in first], *[ANSWERED[f]("Greased.") for f in second]]
    elements = parse(file_of(meta(), *lines))
    assert texts(elements) == ["Greased?", "Greased."]
    assert ids(elements) == ids(parse(file_of(meta(), turn("t"), asked("Greased?"), answered("Greased."))))


@pytest.mark.parametrize("mark", [lambda n: [turn(f"t{n}")], lambda n: [START], lambda n: [START, turn(f"t{n}")]])
@pytest.mark.parametrize("second", SUBSETS)
@pytest.mark.parametrize("first", SUBSETS)
def test_the_same_words_in_two_turns_are_two_events(first: tuple[int, ...], second: tuple[int, ...], mark) -> None:
    """Even when a newer version goes on with a file and writes other forms."""
    lines = []
    for number, forms in enumerate((first, second)):
        lines += [*mark(number), *[ASKED[f]("go on") for f in forms], *[ANSWERED[f]("Done.") for f in forms], END]
    elements = parse(file_of(meta(), *lines))
    assert texts(elements) == ["go on", "Done.", "go on", "Done."]
    assert len(set(ids(elements))) == 4


@pytest.mark.parametrize("forms", SUBSETS)
def test_the_same_words_in_two_turns_of_a_file_without_marks_of_turns(forms: tuple[int, ...]) -> None:
    lines = []
    for _ in range(2):
        lines += [*[ASKED[f]("go on") for f in forms], *[ANSWERED[f]("Done.") for f in forms]]
    assert texts(parse(file_of(meta(), *lines))) == ["go on", "Done.", "go on", "Done."]


@pytest.mark.parametrize("forms", SUBSETS)
def test_the_same_words_twice_in_one_turn_are_two_events(forms: tuple[int, ...]) -> None:
    lines = [ANSWERED[f]("Wait.") for _ in range(2) for f in forms]
    elements = parse(file_of(meta(), START, turn("t"), asked("Look"), *lines))
    assert texts(elements) == ["Look", "Wait.", "Wait."]
    assert len(set(ids(elements))) == 3


@pytest.mark.parametrize("place", range(5))
def test_a_mark_of_a_turn_may_stand_anywhere_around_its_prompt(place: int) -> None:
    """Before, between or after the forms of the prompt: it is one prompt, in the first turn and in a later one."""
    prompt = [START, asked("Greased?"), asked_event("Greased?"), asked_item("Greased?")]
    before = [turn("t0"), asked("Greased?"), asked_event("Greased?"), answered("No."), answered_event("No."), END]
    for earlier, count in (([], 1), (before, 2)):
        lines = [*earlier, *prompt[:place], turn("t"), *prompt[place:], answered("Yes."), answered_event("Yes.")]
        assert texts(parse(file_of(meta(), *lines))).count("Greased?") == count


def test_a_prompt_sent_again_after_it_was_stopped_is_two_events() -> None:
    lines = [START, turn("a"), asked("go"), asked_event("go"), event("turn_aborted", reason="interrupted")]
    lines += [START, turn("b"), asked("go"), asked_event("go"), answered("Gone.")]
    assert texts(parse(file_of(meta(), *lines))) == ["go", "interrupted", "go", "Gone."]


def test_forms_differ_in_white_space_only() -> None:
    """Events join the parts of a message without a line end between."""
    parts = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
    assert texts(parse(file_of(meta(), asked(parts), asked_event("onetwo")))) == ["one\ntwo"]


def test_a_prompt_with_images_is_one_in_all_forms() -> None:
    parts = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    named = asked_event("What is this?", images=[], local_images=["/srv/eel.png"])
    assert texts(parse(file_of(meta(), asked(parts), named))) == ["What is this?"]
    assert texts(parse(file_of(meta(), named, asked(parts)))) == ["What is this?"]
    alone = asked_event("", local_images=["/srv/eel.png"])
    assert texts(parse(file_of(meta(), asked(parts[:3]), alone))) == ["[image: image/png]"]


@pytest.mark.parametrize("forms", SUBSETS)
def test_a_command_that_the_person_ran_is_one_in_all_forms(forms: tuple[int, ...]) -> None:
    """Wherever the mark of its turn stands; run again, it is told again."""
    run = "<user_shell_command>\n<command>\nls\n</command>\n<result>\nquay\n</result>\n</user_shell_command>"
    lines = [ASKED[f](run) for f in forms]
    for place in range(len(lines) + 1):
        elements = parse(file_of(meta(), *lines[:place], turn("t"), *lines[place:]))
        assert told(elements) == [("tool_result", "tool", "$ ls\nquay")]
    assert len(set(ids(parse(file_of(meta(), turn("t"), *lines, *lines))))) == 2


def test_reasoning_in_two_forms_is_told_once_part_by_part() -> None:
    """An item holds all parts, events come one for each."""
    summary = [{"type": "summary_text", "text": part} for part in ("**First**", "**Second**")]
    lines = [
        event("agent_reasoning", text="**First**"),
        event("agent_reasoning", text="**Second**"),
        item("reasoning", summary=summary, encrypted_content="gAAAA"),
        completed("Reasoning", summary_text=["**First**", "**Second**"]),
    ]
    elements = parse(file_of(meta(), turn("t"), *lines))
    assert told(elements) == [("status", "assistant", "**First**"), ("status", "assistant", "**Second**")]
    assert seen(elements) == 7  # of the item and of the completed item both parts


def test_a_compaction_is_told_once() -> None:
    marked = [row("compacted", {"message": ""}), event("context_compacted")]
    assert texts(parse(file_of(meta(), *marked))) == texts(parse(file_of(meta(), *marked[::-1])))
    summed = [row("compacted", {"message": "The dam was surveyed.", "replacement_history": [asked("x")]})]
    assert told(parse(file_of(meta(), *summed))) == [("summary", "system", "The dam was surveyed.")]


def fork(*new: dict) -> bytes:
    """A fork: its own header, its parent's lines with new times, then its own."""
    parent = [turn("t1", at=30), asked("one", at=30), asked_event("one", at=30), answered("two", at=30)]
    return file_of(meta("fork", at=30, forked_from_id="parent"), meta("parent", at=30), *parent, *new)


PARENT = file_of(meta("parent"), turn("t1"), asked("one"), asked_event("one"), answered("two"))


def test_a_fork_repeats_its_parents_lines_with_their_ids() -> None:
    """Whatever their times: first sight wins downstream. The first header is the file's identity."""
    forked = parse(fork(START, turn("t2", at=40), asked("three", at=40)), NAMELESS)
    assert texts(forked) == ["fork of session parent", "one", "two", "three"]
    assert ids(forked)[1:3] == ids(parse(PARENT, NAMELESS))
    assert set(threads(forked)) == {"fork"}
    assert ("duplicate", "session_meta", 1) in skipped(forked)


def test_parent_and_fork_go_on_with_the_same_words() -> None:
    """They are two events, for their turns are two."""
    in_parent = parse(PARENT + file_of(turn("t2"), asked("go on")), NAMELESS)
    in_fork = parse(fork(turn("t3", at=40), asked("go on", at=40)), NAMELESS)
    assert ids(in_parent)[-1] != ids(in_fork)[-1]


def test_a_fork_of_a_session_without_turn_ids() -> None:
    """Its lines are known by the session that the copied header names."""
    parent = [asked("one"), answered("two")]
    forked = [meta("fork", forked_from_id="parent"), meta("parent"), *parent, turn("t9"), asked("one")]
    copies = parse(file_of(*forked), NAMELESS)
    assert ids(copies)[1:3] == ids(parse(file_of(meta("parent"), *parent), NAMELESS))
    assert len(set(ids(copies))) == 4


def test_the_same_words_in_two_sessions_are_two_events() -> None:
    for mark in ([], [turn(None)], [event("task_started", turn_id="1")]):
        one, other = (parse(file_of(meta(s), *mark, asked("yes")), NAMELESS) for s in ("a", "b"))
        assert ids(one) != ids(other)
