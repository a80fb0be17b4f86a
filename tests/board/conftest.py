"""A project of its own for each test of the gate."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.board import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Give a project with an empty workspace."""
    made = Project(tmp_path)
    yield made
    made.close()
