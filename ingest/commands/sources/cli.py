"""The options of `sources list` and `sources check`, for mounting on the command line of `session-ingest`.

Imported before a command is known: everything heavy is imported inside.
"""

from typing import Annotated

import typer

from ingest.commands.terminal import EXIT_USAGE, Config, fail, settings_or_exit

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

sources = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="What the daemon reads: list it, and check whether each source would work.",
)


def mount(app: typer.Typer) -> None:
    """Add the commands to those of `app`."""
    app.add_typer(sources, name="sources")


@sources.command("list")
def list_(as_json: Json = False, config: Config = None) -> None:
    """List every source of the settings, those that are switched off too, with its state and where it looks.

    Exit status: 0 told; 2 wrong usage or settings.
    """
    settings = settings_or_exit(config)
    from rich.console import Console

    from ingest.commands.sources.listing import show_sources

    show_sources(settings, Console(highlight=False), as_json=as_json)


@sources.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="As sources list shows them; all that are on.")
    ] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Check whether sources would work: credentials, reachability, permissions, and what they would read.

    Nothing is read, confirmed or changed. Works with and without a running daemon.

    Exit status: 0 all would work; 1 one would not (it is said why); 2 wrong usage or settings.
    """
    settings = settings_or_exit(config)
    from rich.console import Console

    from ingest.commands.sources.check import UnknownSourceError, check_sources

    try:
        status = check_sources(settings, names or [], Console(highlight=False), as_json=as_json)
    except UnknownSourceError as error:
        fail(str(error), EXIT_USAGE)
    raise typer.Exit(status)
