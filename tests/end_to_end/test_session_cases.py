"""Every composed case of a pi session gives its right answer through the real command."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"
COMMAND = [str(Path(sys.executable).with_name("session-ingest")), "import"]


def _checker():
    sys.path.insert(0, str(CASES))
    try:
        spec = importlib.util.spec_from_file_location("check_sessions", CASES / "check_sessions.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(CASES))
    return module


CHECKER = _checker()


@pytest.mark.parametrize("case", sorted((CASES / "sessions").glob("[0-9]*")), ids=lambda case: case.name)
def test_case_agrees_with_its_right_answer(case: Path, tmp_path: Path) -> None:
    """What the importer emits and reports is what the case expects."""
    if (case / "make_input.py").exists():
        made = tmp_path / case.name
        made.mkdir()
        subprocess.run([sys.executable, case / "make_input.py", made], check=True)
        shutil.copy(case / "expected.md", made)
        case = made
    faults, _ = CHECKER.check(case, COMMAND)
    assert faults == []
