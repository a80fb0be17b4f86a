"""The drop folder: a complete file is read once, and moved with its report only when all of it is committed."""

import asyncio
import os

import pytest

from adapters.contract import PermanentSourceError, Skipped, Warned
from adapters.files.drop_file import MAX_ELEMENTS
from adapters.files.drop_folder import DropFolder
from schemas.report import FileReport
from tests.support.drops import Drop, LineReader


@pytest.fixture
def drop(tmp_path):
    return Drop(tmp_path / "drop")


def lines(*numbers):
    return "".join(f"{number}\n" for number in numbers)


def test_a_file_is_read_and_moved_with_its_report(drop):
    drop.put("a.jsonl", lines(1, 2, "bad", 3))
    drop.run()
    assert drop.events == ["1", "2", "3"]
    assert drop.names() == []
    assert drop.names("done") == ["a.jsonl", "a.jsonl.report.json"]
    report = drop.report("done", "a.jsonl")
    assert (report.recognised_as, report.conversations, report.seen, report.emitted) == ("lines", 1, 4, 3)
    assert report.rejected[0].where == "a.jsonl: line 2"


def test_a_file_is_moved_only_when_its_last_element_is_committed(drop):
    """B10: while a capture is out, the file is where it was."""
    drop.put("a", lines(*range(MAX_ELEMENTS + 1)))
    places = []
    drop.run(after_commit=lambda capture: places.append((len(capture.elements), drop.names())))
    assert places == [(MAX_ELEMENTS, ["a"]), (1, ["a"]), (0, [])]
    assert drop.names("done") == ["a", "a.report.json"]


@pytest.mark.parametrize("committed", [0, 1, 2, 3])
def test_a_crash_goes_on_behind_what_is_committed(drop, committed):
    """B46: no element twice, none lost, wherever the crash falls; the report still counts them all."""
    total = 2 * MAX_ELEMENTS + 10
    drop.put("a", lines(*range(total)))
    drop.run(stop_after=committed)
    assert drop.names() == ["a"]
    drop.run()
    assert drop.events == [str(number) for number in range(total)]
    assert drop.report("done", "a").emitted == total


def test_after_another_release_a_half_read_file_is_begun_again(drop, monkeypatch):
    """Its reader may count elements otherwise: ids absorb what comes twice, nothing absorbs what is skipped."""
    drop.put("a", lines(*range(MAX_ELEMENTS + 10)))
    drop.run(stop_after=1)
    monkeypatch.setattr("adapters.files.drop.version", lambda _: "99")
    drop.run()
    assert len(drop.events) == MAX_ELEMENTS + MAX_ELEMENTS + 10


def test_the_same_content_under_another_name_adds_nothing(drop):
    drop.put("a", lines(1, 2))
    drop.run()
    drop.put("b", lines(1, 2))
    drop.run()
    assert drop.events == ["1", "2"]
    report = drop.report("done", "b")
    assert (report.seen, report.duplicate, report.emitted) == (2, 2, 0)
    assert "as a" in report.warnings[0]
    assert drop.captures[-1].elements == [Skipped("duplicate", "known file", 2)]


def test_a_file_of_no_known_kind_is_set_aside_and_counted(drop):
    drop.put("x.bin", b"\x00\x01")
    drop.run()
    assert drop.names("rejected") == ["x.bin", "x.bin.report.json"]
    assert drop.report("rejected", "x.bin").error == "recognised as no known kind; nothing was read"
    assert drop.captures[0].elements[0].reason == "unknown-file"


def test_a_file_that_breaks_off_keeps_what_was_read_and_is_set_aside(drop):
    drop.put("a", lines(1, 2, "stop", 3))
    drop.run()
    assert drop.events == ["1", "2"]
    report = drop.report("rejected", "a")
    assert (report.error, report.emitted) == ("cannot go on", 2)


def test_a_reader_with_a_bug_costs_its_file_only(drop, caplog):
    drop.put("a", lines(1, "crash"))
    drop.put("b", lines(2))
    drop.run()
    assert drop.events == ["1", "2"]
    assert "KeyError" in drop.report("rejected", "a").error
    assert "drop-reader-failed" in caplog.text


def test_a_reader_that_raises_at_once_costs_its_file_only(drop, caplog):
    class Raises(LineReader):
        def read(self, stream, path, options):
            raise RuntimeError("no")

    drop.reader = Raises()
    drop.put("a", lines(1))
    drop.run()
    assert drop.names("rejected") == ["a", "a.report.json"]


def test_a_file_of_which_nothing_could_be_read_is_set_aside(drop):
    drop.put("a", lines("bad", "bad"))
    drop.run()
    assert drop.names("rejected") == ["a", "a.report.json"]


