"""The options of `session-triage board`: what reads stands here, what decides in `board_decide_cli`.

Imported only when `board` is asked for; everything heavy is imported when a command runs.
"""

from typing import Annotated, Final

import typer

from triage.board.model import ProposalKind, ProposalStatus
from triage.commands import board_decide_cli, board_keys_cli
from triage.commands.board_options import AsJson, Config, Workspace, common_of

_EPILOG: Final = """\b
Examples:
  session-triage board list                what waits for a decision here
  session-triage board show TASK-BUD-7     a task, and what stands against closing it
  session-triage board approve 3f2a51c0    do what that proposal proposes
  session-triage board complete TASK-BUD-7 --verification VER-7 --evidence "212 tests passed"
  session-triage board history --jsonl > decisions.jsonl

\b
Nothing closes by itself: an operator decides. Without an API key you are the operator who
is logged in; SESSION_TRIAGE_API_KEY or SESSION_TRIAGE_API_KEY_FILE says who acts otherwise.

\b
Exit status: 0 done; 1 refused, in conflict with another writer, or not on the board yet;
2 wrong usage.
"""

app = typer.Typer(
    name="board",
    help="Decide on what is proposed: the one way from conversations to the board in .project/tasks.json.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command("list")
def list_(
    context: typer.Context,
    status: Annotated[
        list[ProposalStatus] | None, typer.Option(help="Proposals that stand so. Repeatable.  [default: what waits]")
    ] = None,
    kind: Annotated[list[ProposalKind] | None, typer.Option(help="Proposals of this kind. Repeatable.")] = None,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Proposals about this task.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="The first N only.")] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all workspaces.")] = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List what is proposed: blocked work and p0 first, then what has waited longest."""
    from triage.commands.board_show import Filter, list_proposals

    wanted = Filter(tuple(status or ()), tuple(kind or ()), task, everywhere, limit)
    list_proposals(common_of(context, workspace, config, as_json), wanted)


@app.command("show")
def show(
    context: typer.Context,
    about: Annotated[str, typer.Argument(metavar="ID", help="A task, or the beginning of a proposal's id.")],
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show a task with its decision packet, or a proposal with its evidence; and what was decided about it."""
    from triage.commands import board_show

    board_show.show(common_of(context, workspace, config, as_json), about)


@app.command("history")
def history(
    context: typer.Context,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Decisions about this task.")] = None,
    proposal: Annotated[str | None, typer.Option(metavar="ID", help="Decisions about this proposal.")] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all workspaces.")] = False,
    as_lines: Annotated[bool, typer.Option("--jsonl", help="Print JSON Lines, a decision each.")] = False,
    workspace: Workspace = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Tell every decision: who, when, what, on which evidence, and what came of it on the board."""
    from triage.commands.board_show import HistoryFilter
    from triage.commands.board_show import history as tell

    tell(common_of(context, workspace, config, as_json), HistoryFilter(task, proposal, everywhere, as_lines))


board_decide_cli.mount(app)
app.add_typer(board_keys_cli.app)
