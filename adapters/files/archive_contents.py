"""What a folder or archive held that was not read, in words that help: counted, named up to a bound, with hints."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

MAX_NAMED: Final = 10
"""Names of one kind that are told; the rest is counted."""

_PAGES: Final = (".html", ".htm")
_TAKEOUT: Final = ("Takeout", "archive_browser.html")


@dataclass(slots=True)
class Names:
    """Some names, and how many there were."""

    some: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, name: str) -> None:
        """Count a name, and keep it while there is room."""
        self.count += 1
        if len(self.some) < MAX_NAMED:
            self.some.append(name)

    def __str__(self) -> str:
        more = f" and {self.count - len(self.some)} more" if self.count > len(self.some) else ""
        return ", ".join(self.some) + more


@dataclass(slots=True)
class Contents:
    """Comes last of a folder or archive.

    `passed_over` counts by kind what is never read: media, links, empty files. `unknown` is text that no reader knows,
    `sidecars` JSON of that kind in which nobody says anything, `unread` what might have been wanted and cannot be
    unpacked, by reason; `failure` says why nothing can be.
    """

    path: Path
    kind: Literal["folder", "ZIP archive"]
    recognised: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)
    unknown: Names = field(default_factory=Names)
    sidecars: Names = field(default_factory=Names)
    unread: dict[str, Names] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    failure: str | None = None
    takeout: bool = False
    pages: int = 0

    def name_of(self, path: Path) -> str:
        """Give a member's name inside of this."""
        return str(path.relative_to(self.path)) if path.is_relative_to(self.path) else str(path)

    def see(self, path: Path) -> None:
        """Notice a member's name, for hints alone."""
        self.takeout = self.takeout or bool({*path.parts} & {*_TAKEOUT})
        self.pages += path.suffix.lower() in _PAGES

    def cannot_read(self, path: Path, why: str) -> None:
        """Count a member that cannot be unpacked."""
        reasons = self.unread if why in self.unread or len(self.unread) < MAX_NAMED else self.unread | {why: Names()}
        reasons.setdefault(why, Names()).add(self.name_of(path))

    def put_aside(self, path: Path, why: str) -> None:
        """Count an archive inside that holds nothing known, or cannot be opened."""
        self.passed_over["archives inside"] += 1
        if len(self.remarks) < MAX_NAMED:
            self.remarks.append(f"{self.name_of(path)}: {why}")

    @property
    def error(self) -> str | None:
        """What is missing of it, and what to do; None when all that is known could be read."""
        if self.failure:
            return self.failure
        faults = [f"{names}: {why}" for why, names in self.unread.items()]
        if not self.recognised and (self._held or self.kind != "folder") and not faults:
            faults.append(f"nothing in it is recognised as any known kind; {self._hint()}")
        return "; ".join(faults) or None

    @property
    def warnings(self) -> list[str]:
        """What a person may want to know although nothing failed."""
        found = [f"not recognised as any known kind: {self.unknown}"] if self.unknown.count else []
        if self.sidecars.count:
            found.append(f"no conversations in it, as far as can be seen: {self.sidecars}")
        return [*found, *self.remarks]

    @property
    def _held(self) -> bool:
        return bool(self.passed_over or self.unknown.count or self.sidecars.count)

    def _hint(self) -> str:
        if not self._held:
            return "it is empty"
        if self.takeout:
            return "it is a Google Takeout without Gemini: choose My Activity, and in it Gemini Apps, as JSON"
        if self.passed_over["archives inside"]:
            return "the warnings say what became of the archives inside"
        if not self.unknown.count:
            what = "settings and the like" if self.sidecars.count else "attachments"
            return f"it holds {what} only; the conversations are in another part of the export"
        if self.pages == self.unknown.count:
            return "it holds web pages only; ask for the export again as JSON"
        return "see the kinds that are read in the documentation"