def test_nothing_that_was_moved_is_overwritten(drop):
    for number in range(3):
        drop.put("a.json", lines(number))
        drop.run()
    assert [name for name in drop.names("done") if "report" not in name] == ["a-2.json", "a-3.json", "a.json"]
    assert (drop.path / "done" / "a-3.json").read_text() == "2\n"


def test_unfinished_hidden_and_foreign_things_are_left_alone(drop):
    kept = ["big.zip", "big.zip.crdownload", ".hidden", "x.part", "y.tmp", "z~"]
    for name in kept:
        drop.put(name, lines(1))
    (drop.path / "folder").mkdir()
    drop.run()
    assert drop.names() == sorted(kept)
    assert drop.events == []
    assert drop.captures[0].elements == [
        Warned("folder", "folders in the drop folder are not read; put the files there themselves")
    ]


def test_a_link_is_not_followed(drop, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    drop.put("a", lines(1))
    (drop.path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(drop.path / "pipe")
    drop.run()
    assert drop.events == ["1"]
    assert (drop.path / "rejected" / "link").is_symlink()
    assert "link" in drop.report("rejected", "link").error
    assert (tmp_path / "secret").exists()
    assert (drop.path / "rejected" / "pipe.report.json").exists()


def test_a_name_that_is_no_utf8_and_one_as_long_as_names_may_be(drop):
    drop.path.mkdir()
    (drop.path / os.fsdecode(b"\xff.jsonl")).write_text(lines(1))
    drop.put("é" * 127, lines(2))
    drop.run()
    assert sorted(drop.events) == ["1", "2"]
    assert drop.names() == []
    assert len(drop.names("done")) == 4


def test_a_file_that_changes_while_it_is_read_is_read_again(drop):
    """A copy that stalled was taken too early: it stays until it is whole."""
    path = drop.put("a", lines(1))
    grown = []

    def grow(capture):
        if not grown:
            grown.append(capture)
            path.write_text(lines(1, 2))

    drop.run(after_commit=grow)
    assert drop.events == ["1", "1", "2"], "ids absorb what comes twice"
    assert drop.names("done") == ["a", "a.report.json"]
    assert drop.report("done", "a").emitted == 2


def test_a_file_counts_as_complete_after_two_equal_looks(tmp_path):
    now = [0.0]
    folder = DropFolder(tmp_path, settle_seconds=2, empty_seconds=60, clock=lambda: now[0])
    folder.prepare()
    (tmp_path / "a").write_text("1")
    (tmp_path / "empty").write_text("")
    looks = []
    for seconds, content in [(0, None), (1.5, "12"), (3, None), (3.6, None), (60, None)]:
        now[0] = seconds
        if content:
            (tmp_path / "a").write_text(content)
        looks.append(folder.look()[0])
    assert looks == [[], [], [], ["a"], ["a", "empty"]]


def test_a_file_that_cannot_be_opened_waits_then_is_set_aside(drop, monkeypatch):
    drop.put("a", lines(1))

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(drop, "recognise", refuse, raising=False)
    drop.refused_seconds = 0.01
    drop.run()
    assert drop.report("rejected", "a").error == "cannot be opened: Permission denied"


def test_a_place_that_cannot_be_written_stops_the_source_and_says_so(tmp_path):
    (tmp_path / "drop").write_text("a file")
    with pytest.raises(PermanentSourceError, match="drop folder"):
        DropFolder(tmp_path / "drop").prepare()


def test_a_report_is_written_before_its_file_is_moved(tmp_path, monkeypatch):
    """A crash in between leaves a file that is read again, not one without a report."""
    folder = DropFolder(tmp_path)
    folder.prepare()
    (tmp_path / "a").write_text("1")
    monkeypatch.setattr("pathlib.Path.rename", lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))
    with pytest.raises(PermanentSourceError, match="cannot be moved to done/: I/O error"):
        folder.put("a", "done", FileReport(path="a"))
    assert (tmp_path / "a").exists()
    assert (tmp_path / "done" / "a.report.json").exists()


def test_stopping_in_the_middle_closes_the_file(drop):
    """ResourceWarning is an error in these tests."""
    drop.put("a", lines(*range(5 * MAX_ELEMENTS)))
    drop.run(stop_after=2)
    assert len(drop.captures) == 2


def test_damaged_checkpoints_cost_a_second_reading_only(drop):
    drop.put("a", lines(1))
    drop.run(stop_after=1)
    drop.points = dict.fromkeys(drop.points, b"\x00")
    drop.run()
    assert drop.names("done") == ["a", "a.report.json"]


def test_cancelling_while_a_thread_reads_ends_the_thread(drop):
    """The process must not wait for gigabytes to be hashed."""
    drop.put("a", lines(*range(MAX_ELEMENTS * 20)))

    async def run():
        captures = drop.adapter().captures({})
        first = asyncio.ensure_future(anext(captures))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await captures.aclose()
        return first

    assert asyncio.run(run()).done()
