"""The command leaves whole files or none, frees what it used, and tells people what became of each file."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.archives import packed
from tests.support.commands import INGEST, environment, run

EVENT = {
    "schemaVersion": "1.0",
    "source": {"provider": "x", "threadId": "t"},
    "event": {
        "id": "e",
        "type": "message",
        "timestampIso": "2026-01-02T03:04:05.000Z",
        "role": "user",
        "text": "words",
    },
}


def lines(count: int) -> bytes:
    template = json.dumps(EVENT)
    return "\n".join(template.replace('"e"', f'"e{number}"') for number in range(count)).encode()


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (signal.SIGINT, 130, b"interrupted"),
        (signal.SIGTERM, -signal.SIGTERM, b"ended by a signal"),
        (signal.SIGHUP, -signal.SIGHUP, b"ended by a signal"),
    ],
)
def test_an_ended_import_leaves_nothing(tmp_path: Path, number: int, status: int, words: bytes) -> None:
    """Ctrl-C, a shutdown or a closed terminal in the middle: no half output, no draft, no unpacked member.

    Whoever sent the signal sees that the process died of it; Ctrl-C is told by shells' own status.
    """
    temporary, out = tmp_path / "tmp", tmp_path / "out"
    temporary.mkdir()
    out.mkdir()
    (tmp_path / "big.zip").write_bytes(packed({"events.jsonl": lines(300_000)}))
    process = subprocess.Popen(
        [INGEST, "import", "--output", out / "events.jsonl", tmp_path / "big.zip"],
        env=environment(tmp_path, TMPDIR=str(temporary)),
        stderr=subprocess.PIPE,
        # Where tests run under nohup, a closed terminal is nothing to the import either.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 - this thread alone is at work
    )
    deadline = time.monotonic() + 30
    while not any(out.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [path.suffix for path in out.iterdir()] == [".tmp"]
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status
    assert words in said
    assert list(out.iterdir()) == []
    assert list(temporary.iterdir()) == []


def test_an_archive_is_told_of_in_a_table_with_what_was_not_read(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(
        packed({"events.jsonl": lines(3), "notes.txt": b"hello", "photo.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF"})
    )
    done = run(INGEST, "import", "--output", "-", path, home=tmp_path)
    told = done.stderr.decode()
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3
    assert "canonical events" in told
    assert "notes.txt" in told
    assert "1 media and other binary files" in told


def test_a_wrong_archive_ends_with_a_hint_and_status_1(tmp_path: Path) -> None:
    path = tmp_path / "takeout.zip"
    path.write_bytes(packed({"Takeout/Mail/All.mbox": b"From x", "Takeout/archive_browser.html": b"<html>"}))
    done = run(INGEST, "import", "--output", tmp_path / "o", "--report", tmp_path / "r", path, home=tmp_path)
    assert done.returncode == 1
    assert b"Gemini Apps" in done.stderr
    (report,) = json.loads((tmp_path / "r").read_bytes())["files"]
    assert (report["recognisedAs"], "choose My Activity" in report["error"]) == (None, True)


def test_an_archive_goes_into_the_log_and_again_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(packed({"a.jsonl": lines(3), "b.zip": packed({"c.jsonl": lines(5)})}))
    first = run(INGEST, "import", path, home=tmp_path)
    again = run(INGEST, "import", path, home=tmp_path)
    assert b"5 new events of 8 seen" in first.stderr
    assert b"0 new events of 8 seen" in again.stderr
    assert os.listdir(tmp_path / "state" / "session-triage")  # noqa: PTH208 - only whether there is anything


def test_a_wrong_zone_is_wrong_usage(tmp_path: Path) -> None:
    """Nothing is read, and one line says what a zone looks like."""
    done = run(INGEST, "import", "--timezone", "Mars/Phobos", "--output", "-", tmp_path, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [
        "session-ingest: --timezone Mars/Phobos: there is no such zone; use a name such as Europe/Lisbon"
    ]
