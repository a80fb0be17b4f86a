"""What readers meet and nobody described: counted over a whole file, and told at its end."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from adapters.contract import Warned

MAX_KINDS: Final = 200
"""Kinds told apart in one file; a provider adds a few a year, more are somebody's garbage."""

_MAX_NAME_CHARS: Final = 80


class Unknown:
    """Counts of unknown kinds of things by name, bounded."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def note(self, what: str, name: object) -> None:
        """Count one thing, `what` saying of which sort it is and `name` how its provider calls it."""
        key = f"{what} {name!r:.{_MAX_NAME_CHARS}}"
        self._counts[key if key in self._counts or len(self._counts) < MAX_KINDS else f"{what} of other names"] += 1

    def remarks(self, path: Path) -> Iterator[Warned]:
        """Tell each kind once."""
        for kind, count in self._counts.items():
            yield Warned(str(path), f"{count} times unknown {kind}: kept if it holds words where others have them")
