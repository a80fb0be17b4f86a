"""A log, a store and a reader, in memory where the system has a place for it; and stores on both databases."""

from collections.abc import Iterator

import pytest

from tests.support.consumer import Bench
from tests.support.log import quick_folder
from tests.support.stores import place, postgres, store

__all__ = ["bench", "place", "postgres", "store"]


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Give a bench over SQLite."""
    with quick_folder() as folder:
        bench = Bench(folder)
        yield bench
        bench.close()
