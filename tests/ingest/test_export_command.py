"""`session-ingest export` writes what the log holds: whole or not at all, filtered, beside a daemon, with statuses."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from ingest.export_selection import Reading, Selection, SelectionError, select
from ingest.export_threads import ThreadIndex
from ingest.log.contract import NewRecord, Topic
from ingest.log.embedded import EmbeddedLog
from ingest.whole_files import whole_file, whole_folder
from schemas.event import CanonicalEvent, encode
from tests.support.commands import INGEST, run
from tests.support.pam import fill, read_bundle
from tests.support.processors import event


def at(day: int, provider: str = "claude", thread: str = "t-1", account: str | None = None) -> CanonicalEvent:
    time = f"2026-03-{day:02}T10:00:00Z"
    return event(f"day {day}", times=[time], provider=provider, thread_id=thread, account=account)


EVENTS = [at(1), at(2, "claude", "t-2", "ana"), at(3, "pi", "t-3"), at(4), at(5, "claude", "t-2", "ana")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose log holds `EVENTS`."""
    state = tmp_path / "state" / "session-triage"
    with EmbeddedLog.open(state / "log.db") as log:
        fill(log, EVENTS)
    return tmp_path


def export(home: Path, *arguments: str | Path) -> tuple[int, str, str]:
    done = run(INGEST, "export", *arguments, home=home)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def texts(lines: str) -> list[str]:
    return [json.loads(line)["event"]["text"] for line in lines.splitlines()]


def test_the_events_of_the_log_as_they_are(home: Path) -> None:
    """In the order of the log, byte for byte; `-` is standard output."""
    status, output, told = export(home, "--output", "-")
    assert (status, output.encode()) == (0, b"".join(encode(one) + b"\n" for one in EVENTS))
    assert "5 events → standard output" in told


@pytest.mark.parametrize(
    ("arguments", "days"),
    [
        (["--provider", "pi"], [3]),
        (["--provider", "Claude"], [1, 2, 4, 5]),
        (["--provider", "claude/ana"], [2, 5]),
        (["--provider", "pi", "--provider", "claude/ana"], [2, 3, 5]),
        (["--thread", "t-2"], [2, 5]),
        (["--thread", "t-2", "--thread", "t-3"], [2, 3, 5]),
        (["--since", "2026-03-03"], [3, 4, 5]),
        (["--until", "2026-03-03T10:00:00Z"], [1, 2]),
        (["--since", "2026-03-02T12:00:00+02:00", "--until", "2026-03-05"], [2, 3, 4]),
        (["--thread", "t-9"], []),
    ],
)
def test_filters(arguments: list[str], days: list[int]) -> None:
    """`--since` is the first moment taken, `--until` the first that is not; options of one kind add, kinds narrow."""
    options: dict[str, list[str]] = {}
    for name, value in zip(arguments[::2], arguments[1::2], strict=True):
        options.setdefault(name, []).append(value)
    selection = select(
        options.get("--provider", []),
        options.get("--thread", []),
        *(options.get(name, [None])[0] for name in ("--since", "--until")),
    )
    assert [one.event.text for one in EVENTS if selection.wants(one)] == [f"day {day}" for day in days]


def test_filters_reach_the_command(home: Path) -> None:
    status, output, _ = export(
        home, "--output", "-", "--provider", "claude", "--thread", "t-2", "--since", "2026-03-03"
    )
    assert (status, texts(output)) == (0, ["day 5"])


def test_a_time_that_is_none_is_wrong_usage() -> None:
    with pytest.raises(SelectionError, match="--since 'soon'"):
        select([], [], "soon", None)


