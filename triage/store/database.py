"""The triage store's database: SQLite by default, PostgreSQL by URL; the same tables, the same promises.

A writing transaction is durable when it ends and alone in what it changes: SQLite takes the write lock at its
beginning, on PostgreSQL rows are locked as they are read for a change.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlalchemy as sa

from triage.store.engines import make_engine, reading_options
from triage.store.errors import explained
from triage.store.migrate import migrate, verify
from triage.store.repository import Repository
from triage.store.turn import Turn, try_turn


class Store:
    """A database with the tables of the triage. Use `open`; it is its own context manager."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, place: str | Path, *, read_only: bool = False) -> Self:
        """Open the store, making or migrating it unless `read_only`; `place` is SQLite's file, or a database's URL.

        Raises `StoreError` when it cannot be reached, or was written by a newer version of this program.
        """
        store = cls(make_engine(place, read_only=read_only))
        try:
            with explained(store.where):
                store._make_ready(read_only=read_only)
        except BaseException:
            store.close()
            raise
        return store

    def _make_ready(self, *, read_only: bool) -> None:
        if read_only:
            with self._engine.connect().execution_options(**reading_options(self._engine)) as connection:
                verify(connection)
        else:
            with self._engine.begin() as connection:
                migrate(connection)

    @property
    def where(self) -> str:
        """Where the store is, in words for people; without the password."""
        url = self._engine.url
        return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string(hide_password=True)

    @contextmanager
    def write(self) -> Iterator[Repository]:
        """One transaction that changes something: all of it is durable at the end, or nothing happened."""
        with explained(self.where), self._engine.begin() as connection:
            yield Repository(connection)

    @contextmanager
    def read(self) -> Iterator[Repository]:
        """One transaction that only reads, as of one moment; it waits for no writer."""
        with (
            explained(self.where),
            self._engine.connect().execution_options(**reading_options(self._engine)) as connection,
            connection.begin(),
        ):
            yield Repository(connection)

    def try_turn(self) -> Turn | None:
        """Become the one consumer of the store, or give None while another process is; raises `StoreError`."""
        with explained(self.where):
            return try_turn(self._engine)

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
