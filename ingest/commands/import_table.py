"""What `session-ingest import` tells people: a line a file, what could not be read and why, and what to do next."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas.report import FileReport, ImportReport

MAX_FILES: Final = 40
"""Files named one by one; the rest is summed up (`--report` names all)."""

MAX_FAULTS: Final = 10
"""Rejections named one by one."""


def print_reports(report: ImportReport, console: Console, target: str) -> None:
    """Print the summary of an import."""
    if not report.files:
        console.print("There is no file to import in what was named.")
        return
    console.print(_table(report))
    faults = [fault for file in report.files for fault in _faults(file)]
    for fault in faults[:MAX_FAULTS]:
        console.print(Text(fault), soft_wrap=True, highlight=False)
    if len(faults) > MAX_FAULTS:
        console.print(f"… and {len(faults) - MAX_FAULTS} more; --report FILE names all.", highlight=False)
    totals = report.totals
    files = "1 file" if totals.files == 1 else f"{totals.files} files"
    words = f"{totals.emitted} new events of {totals.seen} seen, in {files} → {target}"
    console.print(Text(words), soft_wrap=True, highlight=False)


def _table(report: ImportReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    # 79 columns together; names give way before numbers do.
    table.add_column("file", max_width=24, overflow="ellipsis", no_wrap=True)
    table.add_column("kind", max_width=16, overflow="ellipsis", no_wrap=True)
    for name in ("chats", "new", "empty", "hidden", "known", "bad"):
        table.add_column(name, justify="right", no_wrap=True, min_width=5)
    # Files that need a look come first, so that they are among those named.
    shown = sorted(report.files, key=lambda file: not file.failed)[:MAX_FILES]
    for file in shown:
        table.add_row(Text(file.path.rpartition("/")[2]), Text(file.recognised_as or "unknown"), *_numbers(file))
    if len(report.files) > len(shown):
        table.add_row(f"… and {len(report.files) - len(shown)} more", "")
    return table


def _numbers(file: FileReport) -> list[str]:
    numbers = (file.conversations, file.emitted, file.empty, file.hidden, file.duplicate, file.rejected_count)
    return [str(number or "·") for number in numbers]


def _faults(file: FileReport) -> list[str]:
    faults = [f"{file.path}: {file.error}"] if file.error else []
    faults += [f"{item.where}: {item.why}" for item in file.rejected]
    left = ", ".join(f"{count} {kind}" for kind, count in file.passed_over.items())
    return faults + file.warnings + ([f"{file.path}: left alone: {left}"] if left else [])
