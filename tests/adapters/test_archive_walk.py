"""What is known in a file, a folder or an archive is found in an order that is always the same; the rest is told of."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import Heard, PermanentSourceError, ReadOptions, Rejected, Warned
from adapters.files.archive_contents import Contents
from adapters.files.archive_head import is_sidecar
from adapters.files.archive_reader import ArchiveReader
from adapters.files.archive_walk import Found, walk_archive, walk_folder
from tests.support.archives import CHATS, ask, nested, packed

OUTER = Path("export.zip")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100)


def walk(raw: bytes, hears: bool = True):
    """Paths that are known, and the contents of the outermost archive."""
    names, contents = [], None
    for item in walk_archive(io.BytesIO(raw), OUTER, ask):
        if isinstance(item, Found):
            names.append(str(item.member.path.relative_to(OUTER)))
            item.heard = hears
        elif item.path == OUTER:
            contents = item
    return names, contents


def words(raw: bytes) -> list[str]:
    elements = ArchiveReader(ask).read(io.BytesIO(raw), OUTER, ReadOptions())
    return [element.event.id for element in elements if isinstance(element, Heard)]


def test_members_come_by_base_name_and_archives_inside_behind() -> None:
    raw = packed({"z/1.json": CHATS, "a/2.json": CHATS, "b/1.json": CHATS, "0.zip": packed({"0.json": CHATS})})
    names, contents = walk(raw)
    assert names == ["b/1.json", "z/1.json", "a/2.json", "0.zip/0.json"]
    assert (contents.recognised, contents.error, contents.warnings) == (4, None, [])


def test_media_are_counted_and_unknown_text_is_named() -> None:
    members = {"1.png": PNG, "photo.json": PNG, "random.dat": os.urandom(5000), "empty": b"", "note.txt": b"hello"}
    _, contents = walk(packed(members | {"chats.dms": CHATS}))
    assert contents.passed_over == {"media and other binary files": 3, "empty files": 1}
    assert contents.warnings == ["not recognised as any known kind: note.txt"]
    assert contents.error is None


SIDECARS = {
    "user_settings.json": b'{"user_id": "u", "settings": {"theme": "dark"}}',
    "shopping.json": b"[]",
    "bom.json": b"\xef\xbb\xbf{}",
    "group_chats.json": b'{"threads": [], "messages": {}}',
}


def test_json_in_which_nobody_says_anything_is_told_apart() -> None:
    """Exports have more such files each year; what may hold words is what a person should look at."""
    spoken = {
        "model_comparisons.json": b'[{"input": {"messages": [{"id": "m"}]}}]',
        "new.json": b'[{"systemPrompt": "x"}]',
        "list.json": b'{"chat_messages": [ 1 ]}',
    }
    _, contents = walk(packed({**SIDECARS, **spoken, "chats.json": CHATS}))
    assert contents.error is None
    assert contents.warnings == [
        "not recognised as any known kind: list.json, model_comparisons.json, new.json",
        "no conversations in it, as far as can be seen: bom.json, group_chats.json, shopping.json, user_settings.json",
    ]


def test_an_archive_of_sidecars_alone_is_the_wrong_one() -> None:
    _, contents = walk(packed(SIDECARS))
    assert contents.error is not None
    assert "in another part of the export" in contents.error
    assert "holds attachments only" not in contents.error


@given(st.binary(max_size=200))
def test_any_bytes_can_be_asked_about(start: bytes) -> None:
    assert not is_sidecar(b'{"messages": [1], "x": "' + start)
    assert is_sidecar(start) in (False, start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["))


def test_names_of_unknown_text_are_bounded() -> None:
    _, contents = walk(packed({f"{number:04}.txt": b"hello" for number in range(500)} | {"c": CHATS}))
    assert contents.warnings[0].endswith("0009.txt and 490 more")


def test_a_fallback_is_read_only_where_nothing_better_was_heard() -> None:
    page = {"chat.html": b"<chats> x y"}
    assert walk(packed(page | {"chats.json": CHATS}))[0] == ["chats.json"]
    assert "in a better form" in walk(packed(page | {"chats.json": CHATS}))[1].warnings[0]
    assert walk(packed(page | {"chats.json": CHATS}), hears=False)[0] == ["chats.json", "chat.html"]
    assert walk(packed(page))[0] == ["chat.html"]
    assert walk(packed(page | {"part.zip": packed({"chats.json": CHATS})}))[0] == ["part.zip/chats.json"]


@pytest.mark.parametrize(
    ("members", "hint"),
    [
        ({}, "it is empty"),
        ({"Takeout/archive_browser.html": b"<html>", "Takeout/Mail/x.mbox": b"From x"}, "Gemini Apps"),
        ({"photos/1.png": PNG}, "attachments only"),
        ({"chat.html": b"<html>hi"}, "ask for the export again as JSON"),
        ({"a.txt": b"hi"}, "see the kinds"),
        ({"deep.zip": nested(3, b"x" * 100)}, "archives inside"),
    ],
)
def test_an_archive_of_which_nothing_is_known_says_what_to_do(members, hint: str) -> None:
    _, contents = walk(packed(members))
    assert hint in contents.error


def test_an_archive_that_somebody_attached_is_no_failure() -> None:
    _, contents = walk(packed({"chats.json": CHATS, "file-1.zip": packed({"code.py": b"import os"})}))
    assert contents.error is None
    assert contents.passed_over == {"archives inside": 1}


def test_documents_of_office_programs_are_not_opened() -> None:
    _, contents = walk(packed({"chats.json": CHATS, "a.docx": packed({"[Content_Types].xml": b"<xml/>", "d": b"x"})}))
    assert contents.passed_over == {"media and other binary files": 1}


def test_a_folder_is_walked_once_whatever_links_it_has(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "1.json").write_bytes(CHATS)
    (tmp_path / "2.zip").write_bytes(packed({"3.json": CHATS}))
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    items = list(walk_folder(tmp_path, ask))
    found = [str(item.member.path.relative_to(tmp_path)) for item in items if isinstance(item, Found)]
    assert found == ["sub/1.json", "2.zip/3.json"]
    contents = items[-1]
    assert isinstance(contents, Contents)
    assert contents.error is None
    assert contents.passed_over == {"links to nowhere, pipes and devices": 2}


def test_an_archive_is_one_file_for_the_drop_folder() -> None:
    raw = packed(
        {"2.json": b'{"chats": ["c", "bad"]}', "1.json": CHATS, "3.json": b'{"chats": ["d", "crash"]}', "n": b"x"}
    )
    elements = list(ArchiveReader(ask).read(io.BytesIO(raw), OUTER, ReadOptions()))
    assert words(raw) == ["a", "b", "c", "d"]
    assert [e.reason for e in elements if isinstance(e, Rejected)] == ["bad-word", "reader-failed"]
    assert [e.message for e in elements if isinstance(e, Warned)] == ["not recognised as any known kind: n"]


def test_an_archive_without_anything_known_fails_for_the_drop_folder() -> None:
    with pytest.raises(PermanentSourceError, match="attachments only"):
        words(packed({"1.png": PNG}))
