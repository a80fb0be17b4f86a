"""Where the messages of a PAM conversation stand among each other, from links that may contradict themselves.

Source: sections 1 and 6.2, 6.3 of the PAM page: both directions count, `parent_id` wins, a parent that is not there
makes a root, a ring breaks at its earliest message; without any link the order of the file is the order of the words.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from adapters.exports.pam_shapes import Link
from adapters.exports.tree import Tree, grow, time_rank

Place = tuple[int, int]
"""Where a message's bytes begin in its file, and how many they are."""

_NO_TIME: Final = -math.inf


@dataclass(slots=True)
class Links:
    """The messages of one conversation by node: their ids, or something that tells equal and missing ids apart."""

    places: dict[str, Place] = field(default_factory=dict)
    dangling: dict[str, str] = field(default_factory=dict)
    """By node: the parent that its message names and that is not there."""
    repeated: int = 0
    missing_children: int = 0
    rings: int = 0
    _parents: dict[str, str | None] = field(default_factory=dict)
    _listed: dict[str, str] = field(default_factory=dict)
    _ages: dict[str, float] = field(default_factory=dict)

    def add(self, link: Link, place: Place) -> None:
        """Take the next message of the file."""
        node = self._node(link.id)
        self.places[node] = place
        self._ages[node] = time_rank(link.created_at)
        self._parents[node] = link.parent_id if isinstance(link.parent_id, str) and link.parent_id else None
        for child in link.children_ids if isinstance(link.children_ids, list) else ():
            if isinstance(child, str) and child:
                self._listed.setdefault(child, node)

    def _node(self, name: object) -> str:
        known = isinstance(name, str) and bool(name)
        self.repeated += known and name in self.places
        node = name if isinstance(name, str) and known else "\0"
        number = len(self.places)
        while node in self.places or node == "\0":
            node = f"{name if known else ''}\0{number}"
            number += 1
        return node

    def tree(self) -> Tree:
        """Arrange the messages: the line to the newest leaf is the live one, since PAM does not name it."""
        parents = self._joined()
        self._break_rings(parents)
        return grow(parents, None, lambda node: self._ages.get(node, _NO_TIME))

    def _joined(self) -> dict[str, str | None]:
        self.missing_children = sum(child not in self.places for child in self._listed)
        if not self._listed and not any(self._parents.values()):
            nodes = list(self.places)
            return dict(zip(nodes, [None, *nodes], strict=False))
        parents: dict[str, str | None] = {}
        for node, named in self._parents.items():
            if named is not None and named not in self.places:
                self.dangling[node] = named
                named = None  # noqa: PLW2901 - it names nothing
            parents[node] = named if named is not None else self._listed.get(node)
        return parents

    def _break_rings(self, parents: dict[str, str | None]) -> None:
        seen: dict[str, int] = {}
        positions = {node: number for number, node in enumerate(parents)}
        for number, start in enumerate(parents):
            path: list[str] = []
            node: str | None = start
            while node is not None and node not in seen:
                seen[node] = number
                path.append(node)
                node = parents[node]
            if node is not None and seen[node] == number:
                ring = path[path.index(node) :]
                parents[min(ring, key=lambda each: (self._ages[each], positions[each]))] = None
                self.rings += 1
