"""The command line of `session-triage`. Nothing heavy is imported until a report is made."""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from ingest.commands.terminal import COLLECT_AFTER, Version
from triage.forgiving import forgiven

if TYPE_CHECKING:
    from triage.report.model import Report
    from triage.report.options import Options

EXIT_REJECTED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130

BOARD: Final = "board"

_EXAMPLES: Final = """\b
Examples:
  session-triage                       pi's conversations about this folder, last day
  session-triage --days 7              the last week; --days 0.5 is twelve hours
  session-triage --log --days 3        everything the daemon has seen
  session-triage --events chat.jsonl   canonical events from a file
  session-ingest import export.zip --output - | session-triage --events - --days 30
  session-triage --json | jq '.waiting[] | {kind, words}'
  session-triage board list            what is proposed, for you to decide

\b
Exit status: 0 all well; 1 something could not be read (the report names it);
2 wrong usage. The report writes nothing unless --summary-store names a file.
"""


class _Group(TyperGroup):
    """Puts right what the origin forgave before anything is parsed, and reads sub-commands when they are asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Give the command that the arguments name; `board` is built only now: that costs as much as a small report."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, _board() if name == BOARD else command, rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # the context's class moved between typer's versions
        """Parse the arguments after putting them right."""
        return super().parse_args(ctx, forgiven(args, self.commands))


app = typer.Typer(
    cls=_Group,
    name="session-triage",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    subcommand_metavar="[board …]",
)


@app.command(BOARD, short_help="Decide on what is proposed, and see what was decided.", add_help_option=False)
def _board_in_help() -> None:
    """Stand for `board` in the help; `_Group` puts the real one in its place."""


def _board() -> Any:
    from triage.commands.board_cli import app as board

    return typer.main.get_command(board)


@app.callback(invoke_without_command=True, epilog=_EXAMPLES)
def report(
    context: typer.Context,
    days: Annotated[
        str | None, typer.Option("--days", metavar="N", help="Look back N days; fractions are fine.  [default: 1]")
    ] = None,
    workspace: Annotated[
        Path, typer.Option("--workspace", metavar="DIR", help="The project: its board and its pi conversations.")
    ] = Path(),
    events: Annotated[
        list[Path] | None,
        typer.Option("--events", metavar="FILE", help="Read canonical events, JSON or JSONL; - is stdin. Repeatable."),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option("--log", metavar="[PATH]", help="Read the daemon's log, by default where it keeps it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,
    ideas: Annotated[
        list[Path] | None,
        typer.Option(
            "--ideas", "--idea-inbox", metavar="PATH", help="Look for ideas in a Markdown file or a folder. Repeatable."
        ),
    ] = None,
    summary_store: Annotated[
        Path | None,
        typer.Option("--summary-store", metavar="FILE", help="Keep what summaries leave open in this file."),
    ] = None,
    no_summary_store: Annotated[
        bool, typer.Option("--no-summary-store", help="Keep nothing: the default, accepted for old scripts.")
    ] = False,
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="N", help="Most pi sessions to read.  [default: 8]")
    ] = None,
    tail_lines: Annotated[
        str | None, typer.Option("--tail-lines", metavar="N", help="Last lines to read of each.  [default: 160]")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", metavar="N", help="Read N times as many lines.  [default: 1]")
    ] = None,
    expand: Annotated[bool, typer.Option("--expand", help="The same as a window of at least 2.")] = False,
    allow_global_fallback: Annotated[
        bool,
        typer.Option("--allow-global-fallback", help="Look in pi's own folder too when the project has a sandbox."),
    ] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; NO_COLOR does the same.")] = False,
    version: Version = False,  # noqa: ARG001 - its callback has answered
) -> None:
    """Say what waits for you in your conversations with AI, what to unlock now, and what can wait."""
    if context.invoked_subcommand is not None:
        context.obj = workspace
        return
    from triage.report.options import DEFAULT_DAYS, DEFAULT_LIMIT, DEFAULT_TAIL_LINES, DEFAULT_WINDOW, Options, positive
    from triage.report.usage import UsageError, absolute, checked, log_place

    try:
        options = checked(
            Options(
                workspace=absolute(workspace),
                days=positive(days, DEFAULT_DAYS),
                limit=positive(limit, DEFAULT_LIMIT),
                tail_lines=positive(tail_lines, DEFAULT_TAIL_LINES),
                window=positive(window, DEFAULT_WINDOW),
                expand=expand,
                events=tuple(absolute(path) for path in events or ()),
                log=None if log is None else log_place(log),
                ideas=tuple(absolute(path) for path in ideas or ()),
                summary_store=None if no_summary_store or summary_store is None else absolute(summary_store),
                global_fallback=allow_global_fallback,
            )
        )
    except UsageError as error:
        _fail(str(error), EXIT_USAGE)
    raise typer.Exit(_make(options, as_json=as_json, no_color=no_color))


def _make(options: "Options", *, as_json: bool, no_color: bool) -> int:
    """Make the report and print it; gives the exit status."""
    from datetime import UTC, datetime

    from triage.report.run import make_report

    try:
        made = make_report(options, datetime.now(UTC), sys.stdin.buffer)
        _print(made, as_json=as_json, no_color=no_color)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return EXIT_REJECTED
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_INTERRUPTED)
    return EXIT_REJECTED if made.problem_counts.get("rejected") else 0


def _print(made: "Report", *, as_json: bool, no_color: bool) -> None:
    import os

    from triage.report.output import write_json, write_text

    if as_json:
        write_json(made, sys.stdout)
    else:
        write_text(made, sys.stdout, os.environ, no_color=no_color)
    sys.stdout.flush()


def _fail(message: str, status: int) -> NoReturn:
    sys.stderr.write(f"session-triage: {message}\n")
    raise typer.Exit(status)


def main() -> None:
    """Run the command line."""
    gc.set_threshold(COLLECT_AFTER)
    app()
