"""Promise: branches and parents are decided while a session file grows, on any tree that a file can hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pi import HEADER, assistant, entry, events, file_of, line, message, parse, parse_lines, texts, user


def places(*lines: dict) -> dict[str, tuple[str | None, str | None]]:
    """Give branch and parent of each event by its entry's id."""
    return {e.message_id: (e.branch_id, e.parent_message_id) for e in events(parse(file_of(HEADER, *lines)))}


def said(entry_id: str | None, parent: str | None) -> dict:
    return user(entry_id, parent, f"words of {entry_id}")


def test_two_writers_on_one_file() -> None:
    """B17: the second child of one parent opens a branch, its descendants inherit it, lines keep their order."""
    lines = [said("a", None), said("b", "a"), said("c", "b"), said("d", "b"), said("e", "c"), said("f", "d")]
    assert places(*lines) == {
        "a": (None, None),
        "b": (None, "a"),
        "c": (None, "b"),
        "d": ("d", "b"),
        "e": (None, "c"),
        "f": ("d", "d"),
    }
    assert texts(parse(file_of(HEADER, *lines))) == [f"words of {i}" for i in "abcdef"]


def test_going_on_with_an_older_branch_stays_on_it() -> None:
    """E35: three lines of descent, the second taken up again after the third."""
    lines = [
        said("a", None),
        said("b", "a"),
        said("c", "a"),
        said("d", "a"),
        said("e", "c"),
        said("f", "b"),
        said("g", "e"),
    ]
    found = places(*lines)
    assert {key: branch for key, (branch, _) in found.items()} == {
        "a": None, "b": None, "c": "c", "d": "d", "e": "c", "f": None, "g": "c",
    }  # fmt: skip


def test_a_branch_off_a_branch_is_named_after_itself() -> None:
    lines = [said("a", None), said("b", "a"), said("c", "a"), said("d", "c"), said("e", "c")]
    assert places(*lines)["e"] == ("e", "c")


def test_what_gives_no_event_is_bridged() -> None:
    """The parent is the nearest earlier entry that gave an event; what splits below bookkeeping splits that entry."""
    lines = [
        said("a", None),
        entry("label", "l1", "a", targetId="a"),
        entry("usage", "l2", "l1"),
        said("b", "l2"),
        message("user", "x", "l1", content=None),
        said("c", "x"),
    ]
    assert places(*lines) == {"a": (None, None), "b": (None, "a"), "c": ("c", "a")}


def test_entries_below_a_bridged_root_have_no_parent() -> None:
    lines = [entry("thinking_level_change", "t", None), said("a", "t"), said("b", "t")]
    assert places(*lines) == {"a": (None, None), "b": ("b", None)}


def test_hidden_entries_are_bridged_until_they_are_shown() -> None:
    lines = [said("a", None), message("system", "s", "a", content="prompt"), said("b", "s")]
    assert places(*lines)["b"] == (None, "a")
    shown = events(parse(file_of(HEADER, *lines), include_hidden=True))
    assert [e.parent_message_id for e in shown] == [None, "a", "s"]


def test_a_rejected_entry_is_bridged() -> None:
    """An entry that cannot be read costs itself, not the place of what hangs on it."""
    broken = {"type": "message", "id": "x", "parentId": "a", "timestamp": "t", "message": 5}
    assert places(said("a", None), broken, said("b", "x"))["b"] == (None, "a")


def test_all_events_of_an_entry_stand_in_one_place() -> None:
    lines = [
        said("a", None),
        said("b", "a"),
        assistant("c", "a", [{"type": "text", "text": "t"}, {"type": "toolCall"}]),
    ]
    found = [e for e in events(parse(file_of(HEADER, *lines))) if e.message_id.startswith("c")]
    assert [(e.message_id, e.branch_id, e.parent_message_id) for e in found] == [("c", "c", "a"), ("c#1", "c", "a")]


def test_what_has_no_id_is_no_root() -> None:
    """A fact of version 4 before the first entry: nothing can descend from it."""
    fact = {"kind": "fact", "seq": 1, "fact": "name", "name": "carp"}
    assert places(fact, said("a", None), said("b", "a")) == {None: (None, None), "a": (None, None), "b": (None, "a")}


