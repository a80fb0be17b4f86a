"""The options of `run`, `status`, `topics` and `export`, for mounting on the command line of `session-ingest`.

Imported before a command is known: everything heavy is imported inside.
"""

from pathlib import Path
from typing import Annotated

import typer

from ingest.commands.terminal import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    Config,
    exits,
    fail,
    settings_or_exit,
    tidy_end,
)


def mount(app: typer.Typer) -> None:
    """Add `run`, `status`, `topics` and `export` to the commands of `app`."""
    app.command("run")(run)
    app.command("status")(status)
    app.command("topics")(topics)
    app.command("export")(export)


def run(
    only: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="Run only this part: capture or process. Repeatable.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check settings and state, say what would be read, end.")
    ] = False,
    config: Config = None,
) -> None:
    """Follow this user's sessions and the drop folder until stopped: the daemon.

    Answers /healthz, /readyz and /metrics on loopback. Stops cleanly on SIGTERM and Ctrl-C within 10 seconds.

    Exit status: 0 stopped when asked to; 1 could not start, or did not end in time; 2 wrong usage or settings.
    """
    settings = settings_or_exit(config)
    from ingest.commands.run import UnknownPartError, run_daemon
    from ingest.commands.run import check as check_start
    from ingest.daemon import StartError

    try:
        status = check_start(settings, only or []) if check else run_daemon(settings, only or [])
    except UnknownPartError as error:
        fail(str(error), EXIT_USAGE)
    except StartError as error:
        fail(str(error), EXIT_FAILED)
    except KeyboardInterrupt:  # before the daemon listens to signals
        raise typer.Exit(EXIT_INTERRUPTED) from None
    raise typer.Exit(status)


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    config: Config = None,
) -> None:
    """Tell how sources and processors stand, whether or not the daemon runs.

    Exit status: 0 told; 1 there is no log that can be read; 2 wrong usage or settings.
    """
    settings = settings_or_exit(config)
    from rich.console import Console

    from ingest.commands.status import show_status

    raise typer.Exit(show_status(settings, Console(highlight=False), as_json=as_json))


def topics(
    create: Annotated[bool, typer.Option("--create", help="Make the topics that are missing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    config: Config = None,
) -> None:
    """Hold the topics on Kafka against what they must be: partitions, copies, retention, compaction, message size.

    What is there is never changed: each difference is named, for you to mend with Kafka's own tools.

    Exit status: 0 all are as they must be; 1 some are missing or differ, or no broker answers; 2 wrong settings.
    """
    settings = settings_or_exit(config)
    from rich.console import Console

    from ingest.commands.topics import show_topics
    from ingest.log.contract import LogError

    try:
        status = show_topics(settings, Console(stderr=as_json, highlight=False), create=create, as_json=as_json)
    except LogError as error:
        fail(str(error), EXIT_FAILED)
    raise typer.Exit(status)


def export(
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write canonical JSONL there; - is stdout.")
    ] = None,
    pam: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a Portable AI Memory bundle there.")] = None,
    provider: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this provider, or NAME/ACCOUNT. Repeatable.")
    ] = None,
    thread: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only the thread with this threadId. Repeatable.")
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only what was said then or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only what was said before then.")] = None,
    owner: Annotated[
        str, typer.Option(metavar="ID", help="With --pam: your stable id, the same in every export.")
    ] = "local-owner",
    config: Config = None,
) -> None:
    """Write the conversations of the log: canonical JSON Lines with --output, a PAM bundle with --pam.

    session-ingest export --output events.jsonl --since 2026-01-01

    session-ingest export --pam bundle --provider claude

    A bundle has one file a conversation, valid against the official schemas, and memory-store.json with their index.
    Importing either again gives the same events. Times are ISO 8601, UTC unless they say otherwise. The log is only
    read, also beside a running daemon. What is written appears whole or not at all; an earlier bundle is replaced, any
    other folder that is not empty is refused.

    Exit status: 0 all written; 1 a record could not be read (it is named), or nothing could be written; 2 wrong usage.
    """
    settings = settings_or_exit(config)
    from rich.console import Console

    from ingest.commands.export import ExportRequest, ExportTargetError, run_export
    from ingest.export_selection import SelectionError, select

    if (output is None) == (pam is None):
        fail("export: name either --output FILE (canonical JSONL, - is stdout) or --pam DIR (a PAM bundle)", EXIT_USAGE)
    with exits("interrupted; nothing was written", (SelectionError, ExportTargetError)), tidy_end():
        request = ExportRequest(output, pam, select(provider or [], thread or [], since, until), owner)
        complete = run_export(request, settings, Console(stderr=True, highlight=False))
    raise typer.Exit(0 if complete else EXIT_FAILED)
