"""One holder a lock; a killed holder lets go; the one who is refused learns who holds it."""

import os
import signal
import subprocess
import sys

from ingest.locks import holder, is_held, try_lock

HOLDER = (
    "import sys, time, pathlib\n"
    "from ingest.locks import try_lock\n"
    "lock = try_lock(pathlib.Path(sys.argv[1]))\n"
    "lock.describe('http://127.0.0.1:1')\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)


def start_holder(path):
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"held\n"
    return child


def end(child):
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def test_a_second_taker_is_refused_and_learns_who_holds_it(tmp_path):
    path = tmp_path / "daemon.lock"
    child = start_holder(path)
    try:
        assert try_lock(path, 0) is None
        assert is_held(path)
        assert holder(path).pid == child.pid
        assert holder(path).url == "http://127.0.0.1:1"
    finally:
        end(child)


def test_a_killed_holder_lets_go(tmp_path):
    path = tmp_path / "daemon.lock"
    end(start_holder(path))
    assert not is_held(path)
    with try_lock(path, 0) as lock:
        assert holder(path).pid == os.getpid()
        lock.describe()
    assert not is_held(path)


def test_two_takers_in_one_process_exclude_each_other(tmp_path):
    """A lock belongs to who took it, not to the process."""
    with try_lock(tmp_path / "l", 0):
        assert try_lock(tmp_path / "l", 0) is None
    with try_lock(tmp_path / "l", 0):
        assert is_held(tmp_path / "l")


def test_asking_does_not_make_a_lock(tmp_path):
    assert not is_held(tmp_path / "none")
    assert holder(tmp_path / "none") is None
    assert not (tmp_path / "none").exists()


def test_a_damaged_lock_file_is_no_obstacle(tmp_path):
    (tmp_path / "l").write_bytes(b"\x00\xff{")
    assert holder(tmp_path / "l") is None
    with try_lock(tmp_path / "l", 0):
        assert holder(tmp_path / "l").pid == os.getpid()


def test_a_lock_does_not_pass_on_to_children(tmp_path):
    """A child that outlives the daemon must not keep the next one out."""
    with try_lock(tmp_path / "l", 0):
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"],
            close_fds=False,
            stdout=subprocess.PIPE,
        )
        assert child.stdout.readline() == b"\n"
    try:
        assert not is_held(tmp_path / "l")
    finally:
        end(child)