def test_a_second_root_opens_a_branch() -> None:
    """E34: several roots are legal; `/tree` back to the start writes one."""
    assert places(said("a", None), said("b", "a"), said("c", None), said("d", "c")) == {
        "a": (None, None),
        "b": (None, "a"),
        "c": ("c", None),
        "d": ("c", "c"),
    }


@pytest.mark.parametrize("parent", ["nowhere", "c", 5, "", ["a"], "x" * 300])
def test_a_parent_that_is_unknown_leaves_the_entry_where_the_file_is(parent: object) -> None:
    """E34: orphans, entries that name themselves, and parents that are no ids stay on the branch before them."""
    value = said("c", None)
    value["parentId"] = parent
    assert places(said("a", None), said("b", "a"), said("x", "a"), value)["c"] == ("x", None)


def test_a_missing_parent_member_is_no_second_root() -> None:
    value = said("c", None)
    del value["parentId"]
    assert places(said("a", None), value)["c"] == (None, None)


def test_a_cycle_is_read_in_file_order() -> None:
    """B7: an id used again, its parent its own child: all texts, each once, in bounded time."""
    lines = [said("a", None), said("b", "a"), user("a", "b", "third"), user("z", "z", "own parent")]
    found = events(parse(file_of(HEADER, *lines)))
    assert [e.text for e in found] == ["words of a", "words of b", "third", "own parent"]
    assert [e.parent_message_id for e in found] == [None, "a", "b", None]


def test_a_repeated_beginning_does_not_split_the_line() -> None:
    """B6: entries written twice are known, and what follows hangs where it did."""
    lines = [said("I", None), said("C", "I")]
    assert places(*lines, HEADER, *lines, said("E", "C"))["E"] == (None, "C")


def test_a_deep_chain_needs_no_stack() -> None:
    """E34: 10,000 entries below one another, every other one without an event."""
    lines = [said("0", None)]
    for number in range(1, 10_000):
        parent = str(number - 1)
        lines.append(said(str(number), parent) if number % 2 else entry("label", str(number), parent))
    found = places(*lines)
    assert len(found) == 5_001
    assert found["9999"] == (None, "9997")


def test_a_header_and_an_entry_may_share_an_id() -> None:
    """2.2: the header's id is no entry's parent."""
    assert places(said("a", HEADER["id"]))["a"] == (None, None)
    assert places(said("a", None), said("b", "a"), said(HEADER["id"], "a"))[HEADER["id"]] == (HEADER["id"], "a")


def test_a_version_1_line_among_others_stays_on_the_branch() -> None:
    found = events(
        parse(file_of(HEADER, said("a", None), said("b", "a"), said("c", "a"), said(None, None), said("d", "c")))
    )
    assert [e.branch_id for e in found] == [None, None, "c", "c", "c"]


@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from([None, *range(8)]), st.booleans()), max_size=30))
def test_any_tree_is_placed_as_a_walk_from_the_roots_would(edges: list[tuple[int, int | None, bool]]) -> None:
    """On trees without repeated ids, streaming gives what a model with the whole file at hand gives."""
    lines, shown, parents = [], {}, {}
    for entry_id, parent, has_words in edges:
        if entry_id in parents or parent == entry_id or (parent is not None and parent not in parents):
            continue
        parents[entry_id], shown[entry_id] = parent, has_words
        name, above = f"e{entry_id}", None if parent is None else f"e{parent}"
        lines.append(said(name, above) if has_words else entry("label", name, above))
    model: dict[str, tuple[str | None, str | None]] = {}
    children: dict[int | None, int] = {}
    for entry_id, parent in parents.items():
        above = parent
        if not shown[entry_id]:
            continue
        while above is not None and not shown[above]:
            above = parents[above]
        first = children.setdefault(above, 0) == 0
        children[above] += 1
        inherited = None if above is None else model[f"e{above}"][0]
        model[f"e{entry_id}"] = (inherited if first else f"e{entry_id}", None if above is None else f"e{above}")
    assert places(*lines) == model


@given(st.lists(st.integers(0, 14), min_size=14, max_size=14))
def test_a_restart_gives_the_same_places(parents: list[int]) -> None:
    """E35: a new parser, fed the lines before an offset again, goes on as the old one would have."""
    lines = [line(HEADER), line(said("n0", None))]
    lines += [line(said(f"n{n}", f"n{parent % n}")) for n, parent in enumerate(parents, start=1)]
    assert [events(given) for given in parse_lines(lines)] == [events(given) for given in parse_lines(lines)]
