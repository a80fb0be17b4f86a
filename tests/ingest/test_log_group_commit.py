"""Writers that come together share one disk sync; what fails for one fails alone, what fails for all is said to all."""

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest

from ingest.log import writer
from ingest.log.connection import set_busy_timeout
from ingest.log.contract import FencedError, LogBusyError, LogError, LogFullError, NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.log.state_contract import Commit
from tests.support.log import captured, values


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog.open(tmp_path / "log.db") as opened:
        yield opened


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(20) as executor:
        yield executor


def connection_of(log: EmbeddedLog) -> sqlite3.Connection:
    assert log._writer is not None
    assert log._writer._connection is not None
    return log._writer._connection


def until(holds: Callable[[], bool]) -> None:
    end = monotonic() + 30
    while not holds():
        assert monotonic() < end
        sleep(0.005)


def together(log: EmbeddedLog, pool: ThreadPoolExecutor, calls: list[Callable[[], None]]) -> list[Future[None]]:
    """Let calls wait for the writer until all are there, then let it go on."""
    assert log._writer is not None
    queue = log._writer._queue
    begun, go = Event(), Event()

    def hold(_connection: sqlite3.Connection) -> None:
        begun.set()
        go.wait(30)

    held = log._writer.submit(hold)
    begun.wait(30)
    futures = []
    for number, call in enumerate(calls, 1):
        futures.append(pool.submit(call))
        until(lambda number=number: queue.qsize() == number)
    go.set()
    held.result()
    return futures


def test_appends_that_wait_share_one_commit(log: EmbeddedLog, pool: ThreadPoolExecutor):
    statements: list[str] = []
    connection_of(log).set_trace_callback(statements.append)
    calls = [lambda number=number: log.append(captured(f"{number}")) for number in range(15)]
    for future in together(log, pool, calls):
        future.result()
    assert values(log, Topic.CAPTURED) == [f"{number}" for number in range(15)]
    # One for what held the writer up, one for all that waited meanwhile.
    assert statements.count("COMMIT") == 2


def test_a_group_is_bounded(log: EmbeddedLog, pool: ThreadPoolExecutor, monkeypatch):
    monkeypatch.setattr(writer, "MAX_GROUP", 4)
    statements: list[str] = []
    connection_of(log).set_trace_callback(statements.append)
    calls = [lambda number=number: log.append(captured(f"{number}")) for number in range(10)]
    for future in together(log, pool, calls):
        future.result()
    assert values(log, Topic.CAPTURED) == [f"{number}" for number in range(10)]
    assert statements.count("COMMIT") == 4


def test_a_fenced_append_fails_alone(log: EmbeddedLog, pool: ThreadPoolExecutor):
    old, new = log.open_source("pi"), log.open_source("pi")
    first, fenced, stale, last = together(
        log,
        pool,
        [
            lambda: new.append(captured("a"), {"f": b"1"}),
            lambda: old.append(captured("x"), {"f": b"0"}),
            lambda: log.commit(Commit("g", Topic.CAPTURED, 9, 8, captured("x"))),
            lambda: new.append(captured("b"), {"f": b"2"}),
        ],
    )
    first.result()
    last.result()
    for failed in (fenced, stale):
        with pytest.raises(FencedError):
            failed.result()
    assert values(log, Topic.CAPTURED) == ["a", "b"]
    assert new.checkpoints() == {"f": b"2"}


def test_a_record_of_no_kind_fails_alone(log: EmbeddedLog, pool: ThreadPoolExecutor):
    good, bad = together(
        log,
        pool,
        [
            lambda: log.append(captured("a")),
            lambda: log.append([*captured("x"), NewRecord(Topic.CAPTURED, "\ud800", b"x")]),
        ],
    )
    good.result()
    with pytest.raises(LogError, match="UnicodeEncodeError"):
        bad.result()
    assert values(log, Topic.CAPTURED) == ["a"]


def test_a_full_disk_is_said_and_passes(log: EmbeddedLog):
    """Nothing is half-written, smaller things may still fit, and with space again all goes on by itself."""
    source = log.open_source("pi")
    source.append(captured("a"), {"f": b"1"})
    (pages,) = connection_of(log).execute("PRAGMA page_count").fetchone()
    connection_of(log).execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
    for _ in range(3):
        with pytest.raises(LogFullError, match=r"no space left for .*log\.db"):
            source.append(captured("x" * 100_000), {"f": b"9"})
    assert values(log, Topic.CAPTURED) == ["a"]
    assert source.checkpoints() == {"f": b"1"}
    connection_of(log).execute("PRAGMA max_page_count = 1000000").fetchall()
    source.append(captured("x" * 100_000), {"f": b"2"})
    assert values(log, Topic.CAPTURED) == ["a", "x" * 100_000]
    assert log.check() == []


