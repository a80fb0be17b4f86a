"""Whatever a person names, each file in it has its report, and nothing is read or lost in silence."""

import os
from pathlib import Path

import pytest

from adapters.catalogue import Catalogue
from adapters.contract import ReadOptions
from ingest.import_sinks import OutputSink
from ingest.importer import Importer
from schemas.report import FileReport, summarise
from tests.support.archives import CHATS, READERS, packed, with_flag

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100)


def run(tmp_path: Path, *paths: Path, provider: str | None = None, progress=None) -> list[FileReport]:
    readers = Catalogue(READERS)
    forced = readers.named(provider) if provider else None
    asked = readers.only(provider) if provider else readers
    with OutputSink(str(tmp_path / "out.jsonl")) as sink:
        return list(Importer(sink, asked, ReadOptions(), forced, progress).run(paths))


@pytest.fixture
def put(tmp_path: Path):
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return write


def test_members_of_an_archive_have_a_report_each(tmp_path, put) -> None:
    path = put(
        "export.zip", packed({"1.json": CHATS, "2.json": b'{"chats": ["c", "bad"]}', "x.png": PNG, "n.txt": b"hi"})
    )
    first, second, archive = run(tmp_path, path)
    assert (first.path, first.recognised_as, first.emitted) == (f"{path}/1.json", "chats", 2)
    assert (second.emitted, second.rejected_count) == (1, 1)
    assert (archive.path, archive.recognised_as, archive.error) == (str(path), "ZIP archive", None)
    assert archive.passed_over == {"media and other binary files": 1}
    assert archive.warnings == [f"{path}: not recognised as any known kind: n.txt"]


def test_an_archive_is_known_by_its_content(tmp_path, put) -> None:
    (report,) = run(tmp_path, put("export.dms", packed({"1.json": CHATS})))
    assert report.emitted == 2


def test_an_archive_of_which_nothing_is_known_is_one_failure(tmp_path, put) -> None:
    (report,) = run(tmp_path, put("export.zip", packed({"x.png": PNG})))
    assert (report.recognised_as, report.seen) == (None, 0)
    assert "attachments only" in report.error
    assert summarise([report]).failed


def test_what_is_encrypted_in_a_readable_archive_is_a_failure(tmp_path, put) -> None:
    inner = with_flag(packed({"1.json": CHATS}), flag=1)
    (report,) = run(tmp_path, put("export.zip", inner))
    assert "1.json: encrypted" in report.error


def test_a_folder_gives_what_is_known_and_names_the_rest(tmp_path, put) -> None:
    put("folder/b/1.json", CHATS)
    put("folder/export.zip", packed({"2.json": b'{"chats": ["c"]}'}))
    put("folder/note.txt", b"hello")
    put("folder/.hidden/3.json", CHATS)
    put("folder/x.report.json", CHATS)
    reports = run(tmp_path, tmp_path / "in" / "folder")
    assert [(report.path.rpartition("/in/")[2], report.emitted) for report in reports] == [
        ("folder/b/1.json", 2),
        ("folder/export.zip/2.json", 1),
        ("folder", 0),
    ]
    assert reports[-1].warnings[0].endswith("folder: not recognised as any known kind: note.txt")
    assert not summarise(reports).failed


def test_a_folder_of_which_nothing_is_known_is_a_failure_and_an_empty_one_is_not(tmp_path, put) -> None:
    put("folder/note.txt", b"hello")
    (tmp_path / "empty").mkdir()
    assert summarise(run(tmp_path, tmp_path / "in" / "folder")).failed
    assert run(tmp_path, tmp_path / "empty") == []


def test_the_same_file_twice_adds_nothing(tmp_path, put) -> None:
    path = put("1.json", CHATS)
    first, again, other = run(tmp_path, path, path, put("2.zip", packed({"3.json": CHATS})))
    assert [(report.emitted, report.duplicate) for report in (first, again, other)] == [(2, 0), (0, 2), (0, 2)]


def test_a_reader_can_be_forced_on_a_file_and_narrows_an_archive(tmp_path, put) -> None:
    (report,) = run(tmp_path, put("odd.json", b' {"chats": ["a"]}'), provider="chats")
    assert (report.recognised_as, report.emitted) == ("chats", 1)
    (page,) = run(tmp_path, put("e.zip", packed({"1.json": CHATS, "2.html": b"<chats> z"})), provider="chat page")[:1]
    assert (page.recognised_as, page.emitted) == ("chat page", 1)


@pytest.mark.parametrize("kind", ["missing", "pipe", "unreadable", "unknown", "empty"])
def test_what_cannot_be_read_is_named_and_costs_only_itself(tmp_path, put, kind: str) -> None:
    path = put("x", {"empty": b"", "unknown": b"hello", "unreadable": CHATS}.get(kind, b""))
    if kind in ("missing", "pipe"):
        path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "unreadable":
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    bad, good = run(tmp_path, path, put("good.json", CHATS))
    assert bad.error
    assert good.emitted == 2


def test_progress_only_grows_and_ends_at_the_whole(tmp_path, put) -> None:
    many = b'{"chats": [' + b",".join(b'"%d"' % n for n in range(2000)) + b"]}"
    paths = [put("1.json", many), put("2.zip", packed({"a.json": many, "x.png": PNG, "b.json": many}))]
    told = []
    run(tmp_path, *paths, progress=lambda name, done: told.append(done))
    assert told == sorted(told)
    assert told[-1] == sum(path.stat().st_size for path in paths)
    assert len(set(told)) > 5


def test_a_fault_in_a_member_costs_that_member(tmp_path, put) -> None:
    path = put("e.zip", packed({"1.json": b'{"chats": ["a", "crash"]}', "2.json": b'{"chats": ["b"]}'}))
    crashed, good = run(tmp_path, path)
    assert "failed: KeyError" in crashed.error
    assert (crashed.emitted, good.emitted) == (1, 1)
