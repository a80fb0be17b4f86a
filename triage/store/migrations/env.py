"""Runs migrations on the connection that `triage.store.migrate` gives, within its transaction."""

from alembic import context

from triage.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
