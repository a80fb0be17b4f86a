"""The options of `replay`, `rejected` and `migrate`, for mounting on the command line of `session-ingest`.

Imported before a command is known: everything heavy is imported inside.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ingest.commands.terminal import EXIT_FAILED, EXIT_USAGE, Config, exits, fail, settings_or_exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ingest.rejections import Choice

DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be done; append nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Place = Annotated[str, typer.Argument(metavar="OFFSET[:PARTITION]", help="As rejected list shows it.")]
Places = Annotated[list[str] | None, typer.Argument(metavar="[OFFSET[:PARTITION]]...", help="As rejected list shows.")]
Sources = Annotated[list[str] | None, typer.Option("--source", metavar="NAME", help="Only of this source. Repeatable.")]
Reasons = Annotated[
    list[str] | None, typer.Option("--reason", metavar="REASON", help="Only for this reason. Repeatable.")
]
Stage = Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Only while reading, or processing.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what was rejected then or later.")]

rejected = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="What could not be read or processed: see it, and try it again.",
)


def mount(app: typer.Typer) -> None:
    """Add the commands to those of `app`."""
    app.command("replay")(replay)
    app.add_typer(rejected, name="rejected")
    app.command("migrate")(migrate)


def replay(
    start: Annotated[
        str, typer.Option("--from", metavar="WHERE", help="beginning, a time of capture, or OFFSET[:PARTITION].")
    ],
    provider: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this provider, or NAME/ACCOUNT. Repeatable.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Work captured records off again: what a newer version reads better replaces the event it made before.

    session-ingest replay --from beginning --provider claude

    session-ingest replay --from 2026-01-31T12:00:00Z --dry-run

    The captured records are appended once more, marked as a replay. Of their events those pass that are new, or that
    now come out otherwise, under the id they have; the rest changes nothing. Nothing is read from the sources. Works
    beside a running daemon.

    Exit status: 0 done; 1 a record could not be read, or the log not be written; 2 wrong usage.
    """
    settings = settings_or_exit(config)
    from ingest.commands.operations.replay import ReplayRequest, run_replay
    from ingest.export_selection import select

    def run(console: "Console") -> bool:
        request = ReplayRequest(start, select(provider or [], [], None, None), dry_run)
        told = run_replay(request, settings, console)
        if as_json:
            _print(told)
        return not told.passed_over.get("unreadable")

    _run(run, "interrupted; what was appended stays, and starting again does no harm")


@rejected.command("list")
def list_(
    source: Sources = None,
    reason: Reasons = None,
    stage: Stage = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(min=0, metavar="COUNT", help="Show the last of them, at most so many.")] = 20,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Count what was rejected by reason, and show the last of it.

    Exit status: 0 told; 1 there is no log that can be read; 2 wrong usage.
    """
    settings = settings_or_exit(config)
    from ingest.commands.operations.rejected import list_rejected

    def run(console: "Console") -> bool:
        list_rejected(settings, _choice(source, reason, stage, since), limit, console, as_json=as_json)
        return True

    _run(run, "interrupted", to_stdout=True)


@rejected.command("show")
def show(place: Place, as_json: Json = False, config: Config = None) -> None:
    """Show one rejection and the bytes that are kept of it, as text that a terminal does not obey.

    Exit status: 0 shown; 1 there is no log that can be read; 2 wrong usage, or nothing was rejected there.
    """
    settings = settings_or_exit(config)
    from ingest.commands.operations.rejected import show_rejected

    def run(console: "Console") -> bool:
        show_rejected(settings, place, console, as_json=as_json)
        return True

    _run(run, "interrupted", to_stdout=True)


@rejected.command("retry")
def retry(
    places: Places = None,
    source: Sources = None,
    reason: Reasons = None,
    since: Since = None,
    everything: Annotated[bool, typer.Option("--all", help="Whatever processors have rejected.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Work off again what processors could not use, as after an update that mends them.

    Name rejections by place, or choose them with --source, --reason and --since, or --all. What could not be read at
    all is not tried again: only its source can be mended, and is then read anew.

    Exit status: 0 all of it is tried again; 1 some cannot be, and is named; 2 wrong usage.
    """
    settings = settings_or_exit(config)
    from ingest.commands.operations.retry import RetryRequest, retry_rejected

    if bool(places) + bool(source or reason or since) + everything != 1:
        fail("rejected retry: name places, or choose by --source, --reason and --since, or take --all", EXIT_USAGE)

    def run(console: "Console") -> bool:
        # Chosen by the stage: what could not be read is not what such a choice means.
        choice = _choice(source, reason, "processing", since)
        result = retry_rejected(RetryRequest(places or [], choice, dry_run), settings, console)
        if as_json:
            _print(result)
        return not result.not_retried

    _run(run, "interrupted; what was appended stays, and starting again does no harm")


def migrate(dry_run: DryRun = False, config: Config = None) -> None:
    """Move the log of this machine to Apache Kafka, whose topics session-ingest topics --create makes.

    Everything moves: what was captured, events and all that was derived, checkpoints, what the processors remember.
    Nothing is captured again. Stop the daemon first. Interrupting is harmless: the same again goes on where it ended,
    and brings nothing twice. The log of this machine stays as it is.

    Exit status: 0 all is moved; 1 it cannot be, and is said why; 2 wrong usage.
    """
    settings = settings_or_exit(config)
    from ingest.commands.operations.migrate import run_migrate

    def run(console: "Console") -> bool:
        run_migrate(settings, console, dry_run=dry_run)
        return True

    _run(run, "interrupted; start it again to go on")


def _choice(source: list[str] | None, reason: list[str] | None, stage: str | None, since: str | None) -> "Choice":
    """Understand the options that choose; raises `SelectionError`."""
    from ingest.export_selection import SelectionError, select
    from ingest.rejections import Choice

    if stage not in {None, "reading", "processing"}:
        raise SelectionError(f"--stage {stage}: reading or processing is expected")
    return Choice(frozenset(source or ()), frozenset(reason or ()), stage, select([], [], since, None).since)


def _run(command: "Callable[[Console], bool]", interrupted: str, *, to_stdout: bool = False) -> None:
    """Run a command and end with its exit status; it tells people on standard error unless `to_stdout`."""
    from rich.console import Console

    from ingest.export_selection import SelectionError

    with exits(interrupted, (SelectionError,)):
        complete = command(Console(stderr=not to_stdout, highlight=False))
    raise typer.Exit(0 if complete else EXIT_FAILED)


def _print(value: object) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")
