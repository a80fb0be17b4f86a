"""The README shows what there is: every setting, command and option it names exists, and none is missing."""

import re
import tomllib
from pathlib import Path

import typer

from ingest.cli import app
from ingest.settings import Settings

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
COMMANDS = typer.main.get_command(app).commands


def keys(table: dict, prefix: str = "") -> set[str]:
    """Dotted names of all values of a table."""
    found: set[str] = set()
    for name, value in table.items():
        found |= keys(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name}
    return found


def test_the_settings_shown_are_valid_and_complete() -> None:
    """The block can be used as it stands; agents other than pi show only their switch."""
    shown = tomllib.loads(re.search(r"```toml\n(.*?)```", README, re.DOTALL)[1])
    settings = Settings(**shown)
    known = keys(settings.model_dump())
    same_as_pi = {name for name in known if re.match(r"sources\.(claude_code|codex)\.(?!enabled)", name)}
    assert keys(shown) == known - same_as_pi


def test_defaults_shown_are_the_defaults() -> None:
    shown = Settings(**tomllib.loads(re.search(r"```toml\n(.*?)```", README, re.DOTALL)[1]))
    default = Settings()
    assert shown.sources.model_dump() == default.sources.model_dump()
    assert (shown.http, shown.log, shown.processors) == (default.http, default.log, default.processors)


def test_every_command_is_shown() -> None:
    for name in COMMANDS:
        assert f"session-ingest {name}" in README, name


def test_every_option_shown_exists() -> None:
    """Options in the README are options of some command."""
    from triage.cli import app as triage  # noqa: PLC0415 - its own command line

    real = {option for command in COMMANDS.values() for parameter in command.params for option in parameter.opts}
    real |= {option for parameter in typer.main.get_command(triage).params for option in parameter.opts}
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    assert shown <= real | {"--help"}
