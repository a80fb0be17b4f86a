"""Promise: a session is known by its header wherever it stands, and read without one."""

import io
from pathlib import Path

import pytest

from adapters.contract import ReadOptions
from adapters.sessions.pi import PiReader
from adapters.sessions.pi_header import MAX_HEADER_BYTES, find_header
from tests.support.pi import (
    FILE,
    HEADER,
    NAMELESS,
    SESSION,
    assistant,
    file_of,
    heard,
    parse,
    rejected,
    seen,
    skipped,
    texts,
    user,
    warned,
)

TITLE = {"type": "title", "v": 1, "title": "low water", "pad": "." * 200}


def threads(content: bytes, path: Path = FILE) -> set[tuple[str, str | None]]:
    return {(h.thread.thread_id, h.thread.workspace) for h in heard(parse(content, path))}


def read(content: bytes, path: Path = NAMELESS) -> list:
    return list(PiReader().read(io.BytesIO(content), path, ReadOptions()))


def test_the_header_names_thread_and_workspace() -> None:
    """2.9: the thread is the header's id, not the file's name."""
    assert threads(file_of({**HEADER, "id": "s1"}, user("u", None, "a"))) == {("s1", "/w")}


def test_a_header_alone_gives_nothing() -> None:
    """E1, E2: no events, no error, nothing seen."""
    assert parse(b"") == []
    assert parse(file_of(HEADER)) == []


@pytest.mark.parametrize("cwd", [None, "", "  ", 5, ["/w"]])
def test_a_session_without_a_directory_has_no_workspace(cwd: object) -> None:
    """E7: absent, not "undefined"."""
    assert threads(file_of({**HEADER, "cwd": cwd}, user("u", None, "a"))) == {(SESSION, None)}


def test_directories_that_share_a_key_are_two_workspaces() -> None:
    """B14."""
    found = [threads(file_of({**HEADER, "cwd": cwd}, user("u", None, "a"))) for cwd in ("/a/b-c", "/a-b/c")]
    assert found == [{(SESSION, "/a/b-c")}, {(SESSION, "/a-b/c")}]


@pytest.mark.parametrize("parent", ["/abs/x.jsonl", "../x.jsonl", "C:\\x.jsonl", "bare-id", 5])
def test_a_parent_session_is_never_opened(parent: object) -> None:
    """E8: it is lineage, in any form, and its target need not exist."""
    assert threads(file_of({**HEADER, "parentSession": parent}, user("u", None, "a"))) == {(SESSION, "/w")}


def test_a_title_line_before_the_header() -> None:
    """B10: the session is found, and the title is no element."""
    elements = parse(file_of(TITLE, HEADER, user("u", None, "a")), NAMELESS)
    assert (texts(elements), seen(elements), warned(elements)) == (["a"], 1, [])
    assert heard(elements)[0].thread.thread_id == SESSION


def test_another_title_changes_nothing() -> None:
    """B10, E11."""
    others = [parse(file_of({**TITLE, "title": title}, HEADER, user("u", None, "a"))) for title in ("a", "b")]
    assert [h.event for h in heard(others[0])] == [h.event for h in heard(others[1])]


@pytest.mark.parametrize("before", [b"", b"   ", b"{broken", file_of(TITLE)[:-1], b"[1]"])
def test_a_header_within_the_first_lines_is_found(before: bytes) -> None:
    """E3: blank, broken and title lines may stand before it."""
    elements = read(before + b"\n" + file_of(HEADER, user("u", None, "a")))
    assert heard(elements)[0].thread.thread_id == SESSION
    assert warned(elements) == []


def test_entries_before_the_header_belong_to_it() -> None:
    """E3: a reader of the whole file looks ahead, so that one session is one thread."""
    elements = read(file_of(user("u", None, "a"), HEADER, assistant("b", "u", "c")))
    assert {h.thread.thread_id for h in heard(elements)} == {SESSION}
    assert (skipped(elements), warned(elements), seen(elements)) == ([], [], 2)


def test_a_header_that_comes_late_takes_over() -> None:
    """E3, E9: a growing file whose header was not there yet; one warning, nothing lost."""
    elements = parse(file_of(user("u", None, "a"), HEADER, assistant("b", "u", "c")), NAMELESS)
    first, second = heard(elements)
    assert first.thread.thread_id != SESSION
    assert second.thread.thread_id == SESSION
    assert second.event.parent_message_id == "u"
    assert len(warned(elements)) == 1


def test_a_late_header_without_an_id_leaves_the_thread_as_it_is() -> None:
    elements = parse(file_of(user("u", None, "a"), {**HEADER, "id": 5}, assistant("b", "u", "c")), NAMELESS)
    assert len({h.thread.thread_id for h in heard(elements)}) == 1
    assert heard(elements)[1].thread.workspace == "/w"


