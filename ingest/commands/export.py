"""`session-ingest export`: the events of the log as canonical JSON Lines, or as a PAM bundle."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from ingest.export_pam import STORE_NAME, BundleWriter, occupied
from ingest.export_selection import Reading, Selection
from ingest.log.open import open_log
from ingest.settings import Settings
from ingest.whole_files import STDOUT, whole_file, whole_folder

MAX_FAULTS: Final = 10
"""Damaged records named one by one."""


class ExportTargetError(ValueError):
    """What was named cannot be written to without loss; the message says why."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What a person asked for on the command line: one of `output` and `pam`."""

    output: str | None
    pam: Path | None
    selection: Selection
    owner: str


def run_export(request: ExportRequest, settings: Settings, console: Console) -> bool:
    """Export, and tell people on `console`; gives whether every record of the log could be read.

    Raises `ExportTargetError`, `ingest.log.contract.LogError`, and `OSError` when the output cannot be written. The log
    is opened for reading only, and a daemon that runs is not disturbed.
    """
    if request.pam and (trouble := occupied(request.pam)):
        raise ExportTargetError(trouble)
    with open_log(settings, read_only=True) as log:
        reading = Reading(log, request.selection)
        words = _pam(request.pam, reading, request.owner) if request.pam else _lines(request.output or STDOUT, reading)
    _tell(words, reading, console)
    return not reading.damaged


def _lines(output: str, reading: Reading) -> str:
    count = 0
    with whole_file(output) as stream:
        for record, _ in reading.selected():
            stream.write(record.value + b"\n")
            count += 1
    return f"{count} events → {'standard output' if output == STDOUT else output}"


def _pam(folder: Path, reading: Reading, owner: str) -> str:
    with whole_folder(folder, STORE_NAME) as draft:
        bundle = BundleWriter(draft, reading, owner).write()
    repeated = f", {bundle.repeated} repeated ids written once" if bundle.repeated else ""
    return f"{bundle.messages} events in {bundle.conversations} conversations{repeated} → {folder}"


def _tell(words: str, reading: Reading, console: Console) -> None:
    for fault in reading.named[:MAX_FAULTS]:
        console.print(Text(fault), soft_wrap=True, highlight=False)
    if reading.damaged:
        words += f"; {reading.damaged} records could not be read"
    if reading.missing:
        words += f"; {reading.missing} events left the log meanwhile by its retention"
    console.print(Text(words), soft_wrap=True, highlight=False)
