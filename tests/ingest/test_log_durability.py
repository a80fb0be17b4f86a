"""What the embedded log acknowledged survives `kill -9`; what is damaged is said, never deleted, never waited on."""

import random
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from ingest.log import schema
from ingest.log.contract import LogDamagedError, LogError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from tests.support.log import captured, commit, everything, spawn, values

# Appends numbered records and, beside that, processes them; merges of state are made small so that kills hit them.
_WORKER = """
import os
import sys
from pathlib import Path
from threading import Thread
import ingest.log.state as state
from ingest.log.contract import NewRecord, Topic
from ingest.log.state_contract import Commit
from ingest.log.embedded import EmbeddedLog

state.MERGE_ROWS, state.SLICE_ROWS = 40, 7
log = EmbeddedLog.open(Path(sys.argv[1]))

def process():
    at = log.committed("normalize", Topic.CAPTURED)
    while True:
        batch = log.read(Topic.CAPTURED, at, 3, 2**40)
        if not batch:
            log.wait_for_append({(Topic.CAPTURED, 0): at}, 1)
            continue
        outputs = [NewRecord(Topic.EVENTS, record.key, record.value) for record in batch]
        seen = {("normalize", record.value): record.value for record in batch}
        log.commit(Commit("normalize", Topic.CAPTURED, batch[-1].offset, at, outputs, seen))
        at = batch[-1].offset
        os.write(1, b"processed %d\\n" % at)

Thread(target=process, daemon=True).start()
source = log.open_source("pi")
number = int(source.checkpoints().get("n", b"0"))
while True:
    number += 1
    source.append([NewRecord(Topic.CAPTURED, "k", f"{number}{part}".encode() + b"x" * 2000) for part in "ab"],
                  {"n": str(number).encode()})
    os.write(1, b"appended %d\\n" % number)
"""


def _kill_round(path: Path, delay_s: float) -> dict[str, int]:
    """Let a worker work and kill it; the last number that it acknowledged of each kind."""
    child = spawn(_WORKER, path)
    assert child.stdout is not None
    first = child.stdout.readline().split()
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(delay_s)
    child.kill()
    rest = child.communicate()[0]
    acknowledged = {first[0]: int(first[1])}
    # A line that the kill cut off has no newline; what it said was acknowledged all the same, but is unreadable.
    for line in rest.splitlines(keepends=True):
        if line.endswith("\n"):
            kind, number = line.split()
            acknowledged[kind] = int(number)
    return acknowledged


def _check_whole(path: Path, acknowledged: dict[str, int]) -> None:
    with EmbeddedLog.open(path) as log:
        number = int(log.open_source("pi").checkpoints().get("n", b"0"))
        assert number >= acknowledged.get("appended", 0)
        expected = [f"{n}{part}" + "x" * 2000 for n in range(1, number + 1) for part in "ab"]
        assert values(log, Topic.CAPTURED) == expected
        committed = log.committed("normalize", Topic.CAPTURED)
        assert committed >= acknowledged.get("processed", 0)
        assert values(log, Topic.EVENTS) == expected[:committed]
        remembered = {value.encode(): value.encode() for value in expected[:committed]}
        assert log.state("normalize", [value.encode() for value in expected]) == remembered
        assert dict(log.scan_state("normalize", limit=10**6)) == remembered
        assert log.check() == []


def _kill_rounds(path: Path, rounds: int) -> None:
    chance = random.Random(7)
    for _ in range(rounds):
        _check_whole(path, _kill_round(path, chance.uniform(0, 0.15)))


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path):
    """Every acknowledged append is there with its checkpoint, every commit with its outputs and state, none twice."""
    _kill_rounds(tmp_path / "log.db", 15)