def test_a_file_without_a_header_takes_the_id_in_its_name() -> None:
    """B9, E9: the part after the first underscore; one warning."""
    elements = parse(file_of(user("x", "y", "Still there?"), assistant("z", "x", "Still here.")))
    assert texts(elements) == ["Still there?", "Still here."]
    assert {h.thread.thread_id for h in heard(elements)} == {SESSION}
    assert len(warned(elements)) == 1


@pytest.mark.parametrize(
    ("name", "thread"),
    [
        ("2026-01-02T03-04-05-678Z_my_own.id-7.jsonl", "my_own.id-7"),
        ("a_b.jsonl", "b"),
    ],
)
def test_an_id_in_a_name_may_hold_underscores(name: str, thread: str) -> None:
    """2.1: custom ids."""
    assert threads(file_of(user("x", None, "a")), Path(name)) == {(thread, None)}


@pytest.mark.parametrize("name", ["notes.jsonl", "a_.jsonl", "a_-b.jsonl", "_.jsonl", "a_" + "b" * 300 + ".jsonl"])
def test_without_any_id_the_thread_comes_from_the_content(name: str) -> None:
    """E9: never from a path: copies elsewhere are the same thread, other sessions are not."""
    content = file_of(user("x", None, "a"), user("y", "x", "b"))
    (thread,) = threads(content, Path(name))
    assert threads(content, Path("/elsewhere/other.jsonl")) == {thread}
    assert threads(file_of(user("other-id", "p", "a"), user("y", "x", "b")), Path(name)) == {thread}
    assert threads(file_of(user("x", None, "c")), Path(name)) != {thread}


def test_a_broken_header_costs_itself() -> None:
    """B12: the damaged line is rejected, the entries are read as without a header."""
    elements = parse(file_of(b'{"type":"session","version":3,"id"', user("m", None, "recover me")))
    assert texts(elements) == ["recover me"]
    assert [r.reason for r in rejected(elements)] == ["invalid-json"]
    assert (len(warned(elements)), seen(elements)) == (1, 2)


@pytest.mark.parametrize("header_id", [None, "", 5, "x" * 300])
def test_a_header_without_a_usable_id(header_id: object) -> None:
    """Its directory still counts, the id comes from the name; one warning."""
    elements = parse(file_of({**HEADER, "id": header_id}, user("u", None, "a")))
    assert {(h.thread.thread_id, h.thread.workspace) for h in heard(elements)} == {(SESSION, "/w")}
    assert len(warned(elements)) == 1


def test_a_second_header_with_the_same_id_is_a_duplicate() -> None:
    """B6, E5."""
    elements = parse(file_of(HEADER, HEADER, {**HEADER, "version": 3.0}, user("u", None, "a")))
    assert skipped(elements) == [("duplicate", "header", 1)] * 2
    assert warned(elements) == []


def test_headers_of_other_sessions_do_not_take_over() -> None:
    """E5: the first is the file's identity (a fork replays its parent's); one warning, however many."""
    others = [{**HEADER, "id": f"other{n}", "cwd": "/elsewhere"} for n in range(5)]
    elements = parse(file_of(HEADER, *others, user("u", None, "a")))
    assert {(h.thread.thread_id, h.thread.workspace) for h in heard(elements)} == {(SESSION, "/w")}
    assert (len(warned(elements)), seen(elements)) == (1, 1)


@pytest.mark.parametrize("version", [1, 2, 3, 4, "3", " 2 ", 3.0, None])
def test_known_versions_need_no_word(version: object) -> None:
    """E6: also as text."""
    assert warned(parse(file_of({**HEADER, "version": version}, user("u", None, "a")))) == []


@pytest.mark.parametrize("version", [5, 0, "next", 3.5, [3], True, "x" * 10_000])
def test_an_unknown_version_is_read_with_one_warning(version: object) -> None:
    """E6."""
    elements = parse(file_of({**HEADER, "version": version}, user("u", None, "a"), user("v", "u", "b")))
    assert texts(elements) == ["a", "b"]
    assert len(warned(elements)) == 1
    assert len(warned(elements)[0]) < 200


def test_a_header_of_megabytes_is_read() -> None:
    """E4: to its newline, within bounds."""
    header = {"type": "session", "metadata": "x" * 2_000_000, "id": "s1", "cwd": "/w"}
    assert find_header(io.BytesIO(file_of(header))).session_id == "s1"
    assert threads(file_of(header, user("u", None, "a"))) == {("s1", "/w")}


def test_looking_for_a_header_is_bounded() -> None:
    """A file without newlines is not read whole to learn whose it is."""
    stream = io.BytesIO(b"x" * (2 * MAX_HEADER_BYTES))
    assert find_header(stream) is None
    assert stream.tell() <= MAX_HEADER_BYTES


def test_a_byte_order_mark_does_not_hide_the_header() -> None:
    """E17."""
    elements = read(b"\xef\xbb\xbf" + file_of(HEADER, user("u", None, "a")))
    assert heard(elements)[0].thread.thread_id == SESSION
