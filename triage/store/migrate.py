"""Brings a store to the newest layout, under a lock, so that processes that start together do it once.

A store of any earlier version is migrated by Alembic's scripts in `triage.store.migrations`; one of a later version is
refused. Where nothing is to do, Alembic is not even imported: commands answer at once.
"""

from typing import Final

import sqlalchemy as sa

from triage.store.errors import StoreError

HEAD: Final = "0001"
"""The newest migration; a test compares it with the scripts."""

_MIGRATION_LOCK: Final = 0x5354726D
"""`STrm` in ASCII: this project's key among PostgreSQL's advisory locks."""


def migrate(connection: sa.Connection) -> None:
    """Migrate within the connection's transaction; raises `StoreError` for a store that is newer than this program."""
    if _version(connection) == HEAD:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
    # SQLite's transaction has held the only write lock from its beginning. Read again: another may have done it.
    version = _version(connection)
    if version != HEAD:
        _upgrade(connection, version)


def verify(connection: sa.Connection) -> None:
    """Raise `StoreError` unless the store has just the layout that this program knows, for reading it only."""
    version = _version(connection)
    if version != HEAD:
        raise StoreError(f"the triage store has layout {version}, not {HEAD}: let session-ingest run open it once")


def _version(connection: sa.Connection) -> str | None:
    """The layout that the store has; None when it is empty."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: sa.Connection, version: str | None) -> None:
    # Imported here: only a store that changes needs it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "triage.store:migrations")
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(
            f"the triage store has layout {version}, this program knows up to {HEAD}: update session-triage"
        )
    command.upgrade(config, HEAD)