@pytest.mark.soak
def test_what_was_acknowledged_survives_many_kills(tmp_path: Path):
    _kill_rounds(tmp_path / "log.db", 300)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory) -> Path:
    """The files of a log as a crash leaves them: 30 appends of which the last are in the WAL only."""
    folder = tmp_path_factory.mktemp("crashed")
    with EmbeddedLog.open(folder / "live" / "log.db") as log:
        source = log.open_source("pi")
        for number in range(30):
            records = captured(*(f"{number}{part}" + "x" * 900 for part in "abc"))
            source.append(records, {"n": str(number).encode()})
            commit(log, 3 * number + 3, state={("normalize", f"{number}".encode()): b"1"})
            if number == 9:
                connection = sqlite3.connect(folder / "live" / "log.db")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.close()
        (folder / "copy").mkdir()
        for name in ("log.db", "log.db-wal"):
            shutil.copy(folder / "live" / name, folder / "copy" / name)
    return folder / "copy"


def _copy(crashed: Path, tmp_path: Path, trial: int) -> Path:
    folder = tmp_path / str(trial)
    shutil.copytree(crashed, folder)
    return folder / "log.db"


def _assert_prefix(path: Path) -> int:
    """The log opens, and holds the first appends, each whole and with its checkpoint; how many."""
    with EmbeddedLog.open(path) as log:
        number = int(log.open_source("pi").checkpoints()["n"])
        assert values(log, Topic.CAPTURED) == [f"{n}{part}" + "x" * 900 for n in range(number + 1) for part in "abc"]
        assert log.check() == []
        log.append(captured("more"))
        return number + 1


def test_a_whole_wal_loses_nothing(crashed: Path, tmp_path: Path):
    assert _assert_prefix(_copy(crashed, tmp_path, 0)) == 30


