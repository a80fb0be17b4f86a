"""The README shows what there is: every setting, command and option it names exists, and none is missing."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
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


BLOCKS = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_settings_shown_are_valid(block: str) -> None:
    """Each block can be used as it stands."""
    Settings(**tomllib.loads(block))


def test_the_settings_shown_are_complete() -> None:
    """What is optional may be commented out; agents other than pi show only their switch, named sources an example."""
    shown = set[str]().union(*(keys(tomllib.loads(re.sub(r"(?m)^# (?=\w+ = )", "", block))) for block in BLOCKS))
    known = keys(Settings().model_dump())
    same_as_pi = {name for name in known if re.match(r"sources\.(claude_code|codex)\.(?!enabled)", name)}
    named = {name for name in shown if re.match(r"sources\.(telegram|matrix|whatsapp|signal|custom)\.", name)}
    assert shown - named == known - same_as_pi


def test_defaults_shown_are_the_defaults() -> None:
    shown = Settings(**tomllib.loads(BLOCKS[0]))
    default = Settings()
    assert shown.sources.model_dump() == default.sources.model_dump()
    assert (shown.http, shown.log, shown.processors, shown.triage) == (
        default.http, default.log, default.processors, default.triage,
    )  # fmt: skip


def test_every_command_is_shown() -> None:
    for name in COMMANDS:
        assert f"session-ingest {name}" in README, name


def options(command: Any) -> set[str]:
    """All options of a command and of those below it."""
    found = {option for parameter in command.params for option in parameter.opts}
    return found.union(*map(options, getattr(command, "commands", {}).values()))


def test_every_option_shown_exists() -> None:
    """Options in the README are options of some command, but for those of curl and signal-cli."""
    from triage.cli import app as triage  # noqa: PLC0415 - its own command line
    from triage.commands.board_cli import app as board  # noqa: PLC0415 - likewise

    real = {"--help"}.union(*(options(typer.main.get_command(each)) for each in (app, triage, board)))
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"`(?:curl|signal-cli) [^`]*`", "", README)))
    assert shown <= real
