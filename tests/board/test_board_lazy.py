"""What `board` needs is loaded when `board` is asked for: help and report are as quick as without it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.triage import Home

_PROBE = """
import sys
from triage.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
wanted = ("sqlalchemy", "alembic", "triage.commands", "triage.board.gate")
heavy = [name for name in sys.modules if name.startswith(wanted)]
print("heavy:", *heavy, file=sys.stderr)
"""


def heavy_of(home: Home, *arguments: str) -> str:
    """Run a command, and give the heavy modules that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *arguments], capture_output=True, text=True, check=True, timeout=60,
        cwd=home.workspace, env={**home.environment, "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    return done.stderr.rpartition("heavy:")[2].strip()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--json"], []])
def test_without_board_nothing_of_it_is_loaded(tmp_path: Path, arguments: list[str]) -> None:
    assert heavy_of(Home(tmp_path / "home"), *arguments) == ""


def test_the_help_names_board_and_board_has_help(tmp_path: Path) -> None:
    """Its help needs no database either."""
    home = Home(tmp_path / "home")
    assert "board" in home.run("--help").stdout
    assert "sqlalchemy" not in heavy_of(home, "board", "--help")
    assert "sqlalchemy" not in heavy_of(home, "board", "approve", "--help")
