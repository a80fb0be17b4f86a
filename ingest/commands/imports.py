"""`session-ingest import`: finished files into the log, or into canonical JSON Lines."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from adapters.catalogue import Catalogue, load
from adapters.contract import Reader, ReadOptions
from ingest.commands.import_table import print_reports
from ingest.commands.terminal import progress_bar
from ingest.import_files import size_of
from ingest.import_lanes import Sink
from ingest.import_sinks import OutputSink
from ingest.importer import Importer
from schemas.report import ImportReport, summarise, to_json


class UnknownReaderError(ValueError):
    """`--provider` names no reader; the message lists those there are."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What a person asked for on the command line."""

    paths: list[Path]
    report: Path | None
    provider: str | None
    options: ReadOptions


def import_into_file(request: ImportRequest, output: str, console: Console) -> bool:
    """Import into canonical JSON Lines, tell of it, and give whether everything could be read.

    Raises what `import_into` does, and `OSError` when the output or the report cannot be written.
    """
    with OutputSink(output) as sink:
        report = import_into(sink, request, console)
    return tell(report, request, console, output)


def import_into(sink: Sink, request: ImportRequest, console: Console) -> ImportReport:
    """Import what was asked for; raises `UnknownReaderError`, and `OSError` of the sink."""
    catalogue = load()
    for problem in catalogue.problems:
        console.print(problem, markup=False, highlight=False)
    forced = _reader(catalogue, request.provider)
    if request.provider:
        catalogue = catalogue.only(request.provider)
    total = size_of(request.paths) if console.is_terminal else 0
    with progress_bar("importing", total, console) as on_progress:
        importer = Importer(sink, catalogue, request.options, forced, on_progress)
        return summarise(importer.run(request.paths))


def tell(report: ImportReport, request: ImportRequest, console: Console, target: str) -> bool:
    """Print the summary and write the report that was asked for; gives whether everything could be read."""
    print_reports(report, console, target)
    if request.report:
        request.report.write_bytes(to_json(report))
    return not report.failed


def _reader(catalogue: Catalogue, name: str | None) -> Reader | None:
    if name is None:
        return None
    if reader := catalogue.named(name):
        return reader
    known = ", ".join(sorted({reader.provider for reader in catalogue.readers}))
    message = f"no reader is called {name!r}; there are: {known}"
    raise UnknownReaderError(message)
