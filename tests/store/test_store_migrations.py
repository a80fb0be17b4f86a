"""A store is made, migrated and recognised alike on both databases; processes that start together do it once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from triage.store.database import Store
from triage.store.errors import StoreError
from triage.store.migrate import HEAD
from triage.store.tables import metadata


def test_the_newest_migration_is_the_one_that_the_program_knows():
    config = Config()
    config.set_main_option("script_location", "triage.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_the_migrations_make_the_tables_that_the_program_uses(store: Store):
    with store._engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    assert differences == []


def test_a_store_that_a_newer_version_wrote_is_refused_and_left_as_it_is(place: str | Path):
    with Store.open(place) as store, store._engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"layout 9999, this program knows up to .*: update session-triage"):
        Store.open(place)
    engine = sa.create_engine(f"sqlite:///{place}" if isinstance(place, Path) else place.replace(":", "+psycopg:", 1))
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "9999"
    engine.dispose()


def test_stores_that_are_opened_at_once_are_made_once(place: str | Path):
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: Store.open(place), range(6)))
    for store in stores:
        with store.read() as repository:
            assert repository.proposals.listed() == []
        store.close()


def test_opening_a_store_that_is_new_enough_does_not_import_alembic(tmp_path: Path):
    Store.open(tmp_path / "triage.db").close()
    code = f"""
import sys, pathlib
from triage.store.database import Store
Store.open(pathlib.Path({str(tmp_path / "triage.db")!r})).close()
print("alembic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://a/b", "mysql is not known; use sqlite or postgresql"),
        ("not a url", "is no database URL"),
        ("sqlite://", "must be a file"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "refused"),
    ],
)
def test_a_url_that_cannot_work_is_told_without_its_password(url: str, words: str):
    with pytest.raises(StoreError, match=words) as caught:
        Store.open(url)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_named(tmp_path: Path):
    path = tmp_path / "triage.db"
    path.write_bytes(b"notes " * 1000)
    with pytest.raises(StoreError, match=r"triage\.db: file is not a database"):
        Store.open(path)


def test_the_file_is_its_owners_alone(tmp_path: Path):
    path = tmp_path / "new" / "triage.db"
    with Store.open(path):
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert {"triage.db", "triage.db-wal"} <= set(modes)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_reading_makes_nothing(tmp_path: Path):
    with pytest.raises(StoreError):
        Store.open(tmp_path / "triage.db", read_only=True)
    assert list(tmp_path.iterdir()) == []
