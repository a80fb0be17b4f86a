"""The drop folder takes archives as `import` does: one file, one report, one checkpoint over all members."""

from adapters.catalogue import Catalogue
from adapters.contract import ReadOptions
from adapters.files.drop_file import MAX_ELEMENTS
from ingest.import_sinks import OutputSink
from ingest.importer import Importer
from tests.support.archives import READERS, packed
from tests.support.drops import Drop


class ArchiveDrop(Drop):
    """A drop folder whose readers are found as the daemon finds them."""

    def recognise(self, path):
        return Catalogue(READERS).recognise(path)


def chats(*words: str) -> bytes:
    return ('{"chats": [' + ", ".join(f'"{word}"' for word in words) + "]}").encode()


def test_an_archive_is_read_and_moved_with_one_report(tmp_path) -> None:
    drop = ArchiveDrop(tmp_path / "drop")
    drop.put("export.dms", packed({"b.json": chats("c", "bad"), "a.json": chats("a", "b"), "n.txt": b"hi"}))
    drop.run()
    assert drop.events == ["a", "b", "c"]
    report = drop.report("done", "export.dms")
    assert (report.recognised_as, report.seen, report.emitted, report.rejected_count) == ("ZIP archive", 4, 3, 1)
    assert "n.txt" in report.warnings[0]


def test_a_crash_goes_on_in_the_member_where_it_was(tmp_path) -> None:
    names = [[f"{member}-{number}" for number in range(MAX_ELEMENTS - 7)] for member in "abc"]
    drop = ArchiveDrop(tmp_path / "drop")
    drop.put("e.zip", packed({f"{number}.json": chats(*words) for number, words in enumerate(names)}))
    for _ in range(4):
        drop.run(stop_after=len(drop.captures) + 1)
    drop.run()
    assert drop.events == [word for words in names for word in words]
    assert drop.names("done") == ["e.zip", "e.zip.report.json"]


def test_an_archive_without_anything_known_is_set_aside_with_a_hint(tmp_path) -> None:
    drop = ArchiveDrop(tmp_path / "drop")
    drop.put("e.zip", packed({"a.png": b"\x89PNG\r\n\x1a\n\0\0"}))
    drop.run()
    assert "attachments only" in drop.report("rejected", "e.zip").error


def test_it_gives_what_import_gives_in_the_same_order(tmp_path) -> None:
    members = {
        "b.json": chats("c"),
        "a.zip": packed({"z.json": chats("d")}),
        "x/a.json": chats("a"),
        "p.html": b"<chats> q",
    }
    drop = ArchiveDrop(tmp_path / "drop")
    path = drop.put("e.zip", packed(members))
    with OutputSink(str(tmp_path / "out.jsonl")) as sink:
        list(Importer(sink, Catalogue(READERS), ReadOptions()).run([path]))
    drop.run()
    imported = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [f'"id":"{word}"' in line for word, line in zip(drop.events, imported, strict=True)] == [True] * 3
