"""What `session-ingest import --report` writes, and the drop folder lays beside each file it has taken.

For each file seen = emitted + empty + hidden + duplicate + rejected: nothing is dropped in silence.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field
from msgspec.json import encode
from msgspec.json import format as indent_json

MAX_LISTED: Final = 10_000
"""Rejections and warnings that a report names one by one: a file of garbage must not fill memory; more are counted."""


class RejectedItem(Struct, rename="camel", omit_defaults=True):
    """One element that could not be read: where it stands, and why."""

    where: str
    why: str


class FileReport(Struct, rename="camel", kw_only=True):
    """What became of one file's elements.

    `recognised_as` is null when no reader knows the file; `error` says why the file as a whole could not be read;
    `skipped` tells of which kind the empty, hidden and duplicate elements were. Each member of an archive that a reader
    knows is a file; the archive itself has a report when there is more to tell, and `passed_over` counts by kind what
    in it is never read.
    """

    path: str
    recognised_as: str | None = None
    conversations: int = 0
    seen: int = 0
    emitted: int = 0
    empty: int = 0
    hidden: int = 0
    duplicate: int = 0
    rejected: list[RejectedItem] = field(default_factory=list)
    rejected_not_listed: int = 0
    warnings: list[str] = field(default_factory=list)
    warnings_not_listed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    passed_over: dict[str, int] = field(default_factory=dict)
    error: str | None = None

    @property
    def rejected_count(self) -> int:
        """All rejected elements, listed or not."""
        return len(self.rejected) + self.rejected_not_listed

    @property
    def failed(self) -> bool:
        """Whether something of this file is missing from what was emitted."""
        return bool(self.error or self.rejected_count)

    def emit(self, count: int = 1) -> None:
        """Count events that were written."""
        self.seen += count
        self.emitted += count

    def skip(self, outcome: str, what: str, count: int = 1) -> None:
        """Count elements that rightly gave no event; `outcome` is empty, hidden or duplicate."""
        self.seen += count
        setattr(self, outcome, getattr(self, outcome) + count)
        self.skipped[what] = self.skipped.get(what, 0) + count

    def reject(self, where: str, why: str) -> None:
        """Count an element that could not be read, and name it while there is room."""
        self.seen += 1
        if len(self.rejected) < MAX_LISTED:
            self.rejected.append(RejectedItem(where, why))
        else:
            self.rejected_not_listed += 1

    def warn(self, message: str) -> None:
        """Tell something that cost no element."""
        if len(self.warnings) < MAX_LISTED:
            self.warnings.append(message)
        else:
            self.warnings_not_listed += 1


class Totals(Struct, rename="camel", kw_only=True):
    """Sums over all files of a run."""

    files: int = 0
    unrecognised: int = 0
    failed: int = 0
    conversations: int = 0
    seen: int = 0
    emitted: int = 0
    empty: int = 0
    hidden: int = 0
    duplicate: int = 0
    rejected: int = 0
    warnings: int = 0


class ImportReport(Struct, rename="camel", kw_only=True):
    """The report of one import."""

    files: list[FileReport]
    totals: Totals

    @property
    def failed(self) -> bool:
        """Whether anything was rejected or failed: exit status 1."""
        return any(file.failed for file in self.files)


def summarise(files: Iterable[FileReport]) -> ImportReport:
    """Join the files' reports and their sums."""
    files = list(files)
    totals = Totals(
        files=len(files),
        unrecognised=sum(file.recognised_as is None for file in files),
        failed=sum(file.error is not None for file in files),
        rejected=sum(file.rejected_count for file in files),
        warnings=sum(len(file.warnings) + file.warnings_not_listed for file in files),
    )
    for name in ("conversations", "seen", "emitted", "empty", "hidden", "duplicate"):
        setattr(totals, name, sum(getattr(file, name) for file in files))
    return ImportReport(files=files, totals=totals)


def to_json(report: ImportReport | FileReport) -> bytes:
    """Encode a report for people and scripts: indented, one newline at its end."""
    return indent_json(encode(report), indent=2) + b"\n"
