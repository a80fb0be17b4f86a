"""The tree of one session while its file grows: branches and bridged parents.

Entries that give an event are shown; the others are bridged, so that a parent is always something a reader can see.
The first shown child goes on with its parent's line, each later one opens a branch named after itself, descendants
inherit. Nothing is ever walked, so cycles, repeated ids and deep chains cost nothing. Source: section 2.6 and the rule
of 2.9; B6, B7, B17, E34 to E37.
"""

from msgspec import UNSET

Place = tuple[str | None, str | None]
"""Where a shown entry stands: its branch (None on the first line of descent) and its nearest shown ancestor."""


class Tree:
    """Places the entries of one file, in file order; one dict slot an entry: about 120 bytes with its id."""

    def __init__(self) -> None:
        self._branch_of: dict[str, str | None] = {}
        self._leaves: set[str] = set()
        self._bridged: dict[str, str | None] = {}
        self._rooted: set[str] = set()
        self._current: str | None = None

    def show(self, entry_id: str | None, parent_id: object, thread_id: str = "") -> Place:
        """Place an entry that gives an event; `parent_id` is None for a root and UNSET where there is none.

        The first root of each thread that a file holds begins that thread's first line of descent.
        """
        known, parent = self._ancestor(entry_id, parent_id)
        if not known:
            branch = self._current
        elif parent is None:
            branch = entry_id or self._current if thread_id in self._rooted else None
        elif parent in self._leaves:
            self._leaves.discard(parent)
            branch = self._branch_of[parent]
        else:
            branch = entry_id or self._branch_of[parent]
        return self._placed(entry_id, branch, thread_id), parent

    def attach(self, entry_id: str | None, parent_id: object, thread_id: str = "") -> Place:
        """Place an entry that gives an event and is no turn of its own, such as the result of one of several calls.

        It opens no branch: several of them may hang on one parent, and any of them may be gone on from.
        """
        known, parent = self._ancestor(entry_id, parent_id)
        branch = self._current if not known or parent is None else self._branch_of[parent]
        if parent is not None:
            self._leaves.discard(parent)
        return self._placed(entry_id, branch, thread_id), parent

    def _placed(self, entry_id: str | None, branch: str | None, thread_id: str) -> str | None:
        self._current = branch
        if entry_id is not None:  # nothing can descend from what has no id, such as a title before the first message
            self._rooted.add(thread_id)
            self._branch_of[entry_id] = branch
            self._leaves.add(entry_id)
            if entry_id in self._bridged:
                del self._bridged[entry_id]
        return branch

    def bridge(self, entry_id: str | None, parent_id: object) -> None:
        """Note an entry that gives none: its children hang on its nearest shown ancestor."""
        known, parent = self._ancestor(entry_id, parent_id)
        if not known:
            return  # its children will find their parent unknown, as it did
        if parent is not None:
            self._current = self._branch_of[parent]
        if entry_id is not None and entry_id not in self._branch_of:
            self._bridged[entry_id] = parent

    def _ancestor(self, entry_id: str | None, parent_id: object) -> tuple[bool, str | None]:
        """Find the nearest shown ancestor (None: a root), and whether the parent is known at all."""
        if parent_id is None:
            # Without an id nothing says that this is a tree: version 1 is one line.
            return entry_id is not None, None
        if parent_id is UNSET or not isinstance(parent_id, str) or parent_id == entry_id:
            return False, None
        if parent_id in self._branch_of:
            return True, parent_id
        if parent_id in self._bridged:
            return True, self._bridged[parent_id]
        return False, None
