"""Conversation trees: which messages were said one after another, and which stand on branches left behind.

The live leaf is followed upwards, so that parents alone are enough. Every walk keeps what it has seen: a ring of
parents ends it. Nothing recurses, and all of it is linear. Source: cases 7, 13, 19, 23, 25, 61.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from adapters.contract import Element, Heard, Rejected, Skipped, Warned
from schemas.captured import CapturedEvent, RawTime, Thread

Age = Callable[[str], float]
"""Gives a node's time for comparing, minus infinity without one."""

Item = CapturedEvent | Skipped | Rejected | Warned
"""What a node gives: events without their place in the tree, and what gives none."""

INFERRED: Final = "time-inferred"

MILLISECONDS_FROM: Final = 10**11
"""A number from here on is milliseconds since 1970, as everywhere in this project."""

_FARTHEST: Final = 10**15
"""Beyond this no number is a time, and arithmetic might overflow."""


@dataclass(frozen=True, slots=True)
class Line:
    """Nodes one after another, and the node that the first hangs on: None at a root."""

    nodes: list[str]
    parent: str | None = None


@dataclass(slots=True)
class Tree:
    """All lines of a conversation, the live one first; `cyclic` says that parents formed a ring somewhere."""

    lines: list[Line] = field(default_factory=list)
    cyclic: bool = False


def time_rank(raw: object) -> float:
    """Give a raw time as seconds since 1970, for comparing with others; minus infinity when it is none.

    Only order is asked here. What a time means is for the normaliser.
    """
    if isinstance(raw, str):
        return _text_rank(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not -_FARTHEST < raw < _FARTHEST:
        return -math.inf
    return raw / 1000 if abs(raw) >= MILLISECONDS_FROM else float(raw)


def _text_rank(raw: str) -> float:
    try:
        moment = datetime.fromisoformat(raw.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass  # no ISO time: perhaps a number
    try:
        return time_rank(float(raw))
    except ValueError:
        return -math.inf


def grow(parents: Mapping[str, str | None], leaf: object, age: Age) -> Tree:
    """Arrange nodes into lines.

    `parents` names each node's parent, None or any unknown name for a root; its order is that of the file. A `leaf`
    that is no node stands for the newest leaf (of equals the later in the file). Of a branch's children the oldest
    goes on with it, the others open branches: so it stays when the conversation grows.
    """
    tree = Tree()
    if not parents:
        return tree
    node = leaf if isinstance(leaf, str) and leaf in parents else _newest_leaf(parents, age)
    placed: set[str] = set()
    nodes: list[str] = []
    above: str | None = node
    while above is not None and above in parents and above not in placed:
        placed.add(above)
        nodes.append(above)
        above = parents[above]
    tree.cyclic = above in placed
    nodes.reverse()
    tree.lines.append(Line(nodes))
    if len(nodes) < len(parents):
        _Branches(parents, age, placed, tree).run()
    return tree


def _newest_leaf(parents: Mapping[str, str | None], age: Age) -> str:
    inner = set(parents.values())
    leaves = [node for node in parents if node not in inner] or list(parents)
    order = {node: place for place, node in enumerate(leaves)}
    return max(leaves, key=lambda node: (age(node), order[node]))


class _Branches:
    """Places what the live line leaves: from its nodes and from other roots downwards."""

    def __init__(self, parents: Mapping[str, str | None], age: Age, placed: set[str], tree: Tree) -> None:
        self.parents = parents
        self.age = age
        self.placed = placed
        self.tree = tree
        self.left = [node for node in parents if node not in placed]
        self.children: dict[str | None, list[str]] = {}

    def run(self) -> None:
        left = set(self.left)
        tops = []
        for node in self.left:
            parent = self.parents[node]
            if parent in left:
                self.children.setdefault(parent, []).append(node)
            else:
                tops.append(node)
        for top in self._by_age(tops):
            self._descend(top)
        for node in self.left:  # what no top leads to hangs on a ring
            if node not in self.placed:
                self.tree.cyclic = True
                self._descend(self._top_of_ring(node))

    def _by_age(self, nodes: list[str]) -> list[str]:
        return sorted(nodes, key=lambda node: (self.age(node), node)) if len(nodes) > 1 else nodes

    def _top_of_ring(self, node: str) -> str:
        seen: set[str] = set()
        while node not in seen:
            seen.add(node)
            above = self.parents[node]
            if above is None:  # never in a ring; the type cannot say so
                break
            node = above
        return node

    def _descend(self, top: str) -> None:
        pending = [top]
        while pending:
            first = pending.pop()
            parent = self.parents[first]
            line = Line([], parent if parent in self.placed else None)  # not so at a root, and inside a ring
            node: str | None = first
            while node is not None and node not in self.placed:
                self.placed.add(node)
                line.nodes.append(node)
                below = self._by_age([child for child in self.children.get(node, ()) if child not in self.placed])
                pending.extend(reversed(below[1:]))
                node = below[0] if below else None
            if line.nodes:
                self.tree.lines.append(line)


def weave(
    tree: Tree,
    items: Callable[[str], Sequence[Item]],
    thread: Thread,
    nearby: tuple[RawTime, ...] = (),
) -> list[Element]:
    """Give the elements of a conversation: the live line in order, then each branch.

    `items` gives a node's own. An event's parent is the nearest message or tool event above, whatever nodes between
    give no event; reasoning and hidden context are passed over, so that parents do not depend on what is shown. A
    branch bears the message id of its first event of that kind.
    """
    forks: dict[str, tuple[str | None, RawTime | None]] = {}
    keep = len(tree.lines) > 1
    woven: list[Element] = []
    for number, line in enumerate(tree.lines):
        said, time = forks.get(line.parent, (None, None)) if line.parent is not None else (None, None)
        branch: list[Element] = []
        add = branch.append
        for node in line.nodes:
            below = said
            for item in items(node):
                if type(item) is not CapturedEvent:
                    add(item)  # type: ignore[arg-type]  # the other three are elements
                    continue
                item.parent_message_id = said
                if times := item.times:
                    time = times[0]
                    add(Heard(thread, item, nearby))
                else:
                    add(_undated(thread, item, nearby, time, inferred=number > 0))
                if item.type != "status":
                    below = item.message_id
            said = below
            if keep:
                forks[node] = (said, time)
        if number:
            _name_branch(branch)
        woven += branch
    return woven


def _undated(
    thread: Thread, event: CapturedEvent, nearby: tuple[RawTime, ...], time: RawTime | None, *, inferred: bool
) -> Heard:
    """Place an event without time: on a branch, what stands before it in the record is not what was said before it."""
    if time is None:
        return Heard(thread, event, nearby)
    if inferred:
        event.times = [time]
        event.labels = [*event.labels, INFERRED]
    return Heard(thread, event, (time, *nearby))


def _name_branch(elements: Sequence[Element]) -> None:
    events = [element.event for element in elements if isinstance(element, Heard)]
    first = next((event for event in events if event.type != "status"), events[0] if events else None)
    if first is not None:
        for event in events:
            event.branch_id = first.message_id