def test_a_full_disk_does_not_spoil_state(log: EmbeddedLog, monkeypatch):
    """A merge of state that was rolled back begins where the file says, not where memory says."""
    monkeypatch.setattr("ingest.log.state.MERGE_ROWS", 5)
    monkeypatch.setattr("ingest.log.state.SLICE_ROWS", 2)
    expected = {}
    for number in range(40):
        key = number.to_bytes(2, "big")
        at = log.committed("g", Topic.CAPTURED)
        if number % 3 == 1:
            (pages,) = connection_of(log).execute("PRAGMA page_count").fetchone()
            connection_of(log).execute(f"PRAGMA max_page_count = {pages}").fetchall()
            with pytest.raises(LogFullError):
                log.commit(Commit("g", Topic.CAPTURED, at, at, captured("x" * 99_999), {("g", key): b"lost"}))
            # What could not be written with the outputs may have merged a slice before: again, with the outputs last.
            with pytest.raises(LogFullError):
                log._write(lambda connection: _put_then_fill(log, connection))
            connection_of(log).execute("PRAGMA max_page_count = 1000000").fetchall()
        log.commit(Commit("g", Topic.CAPTURED, at, at, [], {("g", key): b"kept"}))
        expected[key] = b"kept"
    assert dict(log.scan_state("g")) == expected


def _put_then_fill(log: EmbeddedLog, connection: sqlite3.Connection) -> None:
    log._state_writer.put(connection, {("g", b"lost"): b"lost"})
    connection.execute("INSERT INTO captured VALUES (999999, 0, 'k', zeroblob(100000))")


def test_another_processs_lock_is_waited_for_and_then_said(log: EmbeddedLog, tmp_path: Path):
    set_busy_timeout(connection_of(log), 0.05)
    other = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogBusyError, match="another process"):
        log.append(captured("a"))
    other.execute("ROLLBACK")
    other.close()
    log.append(captured("b"))
    assert values(log, Topic.CAPTURED) == ["b"]


def test_a_broken_disk_is_said_to_all_and_the_file_is_opened_anew(log: EmbeddedLog, pool: ThreadPoolExecutor):
    def fail(_connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
        raise error

    before = connection_of(log)
    assert log._writer is not None
    futures = together(log, pool, [lambda: log.append(captured("x")), lambda: log._writer.write(fail)])
    for future in futures:
        with pytest.raises(LogError, match=r"log\.db failed .* check the disk"):
            future.result()
    log.append(captured("a"))
    assert values(log, Topic.CAPTURED) == ["a"]
    assert connection_of(log) is not before


def test_reads_do_not_wait_for_the_writer(log: EmbeddedLog):
    log.append(captured("a"))
    assert log._writer is not None
    begun, go = Event(), Event()

    def hold(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM captured")
        begun.set()
        go.wait(30)
        raise LogError("given up")

    held = log._writer.submit(hold)
    begun.wait(30)
    assert values(log, Topic.CAPTURED) == ["a"]
    go.set()
    with pytest.raises(LogError, match="given up"):
        held.result()


def test_closing_writes_what_waits(tmp_path: Path, pool: ThreadPoolExecutor):
    path = tmp_path / "log.db"
    log = EmbeddedLog.open(path)
    futures = together(log, pool, [lambda: log.append(captured("a")), lambda: log.append(captured("b")), log.close])
    for future in futures:
        future.result()
    with EmbeddedLog.open(path) as again:
        assert values(again, Topic.CAPTURED) == ["a", "b"]


def test_an_idle_log_empties_its_wal(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(writer, "_IDLE_S", 0.02)
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        log.append(captured("x" * 100_000))
        until(lambda: (tmp_path / "log.db-wal").stat().st_size == 0)
        assert values(log, Topic.CAPTURED) == ["x" * 100_000]


def test_a_reader_that_stays_cannot_let_the_wal_grow_for_ever(tmp_path: Path, monkeypatch):
    """While it stays the writer goes on; once it has gone the WAL starts over."""
    monkeypatch.setattr(writer, "_WAL_LIMIT_BYTES", 1_000_000)
    monkeypatch.setattr(writer, "_WAL_PATIENCE_S", 0.01)
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        wal = tmp_path / "log.db-wal"
        log.append(captured("a"))
        reader = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM captured").fetchall()
        for _ in range(15):
            log.append(captured("x" * 100_000))
        assert wal.stat().st_size > 1_000_000
        assert reader.execute("SELECT count(*) FROM captured").fetchone() == (1,)
        reader.close()
        sleep(0.02)
        log.append(captured("b"))
        until(lambda: wal.stat().st_size < 1_000_000)
        assert len(values(log, Topic.CAPTURED)) == 17
