"""Inserts that two databases spell alike and SQLAlchemy's generic form does not have."""

from functools import cache

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(connection: sa.Connection, table: sa.Table) -> sa.Insert:
    """Insert rows, passing over those whose key is there already."""
    return _insert_new(connection.dialect.name, table)


def insert_or_update(connection: sa.Connection, table: sa.Table, columns: tuple[str, ...]) -> sa.Insert:
    """Insert rows; where the key is there already, take over the named columns."""
    return _insert_or_update(connection.dialect.name, table, columns)


# Kept, as there are a handful and each batch asks for one: making one copies all columns of its table.
@cache
def _insert_new(dialect: str, table: sa.Table) -> sa.Insert:
    return _insert(dialect, table).on_conflict_do_nothing(index_elements=list(table.primary_key))


@cache
def _insert_or_update(dialect: str, table: sa.Table, columns: tuple[str, ...]) -> sa.Insert:
    statement = _insert(dialect, table)
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key), set_={name: statement.excluded[name] for name in columns}
    )


def _insert(dialect: str, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
