"""Options that all `session-triage board` commands have. Nothing heavy is imported before one of them runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from triage.commands.board_session import Common

Workspace = Annotated[
    Path | None, typer.Option("--workspace", metavar="DIR", help="The project whose board it is.  [default: here]")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings, TOML. [default: platform's]")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")]
Note = Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why, for the history.")]

NAME: Final = "board"


def common_of(context: typer.Context, workspace: Path | None, config: Path | None, as_json: bool) -> "Common":
    """Put the common options together; a workspace may also be named before `board`."""
    from triage.commands.board_session import Common

    return Common(workspace or context.obj or Path(), config, as_json)