def test_a_cut_wal_loses_only_what_was_cut(crashed: Path, tmp_path: Path):
    size = (crashed / "log.db-wal").stat().st_size
    kept = []
    for trial in range(25):
        path = _copy(crashed, tmp_path, trial)
        with path.with_name("log.db-wal").open("r+b") as wal:
            wal.truncate(size * trial // 25)
        kept.append(_assert_prefix(path))
    assert kept == sorted(kept)
    assert kept[0] == 10
    assert kept[-1] > 25


def test_a_wal_with_a_flipped_byte_loses_only_what_follows(crashed: Path, tmp_path: Path):
    size = (crashed / "log.db-wal").stat().st_size
    chance = random.Random(3)
    for trial in range(25):
        path = _copy(crashed, tmp_path, trial)
        _flip(path.with_name("log.db-wal"), chance.randrange(size))
        assert 10 <= _assert_prefix(path) <= 30


def _flip(path: Path, at: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        (byte,) = stream.read(1)
        stream.seek(at)
        stream.write(bytes([byte ^ 0xFF]))


@pytest.mark.parametrize("damage", ["cut", "flip", "zero"])
def test_a_damaged_file_opens_or_says_so(crashed: Path, tmp_path: Path, damage: str):
    """Whatever byte is wrong: an answer or a `LogError`, and the file is still there."""
    chance = random.Random(11)
    outcomes = set()
    for trial in range(30):
        path = _copy(crashed, tmp_path, trial)
        # A clean end moves everything into the file, where no checksum helps.
        EmbeddedLog.open(path).close()
        size = path.stat().st_size
        at = trial if trial < 10 else chance.randrange(size)
        if damage == "cut":
            with path.open("r+b") as stream:
                stream.truncate(at)
        elif damage == "flip":
            _flip(path, at)
        else:
            with path.open("r+b") as stream:
                stream.seek(at)
                stream.write(bytes(min(4096, size - at)))
        outcomes.add(_use(path))
        assert path.exists()
    assert "refused" in outcomes


def _use(path: Path) -> str:
    message = ""
    try:
        with EmbeddedLog.open(path) as log:
            log.check()
            source = log.open_source("pi")
            source.checkpoints()
            source.append(captured("more"), {"n": b"x"})
            commit(log, log.end_offset(Topic.CAPTURED), state={("normalize", b"k"): b"v"})
            for topic in Topic:
                everything(log, topic)
            log.status()
    except LogError as error:
        message = str(error)
    assert not message or "log.db" in message or "group" in message
    return "refused" if message else "used"


def test_an_empty_file_is_a_new_log(tmp_path: Path):
    path = tmp_path / "log.db"
    path.touch()
    with EmbeddedLog.open(path) as log:
        assert log.end_offset(Topic.CAPTURED) == 0


def test_an_empty_file_beside_a_wal_is_damage(crashed: Path, tmp_path: Path):
    """SQLite itself would delete that WAL, with all that is in it."""
    path = _copy(crashed, tmp_path, 0)
    path.write_bytes(b"")
    wal = path.with_name("log.db-wal").read_bytes()
    with pytest.raises(LogDamagedError, match=r"log\.db is damaged .* nothing was deleted"):
        EmbeddedLog.open(path)
    assert path.with_name("log.db-wal").read_bytes() == wal


def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    path = tmp_path / "log.db"
    path.write_text("not a database, only words\n" * 100)
    with pytest.raises(LogDamagedError, match="not a database"):
        EmbeddedLog.open(path)
    assert path.read_text().startswith("not a database")


def test_another_programs_database_is_refused(tmp_path: Path):
    path = tmp_path / "log.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.commit()
    connection.close()
    with pytest.raises(LogError, match="another program"):
        EmbeddedLog.open(path)


def test_a_newer_layout_is_refused(tmp_path: Path):
    path = tmp_path / "log.db"
    EmbeddedLog.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    for read_only in (False, True):
        with pytest.raises(LogError, match="update session-triage"):
            EmbeddedLog.open(path, read_only=read_only)


def test_an_older_layout_is_brought_up_to_date(tmp_path: Path, monkeypatch):
    """Each version's step runs once, and what was in the file stays."""
    path = tmp_path / "log.db"
    with EmbeddedLog.open(path) as log:
        log.append(captured("old"))
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE added (a)",)))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(LogError, match="let session-ingest open it once"):
        EmbeddedLog.open(path, read_only=True)
    for _ in range(2):
        with EmbeddedLog.open(path) as log:
            assert values(log, Topic.CAPTURED) == ["old"]


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch):
    path = tmp_path / "log.db"
    with EmbeddedLog.open(path) as log:
        log.append(captured("old"))
    with monkeypatch.context() as broken:
        broken.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE added (a)", "NONSENSE")))
        broken.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises(LogError):
            EmbeddedLog.open(path)
    with EmbeddedLog.open(path) as log:
        assert values(log, Topic.CAPTURED) == ["old"]


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path):
    (tmp_path / "log.db").mkdir()
    with pytest.raises(LogError, match="not a file"):
        EmbeddedLog.open(tmp_path / "log.db")


def test_the_log_is_for_its_user_alone(tmp_path: Path):
    path = tmp_path / "state" / "log.db"
    with EmbeddedLog.open(path) as log:
        log.append([NewRecord(Topic.EVENTS, "k", b"private")])
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert modes == {"log.db": 0o600, "log.db-wal": 0o600, "log.db-shm": 0o600}


def test_a_closed_log_says_so(tmp_path: Path):
    log = EmbeddedLog.open(tmp_path / "log.db")
    log.close()
    log.close()
    with pytest.raises(LogError, match="closed"):
        log.append(captured("a"))
    with pytest.raises(LogError, match="closed"):
        log.end_offset(Topic.CAPTURED)


def test_each_commit_is_flushed_to_the_disk(tmp_path: Path):
    """No test can cut the power; the settings that survive it are what can be asserted."""
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        pragmas = ("synchronous", "fullfsync", "checkpoint_fullfsync", "journal_mode")
        found = log._write(
            lambda connection: [connection.execute(f"PRAGMA {pragma}").fetchone()[0] for pragma in pragmas]
        )
    assert found == [2, 1, 1, "wal"]
