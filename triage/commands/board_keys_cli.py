"""The options of `session-triage board keys`. Everything heavy is imported when a command runs."""

from enum import StrEnum
from typing import Annotated

import typer

from triage.commands.board_options import AsJson, Config, common_of

app = typer.Typer(name="keys", help="API keys: who may act, and as what.", no_args_is_help=True, rich_markup_mode=None)


class KeyKind(StrEnum):
    """What a key may do."""

    AGENT = "agent"
    OPERATOR = "operator"


@app.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who holds it, for the history.")],
    kind: Annotated[KeyKind, typer.Option(help="Agents read and propose; operators decide.")] = KeyKind.AGENT,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, this once: only a digest of it is kept."""
    from triage.board.model import ActorKind
    from triage.commands import board_keys

    board_keys.add(common_of(context, None, config, as_json), name, ActorKind(kind.value))


@app.command("list")
def list_(context: typer.Context, config: Config = None, as_json: AsJson = False) -> None:
    """List all keys."""
    from triage.commands import board_keys

    board_keys.listed(common_of(context, None, config, as_json))


@app.command("revoke")
def revoke(
    context: typer.Context,
    fingerprint: Annotated[str, typer.Argument(metavar="FINGERPRINT", help="Of `keys list`, or its beginning.")],
    config: Config = None,
) -> None:
    """Make a key useless, at once and for ever."""
    from triage.commands import board_keys

    board_keys.revoke(common_of(context, None, config, as_json=False), fingerprint)
