"""What all commands share: the option for settings, and how a command ends with a message.

Imported before a command is known: everything heavy is imported inside.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

if TYPE_CHECKING:
    from ingest.settings import Settings

EXIT_FAILED: Final = 1
"""Something was rejected, or failed."""
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
"""128 and SIGINT, as shells have it."""

Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings, TOML. [default: platform's]")]


def settings_or_exit(config: Path | None) -> "Settings":
    """Read the settings; wrong ones end the command, a line for each mistake."""
    from ingest.settings import load
    from ingest.settings_errors import SettingsError

    try:
        return load(config)
    except SettingsError as error:
        for line in error.lines:
            sys.stderr.write(f"session-ingest: {line}\n")
        raise typer.Exit(EXIT_USAGE) from None


def fail(message: str, status: int) -> NoReturn:
    """End the command with one line on standard error."""
    sys.stderr.write(f"session-ingest: {message}\n")
    raise typer.Exit(status)
