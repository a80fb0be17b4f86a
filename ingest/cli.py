"""The command line of `session-ingest`. Nothing heavy is imported until a command runs."""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ingest.commands.cli import mount
from ingest.commands.operations.cli import mount as mount_operations
from ingest.commands.sources.cli import mount as mount_sources
from ingest.commands.terminal import (
    COLLECT_AFTER,
    EXIT_FAILED,
    EXIT_USAGE,
    Config,
    Version,
    exits,
    fail,
    settings_or_exit,
    tidy_end,
)

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="session-ingest",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def root(version: Version = False) -> None:
    """Turn conversations with AI, wherever they lie, into one durable stream of canonical events."""


mount(app)
mount_operations(app)
mount_sources(app)


@app.command("import")
def import_(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files or folders of any known kind.")],
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write canonical JSONL there (- is stdout); leave the log alone.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JSON report of every file there.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option(metavar="NAME", help="Read as this kind instead of recognising.")
    ] = None,
    account: Annotated[str | None, typer.Option(metavar="NAME", help="Account, where files name none.")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="Zone of local times, as Europe/Lisbon.")] = None,
    own_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Your name in exports that only show names.")
    ] = None,
    chat: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the chat, where a file does not say.")
    ] = None,
    include_hidden: Annotated[bool, typer.Option("--include-hidden", help="Emit hidden context as status.")] = False,
    config: Config = None,
) -> None:
    """Read finished files: into the log, or with --output into canonical JSON Lines.

    Importing the same again adds nothing. Works beside a running daemon.

    Exit status: 0 all read; 1 something was rejected or failed (it is named); 2 wrong usage.
    """
    from adapters.contract import ReadOptions
    from ingest.commands.imports import ImportRequest, UnknownReaderError, import_into_file

    if timezone is not None and not _is_zone(timezone):
        fail(f"--timezone {timezone}: there is no such zone; use a name such as Europe/Lisbon", EXIT_USAGE)
    options = ReadOptions(
        account=account, timezone=timezone, own_name=own_name, chat=chat, include_hidden=include_hidden
    )
    request = ImportRequest(paths, report, provider, options)
    with exits("interrupted; import the same again to go on", (UnknownReaderError,)), tidy_end():
        if output is not None:
            complete = import_into_file(request, output, _console())
        else:
            from ingest.commands.import_log import import_into_log

            complete = import_into_log(request, settings_or_exit(config), _console())
    raise typer.Exit(0 if complete else EXIT_FAILED)


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Leave out to list the names.")] = None,
) -> None:
    """Print a published JSON Schema, or the names of all."""
    from schemas.publish import NAMES, text

    if name is None:
        sys.stdout.write("\n".join(NAMES) + "\n")
    elif name in NAMES:
        sys.stdout.write(text(name).decode())
    else:
        fail(f"no schema is called {name!r}; there are: {', '.join(NAMES)}", EXIT_USAGE)


@app.command()
def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Canonical events, one JSON object a line.")],
) -> None:
    """Hold each line of a file against the schema of canonical events.

    Exit status: 0 all valid; 1 some are not (each is named); 2 a file cannot be read.
    """
    from ingest.commands.schemas import validate as validate_file

    invalid = 0
    for file in files:
        try:
            result = validate_file(file)
        except OSError as error:
            fail(f"{file}: {error.strerror}", EXIT_USAGE)
        for fault in result.faults:
            sys.stderr.write(fault + "\n")
        words = (
            f"{file}: {result.events} valid events, {result.invalid} invalid lines, {result.duplicates} repeated ids"
        )
        sys.stdout.write(words + "\n")
        invalid += result.invalid
    raise typer.Exit(EXIT_FAILED if invalid else 0)


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def main() -> None:
    """Run the command line."""
    gc.set_threshold(COLLECT_AFTER)
    app()
