"""The command answers `--help` at once, teaches with examples, and says its version."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.commands import INGEST, TRIAGE, run
from tests.support.triage import Home

HEAVY = (
    "pydantic",
    "structlog",
    "watchfiles",
    "sqlite3",
    "prometheus_client",
    "starlette",
    "rich",
    "msgspec",
    "asyncio",
)


def test_help_teaches_and_shows_only_what_works(home: Home) -> None:
    out = home.run("--help").stdout
    for word in ("Examples:", "--events", "--log [PATH]", "--days", "--summary-store", "Exit status", "--idea-inbox"):
        assert word in out
    assert "COMMAND" not in out
    assert max(map(len, out.split("\n"))) <= 88


def test_help_imports_nothing_heavy() -> None:
    """What a report needs is imported when one is made: `--help` stays under 0.3 s of CPU."""
    code = (
        "import sys\nfrom triage.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("command", [INGEST, TRIAGE])
def test_each_command_tells_its_version(command: str, tmp_path: Path) -> None:
    outcome = run(command, "--version", home=tmp_path)
    assert outcome.returncode == 0
    assert outcome.stdout.decode() == f"{Path(command).name} {version('session-triage')}\n"


def test_unknown_option_is_told_with_a_suggestion(home: Home) -> None:
    """The origin ignored unknown options; a misspelt `--days` would then silently mean one day."""
    outcome = home.run("--day", "7")
    assert outcome.status == 2
    assert "--days" in outcome.stderr


def test_missing_workspace_is_told(home: Home) -> None:
    """A folder that is gone may still have conversations, and a misspelt one must not look calm."""
    outcome = home.run("--json", "--workspace", home.folder / "gone")
    assert outcome.status == 0
    assert [p["reason"] for p in outcome.report["problems"]] == ["workspace-missing"]
