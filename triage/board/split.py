"""Splits a board's pending tasks into what to unlock now and what can wait.

Source: formats/session-triage-origin.md 1.4, E47; unlike the origin it also obeys the `priority` member.
"""

import re
from collections.abc import Iterable
from typing import Final

from triage.board.read import Task

PENDING: Final = frozenset({"planned", "in-progress", "blocked"})
FINISHED: Final = frozenset({"completed", "cancelled"})

_URGENT_TEXT: Final = re.compile(r"\[P0\]", re.IGNORECASE)
_PROMOTION: Final = re.compile(r"-promotion$", re.IGNORECASE)


def is_pending(task: Task) -> bool:
    """Whether a task is still to do; the spelling of the status must be exact, as in the origin."""
    return task.status in PENDING


def is_unlock_now(task: Task) -> bool:
    """Whether a pending task should be unlocked now: blocked, promoted, or of priority p0."""
    return (
        task.status == "blocked"
        or (task.priority or "").strip().lower() == "p0"
        or bool(_PROMOTION.search(task.id))
        or bool(_URGENT_TEXT.search(task.description))
    )


def unknown_statuses(tasks: Iterable[Task]) -> dict[str, int]:
    """Count the statuses that the board does not know, such as `in_progress`; the empty one is called `(none)`."""
    counts: dict[str, int] = {}
    for task in tasks:
        if task.status not in PENDING | FINISHED:
            name = task.status or "(none)"
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))
