"""Bad input costs a one-line error or a counted rejection, the exit status of the contract, and bounded memory.

Through the real commands, each in a process that may not take more than `MEMORY` of address space.
"""

import json
import resource
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import INGEST, TRIAGE, environment

MEMORY = 1024**3
GOOD = (
    b'{"schemaVersion":"1.0","source":{"provider":"pi","providerAccountKey":"pi","threadId":"t"},'
    b'"event":{"id":"e1","type":"message","timestampIso":"2026-01-01T00:00:00.000Z","role":"user","text":"hello"}}'
)
PI = (
    b'{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}\n'
    b'{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z",'
    b'"message":{"role":"user","content":"hello"}}\n'
)
TWO_GB = 2 * 1024**3


def limited(home: Path, *command: str | Path) -> subprocess.CompletedProcess[bytes]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        [*map(str, command)], env=environment(home), capture_output=True, preexec_fn=limit, timeout=240, check=False
    )


def triage(home: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return limited(home, TRIAGE, "--days", "100000", "--workspace", home, "--json", *arguments)


def imported(home: Path, path: Path) -> tuple[subprocess.CompletedProcess[bytes], list[bytes], dict]:
    done = limited(home, INGEST, "import", "--output", home / "out", "--report", home / "report", path)
    return done, (home / "out").read_bytes().splitlines(), json.loads((home / "report").read_bytes())


def assert_one_line(done: subprocess.CompletedProcess[bytes], status: int, *words: str) -> None:
    assert done.returncode == status
    text = done.stderr.decode()
    assert "Traceback" not in text
    assert len(text.strip().splitlines()) == 1
    assert all(word in text for word in words)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def test_a_folder_given_as_events(home: Path) -> None:
    (home / "folder").mkdir()
    assert_one_line(triage(home, "--events", home / "folder"), 2, "folder")


def test_a_missing_file(home: Path) -> None:
    assert_one_line(triage(home, "--events", home / "nowhere.jsonl"), 2, "nowhere.jsonl")


def test_a_missing_file_to_import_is_in_the_report(home: Path) -> None:
    done, events, report = imported(home, home / "nowhere.jsonl")
    assert (done.returncode, events) == (1, [])
    assert report["files"][0]["error"]
    assert b"Traceback" not in done.stderr


def huge_line(path: Path, start: bytes, end: bytes) -> None:
    """A line of 2 GB between good ones; the file is sparse, its bytes are NULs."""
    with path.open("wb") as stream:
        stream.write(start)
        stream.seek(TWO_GB, 1)
        stream.write(b'"}\n' + end)


BAD_LINES = {
    "binary": bytes(range(256)).replace(b"\n", b"") * 20,
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 100_000,
    "torn": GOOD[:80],
    "not an object": b"17",
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_among_events_is_counted(home: Path, name: str) -> None:
    """In the report and by the importer; the events around it are read."""
    path = home / "events.jsonl"
    path.write_bytes(GOOD + b"\n" + BAD_LINES[name] + b"\n" + GOOD.replace(b"e1", b"e2") + b"\n")
    done = triage(home, "--events", path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["events"], report["problemCounts"]["rejected"]) == (1, 2, 1)
    assert b"Traceback" not in done.stderr
    done, events, report = imported(home, path)
    assert (done.returncode, len(events), report["totals"]["rejected"]) == (1, 2, 1)


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_in_a_pi_session_is_counted(home: Path, name: str) -> None:
    path = home / "session.jsonl"
    path.write_bytes(PI + BAD_LINES[name] + b"\n" + PI.splitlines()[1].replace(b'"a"', b'"b"').replace(b"06", b"07"))
    done, events, report = imported(home, path)
    assert (done.returncode, len(events), report["totals"]["rejected"]) == (1, 2, 1)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(("start", "end"), [(GOOD + b'\n{"a":"', GOOD.replace(b"e1", b"e2") + b"\n")])
def test_a_line_of_two_gigabytes_among_events(home: Path, start: bytes, end: bytes) -> None:
    path = home / "events.jsonl"
    huge_line(path, start, end)
    done = triage(home, "--events", path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["events"], report["problemCounts"]["rejected"]) == (1, 2, 1)
    done, events, report = imported(home, path)
    assert (done.returncode, len(events), report["totals"]["rejected"]) == (1, 2, 1)
    assert "line-too-long" in json.dumps(report)


def test_a_line_of_two_gigabytes_in_a_pi_session(home: Path) -> None:
    path = home / "session.jsonl"
    huge_line(path, PI + b'{"type":"message","message":{"role":"user","content":"', PI.splitlines()[1] + b"\n")
    done, events, report = imported(home, path)
    assert (done.returncode, len(events), report["totals"]["rejected"]) == (1, 1, 1)
    assert "line-too-long" in json.dumps(report)


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"hello\n", b"\xff\xfe{}"])
def test_a_file_of_no_known_kind_is_named_and_left_alone(home: Path, content: bytes) -> None:
    path = home / "what.bin"
    path.write_bytes(content)
    done, events, report = imported(home, path)
    assert (done.returncode, events) == (1, [])
    assert report["files"][0]["recognisedAs"] is None
    assert "what.bin" in done.stderr.decode()
    assert path.read_bytes() == content
