"""A log opened for reading changes nothing, beside a running writer or without one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.log.contract import LogError, Topic
from ingest.log.embedded import EmbeddedLog
from tests.support.log import captured, commit, values


def test_it_reads_beside_a_writer(tmp_path: Path):
    path = tmp_path / "log.db"
    with EmbeddedLog.open(path) as log, EmbeddedLog.open(path, read_only=True) as reader:
        log.append(captured("a"))
        commit(log, 1, state={("normalize", b"k"): b"v"})
        assert values(reader, Topic.CAPTURED) == ["a"]
        assert reader.state("normalize", [b"k"]) == {b"k": b"v"}
        assert reader.committed("normalize", Topic.CAPTURED) == 1
        assert reader.wait_for_append({(Topic.CAPTURED, 0): 0}, timeout_s=0)
        log.append(captured("b"))
        assert values(reader, Topic.CAPTURED) == ["a", "b"]
        assert reader.status().topics[0].records == 2


def test_it_reads_without_a_writer_and_leaves_the_file_as_it_was(tmp_path: Path):
    path = tmp_path / "log.db"
    with EmbeddedLog.open(path) as log:
        log.append(captured("a"))
    before = path.read_bytes()
    with EmbeddedLog.open(path, read_only=True) as reader:
        assert values(reader, Topic.CAPTURED) == ["a"]
    assert path.read_bytes() == before


def test_it_refuses_to_write(tmp_path: Path):
    path = tmp_path / "log.db"
    EmbeddedLog.open(path).close()
    with EmbeddedLog.open(path, read_only=True) as reader:
        for write in (lambda: reader.append(captured("a")), lambda: reader.open_source("pi")):
            with pytest.raises(LogError, match="reading only"):
                write()


def test_a_log_that_is_not_there_is_said_and_not_created(tmp_path: Path):
    with pytest.raises(LogError, match=r"there is no log at .*`session-ingest run`"):
        EmbeddedLog.open(tmp_path / "none" / "log.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


_READER = """
import os, sys
from pathlib import Path
from ingest.log.contract import Topic
from ingest.log.embedded import EmbeddedLog
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
with EmbeddedLog.open(Path(sys.argv[1]), read_only=True) as log:
    print([record.value for record in log.read(Topic.CAPTURED, 0, 9, 99)], len(log.status().topics))
"""


@pytest.mark.parametrize("writing", [False, True])
def test_it_reads_in_a_folder_that_is_not_writable(tmp_path: Path, writing: bool):
    """With the WAL and its index of a running writer, and with neither."""
    folder = tmp_path / "state"
    log = EmbeddedLog.open(folder / "log.db")
    log.append(captured("a"))
    if not writing:
        log.close()
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.name.startswith(("pytest-", "popen-", "test_")):  # made by pytest, for its user alone
            parent.chmod(0o755)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _READER, folder / "log.db"],
            capture_output=True,
            text=True,
            check=False,
            cwd=os.curdir,
        )
    finally:
        folder.chmod(0o755)
        log.close()
    assert (done.stdout, done.stderr) == ("[b'a'] 6\n", "")
