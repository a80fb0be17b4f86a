"""A home of its own for each test of the triage."""

from pathlib import Path

import pytest

from tests.support.triage import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Give a home with an empty workspace."""
    return Home(tmp_path / "home")
