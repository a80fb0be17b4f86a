"""Any set of parents gives every node once, the live line first, in linear time and without recursion."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Heard, Skipped
from adapters.exports.tree import grow, time_rank, weave
from schemas.captured import CapturedEvent, Thread

NO_TIME = -math.inf
THREAD = Thread(provider="x", thread_id="t")


def lines(parents: dict, leaf: object = None, ages: dict | None = None) -> list[tuple[list[str], str | None]]:
    tree = grow(parents, leaf, lambda node: (ages or {}).get(node, NO_TIME))
    return [(line.nodes, line.parent) for line in tree.lines]


def test_the_live_line_is_walked_upwards_from_its_leaf() -> None:
    assert lines({"r": None, "a": "r", "b": "a"}, "b") == [(["r", "a", "b"], None)]


def test_the_order_of_the_file_means_nothing() -> None:
    assert lines({"b": "a", "r": None, "a": "r"}, "b") == [(["r", "a", "b"], None)]


@pytest.mark.parametrize("leaf", [None, "gone", 7, [], {"a": 1}])
def test_without_a_known_leaf_the_newest_is_live(leaf: object) -> None:
    parents = {"r": None, "new": "r", "old": "r"}
    assert lines(parents, leaf, {"new": 9, "old": 5})[0] == (["r", "new"], None)


def test_of_leaves_of_one_age_the_later_in_the_file_is_live() -> None:
    assert lines({"r": None, "a": "r", "b": "r"})[0] == (["r", "b"], None)


def test_a_branch_hangs_on_its_fork_and_goes_on_with_its_oldest_child() -> None:
    parents = {"r": None, "live": "r", "q": "r", "young": "q", "aged": "q", "tail": "aged"}
    assert lines(parents, "live", {"young": 9, "aged": 5}) == [
        (["r", "live"], None),
        (["q", "aged", "tail"], "r"),
        (["young"], "q"),
    ]


def test_other_roots_are_branches_of_nothing() -> None:
    assert lines({"a": None, "b": "a", "c": "unknown", "d": "c"}, "b") == [(["a", "b"], None), (["c", "d"], None)]


@pytest.mark.parametrize("parents", [{"a": "a"}, {"a": "c", "b": "a", "c": "b"}, {"a": "b", "b": "a", "c": "b"}])
def test_a_ring_ends_and_is_told(parents: dict) -> None:
    tree = grow(parents, list(parents)[-1], lambda _: NO_TIME)
    assert tree.cyclic
    assert sorted(node for line in tree.lines for node in line.nodes) == sorted(parents)


def test_a_ring_beside_the_live_line_is_read_once() -> None:
    tree = grow({"r": None, "x": "z", "y": "x", "z": "y", "w": "x"}, "r", lambda _: NO_TIME)
    assert tree.cyclic
    assert [line.nodes for line in tree.lines] == [["r"], ["x", "w"], ["y", "z"]]


def test_a_hundred_thousand_levels_need_no_recursion() -> None:
    parents = {str(n): str(n - 1) for n in range(100_000)}
    assert len(lines(parents, "99999")[0][0]) == 100_000
    assert len(lines({**parents, "other": None}, "other")) == 2


def test_no_nodes_give_no_lines() -> None:
    assert lines({}) == []


NODES = st.sampled_from([str(n) for n in range(12)])


@given(st.dictionaries(NODES, st.none() | NODES, max_size=12), NODES | st.none())
def test_every_node_is_placed_once_and_below_its_parent(parents: dict, leaf: str | None) -> None:
    tree = grow(parents, leaf, len)
    placed = [node for line in tree.lines for node in line.nodes]
    assert sorted(placed) == sorted(parents)
    before: set[str] = set()
    for line in tree.lines:
        for above, node in zip([line.parent, *line.nodes], line.nodes, strict=False):
            first_of_root = above is None
            assert first_of_root or above in before
            assert first_of_root or parents[node] == above
            before.add(node)


@given(st.dictionaries(NODES, st.none() | NODES, max_size=12), st.randoms())
def test_branches_do_not_depend_on_the_order_of_the_file(parents: dict, random) -> None:
    """As long as the leaf is told and nothing is a ring."""
    if not parents:
        return
    leaf = min(parents)
    first = grow(parents, leaf, int)
    if first.cyclic:
        return
    keys = list(parents)
    random.shuffle(keys)
    assert grow({key: parents[key] for key in keys}, leaf, int) == first


def event(key: str, kind: str = "message", times: list | None = None) -> CapturedEvent:
    return CapturedEvent(id=key, type=kind, role="user", text=key, message_id=key, times=times or [])


def woven(parents: dict, leaf: str, items: dict, nearby: tuple = ()) -> list:
    tree = grow(parents, leaf, lambda _: NO_TIME)
    return list(weave(tree, lambda node: items.get(node, [event(node, times=[1])]), THREAD, nearby))


def places(elements: list) -> list[tuple]:
    return [(e.event.id, e.event.parent_message_id, e.event.branch_id) for e in elements if isinstance(e, Heard)]


def test_nodes_without_events_are_bridged() -> None:
    parents = {"r": None, "a": "r", "b": "a", "c": "b"}
    elements = woven(parents, "c", {"r": [], "b": [Skipped("empty", "x")]})
    assert places(elements) == [("a", None, None), ("c", "a", None)]
    assert isinstance(elements[1], Skipped)


def test_reasoning_is_nobodys_parent() -> None:
    """So parents are the same whether hidden context is shown or not."""
    elements = woven({"a": None, "b": "a", "c": "b"}, "c", {"b": [event("b", "status", [1])]})
    assert places(elements) == [("a", None, None), ("b", "a", None), ("c", "a", None)]


def test_a_branch_bears_the_id_of_its_first_message() -> None:
    parents = {"a": None, "live": "a", "t": "a", "b": "t", "c": "b"}
    elements = woven(parents, "live", {"t": [event("t", "status", [1])]})
    assert places(elements) == [
        ("a", None, None), ("live", "a", None), ("t", "a", "b"), ("b", "a", "b"), ("c", "b", "b"),
    ]  # fmt: skip


def test_a_branch_of_reasoning_alone_bears_its_own_id() -> None:
    elements = woven({"a": None, "live": "a", "t": "a"}, "live", {"t": [event("t", "status", [1])]})
    assert places(elements)[-1] == ("t", "a", "t")


def test_an_undated_event_of_a_branch_takes_the_time_above_it_in_the_tree() -> None:
    parents = {"a": None, "live": "a", "b": "a"}
    elements = woven(
        parents, "live", {"a": [event("a", times=[5])], "live": [event("live", times=[9])], "b": [event("b")]}
    )
    assert (elements[-1].event.times, elements[-1].event.labels) == ([5], ["time-inferred"])


def test_an_undated_event_of_the_live_line_is_left_to_the_normaliser_with_its_neighbour() -> None:
    elements = woven({"a": None, "b": "a"}, "b", {"a": [event("a", times=[5])], "b": [event("b")]}, (1, 2))
    assert (elements[1].event.times, elements[1].nearby) == ([], (5, 1, 2))


@pytest.mark.parametrize(
    ("raw", "seconds"),
    [(12.5, 12.5), ("12.5", 12.5), ("1970-01-01T00:00:01Z", 1), ("1970-01-01T01:00:01+01:00", 1), (1.5e12, 1.5e9),
     ("1970-01-01 00:00:01", 1), (None, NO_TIME), ("yesterday", NO_TIME), (True, NO_TIME), ([], NO_TIME),
     (10**400, NO_TIME), (math.nan, NO_TIME), ("nan", NO_TIME), ("1e999", NO_TIME)],
)  # fmt: skip
def test_ranks_order_times_of_any_form(raw: object, seconds: float) -> None:
    assert time_rank(raw) == seconds
