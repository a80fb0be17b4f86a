"""Inserts that two databases spell alike and SQLAlchemy's generic form does not have."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(connection: sa.Connection, table: sa.Table) -> sa.Insert:
    """Insert rows, passing over those whose key is there already."""
    return _insert(connection, table).on_conflict_do_nothing(index_elements=list(table.primary_key))


def insert_or_update(connection: sa.Connection, table: sa.Table, columns: Collection[str]) -> sa.Insert:
    """Insert rows; where the key is there already, take over the named columns."""
    statement = _insert(connection, table)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key), set_={name: statement.excluded[name] for name in columns}
    )


def _insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