def test_a_bundle_twice_into_the_same_place_and_back(home: Path) -> None:
    """The second takes the place of the first; both imports add nothing to the log they came from."""
    assert export(home, "--pam", home / "out")[0] == 0
    first = {path: path.read_bytes() for path in (home / "out").rglob("*.json")}
    status, _, told = export(home, "--pam", home / "out")
    assert (status, {path: path.read_bytes() for path in (home / "out").rglob("*.json")}) == (0, first)
    assert "5 events in 3 conversations" in told
    assert sorted(path.name for path in home.iterdir()) == ["out", "state"]
    back = run(INGEST, "import", home / "out", "--output", home / "back.jsonl", home=home)
    assert back.returncode == 0, back.stderr
    again = {json.loads(line)["event"]["id"] for line in (home / "back.jsonl").read_text().splitlines()}
    assert again == {one.event.id for one in EVENTS}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name either --output"),
        (["--output", "-", "--pam", "x"], "name either --output"),
        (["--output", "-", "--since", "soon"], "a day or time such as"),
        (["--output", "-", "--provider", "/x"], "no provider"),
        (["--nothing"], "--nothing"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_right(home: Path, arguments: list[str], words: str) -> None:
    status, output, told = export(home, *arguments)
    assert (status, output) == (2, "")
    assert words in told


def test_a_folder_with_other_things_is_refused(home: Path) -> None:
    """Nothing in it is touched; an empty one is taken."""
    folder = home / "out"
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    status, _, told = export(home, "--pam", folder)
    assert status == 2
    assert "diary.txt" in told
    assert [path.name for path in folder.iterdir()] == ["diary.txt"]
    (folder / "diary.txt").unlink()
    assert export(home, "--pam", folder)[0] == 0
    (folder / "conversations" / "mine.json").write_text("{}")
    assert export(home, "--pam", folder)[0] == 2


def test_somebody_elses_bundle_is_refused(home: Path) -> None:
    (home / "out").mkdir()
    (home / "out" / "memory-store.json").write_text('{"schema":"portable-ai-memory","exported_by":"other/1.0.0"}')
    assert export(home, "--pam", home / "out")[0] == 2
    assert len(list((home / "out").iterdir())) == 1


def test_without_a_log_or_a_place_to_write_it_ends_with_1(tmp_path: Path, home: Path) -> None:
    status, _, told = export(tmp_path / "nobody", "--output", "-")
    assert (status, "there is no log" in told) == (1, True)
    status, _, told = export(home, "--output", home / "no" / "such" / "file.jsonl")
    assert (status, "no" in told) == (1, True)


def test_a_damaged_record_is_named_and_costs_only_itself(home: Path) -> None:
    with EmbeddedLog.open(home / "state" / "session-triage" / "log.db") as log:
        log.append([NewRecord(Topic.EVENTS, "claude/t-1", b'{"no":"event"}')])
        fill(log, [at(6)])
    for arguments in (["--output", "-"], ["--pam", home / "out"]):
        status, _, told = export(home, *arguments)
        assert status == 1
        assert "conversations.events 6: no canonical event" in told
        assert "6 events" in told


def test_a_failure_leaves_the_former_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("former")
    (tmp_path / "d").mkdir()

    class StopError(Exception):
        pass

    def half_a_file() -> None:
        with whole_file(str(tmp_path / "f")) as stream:
            stream.write(b"half")
            raise StopError

    def half_a_folder() -> None:
        with whole_folder(tmp_path / "d", "x") as draft:
            (draft / "half").write_text("half")
            raise StopError

    for half in (half_a_file, half_a_folder):
        with pytest.raises(StopError):
            half()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["d", "f"]
    assert (tmp_path / "f").read_text() == "former"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_modes_follow_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with whole_file(str(tmp_path / "f")) as stream:
            stream.write(b"x")
        with whole_folder(tmp_path / "d", "x"):
            pass
    finally:
        os.umask(mask)
    assert ((tmp_path / "f").stat().st_mode & 0o777, (tmp_path / "d").stat().st_mode & 0o777) == (0o640, 0o750)


def test_exporting_while_the_log_grows_ends_with_what_was_there(tmp_path: Path) -> None:
    """A writer that appends all the time neither stops the export nor makes it endless."""
    path = tmp_path / "log.db"
    stop = threading.Event()
    with EmbeddedLog.open(path) as log:
        fill(log, [at(1, thread=f"t-{n}") for n in range(50)])

        def write() -> None:
            while not stop.is_set():
                fill(log, [at(2)])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            with EmbeddedLog.open(path, read_only=True) as reader:
                end = reader.end_offset(Topic.EVENTS)
                offsets = [record.offset for record, _ in Reading(reader, Selection()).selected()]
        finally:
            stop.set()
            writer.join()
        assert offsets == list(range(1, len(offsets) + 1))
        assert end <= len(offsets) < log.end_offset(Topic.EVENTS) + 1


def test_offsets_that_retention_took_away_are_passed_over(tmp_path: Path) -> None:
    with EmbeddedLog.open(tmp_path / "log.db") as log:
        fill(log, [at(1)] * 5)
        reading = Reading(log, Selection())
        assert [record.offset for record in reading.records(iter([1, 2, 3, 5, 7, 9]))] == [1, 2, 3, 5]


def test_the_index_holds_places_by_thread_in_order_of_time() -> None:
    with ThreadIndex() as index:
        for offset, one in enumerate([at(4, thread="b"), at(3, thread="a"), at(1, thread="b"), at(4, thread="b")], 1):
            index.add(one, offset)
        index.finish()
        assert {place.thread_id: (list(index.places(place)), index.count(place)) for place in index.threads()} == {
            "a": ([2], 1), "b": ([3, 1, 4], 3),
        }  # fmt: skip


def test_the_bundle_of_the_command_has_the_given_owner(home: Path) -> None:
    assert export(home, "--pam", home / "out", "--owner", "ana")[0] == 0
    assert read_bundle(home / "out")["memory-store.json"]["owner"] == {"id": "ana"}


def test_help_teaches() -> None:
    done = run(INGEST, "export", "--help", home=Path("/nonexistent"))
    words = done.stdout.decode()
    assert done.returncode == 0
    for taught in ("--output", "--pam", "Exit status", "--output events.jsonl --since 2026-01-01"):
        assert taught in words
