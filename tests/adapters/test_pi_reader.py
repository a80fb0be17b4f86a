"""Promise: pi session files are recognised by their shape, never another agent's, and read whole."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.contract import HEAD_BYTES, FileHead, ReadOptions
from adapters.sessions.pi import PiReader
from tests.support.pi import HEADER, SESSION, entry, file_of, heard, image, line, message, skipped, texts, user
from tests.support.sessions import mutated

TITLE = {"type": "title", "v": 1, "title": "low water", "pad": "." * 200}
V4 = {"kind": "header", "version": 4, "id": "v4", "createdAt": 1774531333251, "cwd": "/srv"}


def recognised(content: bytes, name: str = "x.jsonl") -> bool:
    return PiReader().recognises(FileHead(Path(name), content[:HEAD_BYTES], len(content)))


@pytest.mark.parametrize(
    "content",
    [
        file_of(HEADER),
        line(HEADER),
        line(HEADER)[:-1] + b', "a": 1}\r\n',
        b"\xef\xbb\xbf" + file_of(HEADER),
        file_of({key: value for key, value in HEADER.items() if key != "version"}, user(None, None, "v1")),
        file_of(V4, {"kind": "lane", "seq": 1, "lane": "main", "leafId": None}),
        file_of({"kind": "lane", "seq": 1}, {"kind": "entry", "seq": 2, **user("u", None, "a")}),
        file_of(TITLE, HEADER),  # B10
        file_of(b"{broken", user("u", None, "a")),  # B12
        file_of(b'{"type":"session","version":3,"id"', user("u", None, "a")),
        file_of(user("u", "gone", "a")),  # B9
        file_of(b"", b"  ", HEADER),  # E3
        file_of(entry("model_change", "m", None, provider="p", modelId="m")),
        file_of(entry("custom_message", "c", None, customType="n", content="x")),
        file_of(entry("new_type", "c", None), entry("label", "l", "c", targetId="c")),
        file_of({**HEADER, "metadata": "x" * 100_000}),  # E4
        file_of({"kind": "header", "metadata": "x" * 100_000}),
        file_of(user("u", None, [image("A" * 100_000)])),
        file_of(b"{broken", user("u", None, [image("A" * 100_000)])),
    ],
)
def test_sessions_are_recognised(content: bytes) -> None:
    """All versions, with or without a header, whatever stands before it, however long its lines."""
    assert recognised(content)


CLAUDE = {
    "parentUuid": None,
    "sessionId": "s",
    "type": "user",
    "message": {"role": "user"},
    "uuid": "u",
    "timestamp": "t",
}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"words\nand more words\n",
        b"\x00\x01\x02" * 1000,
        b"[" * 100_000,
        file_of({"a": 1}, [1], 5, None),
        file_of(TITLE),
        file_of(CLAUDE),
        file_of({"type": "summary", "summary": "s", "leafUuid": "x"}, CLAUDE),
        file_of({**CLAUDE, "type": "message"}),
        file_of({"type": "queue-operation", "sessionId": "s", "timestamp": "t"}),
        file_of({"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}),
        file_of({"timestamp": "t", "type": "compaction", "payload": {}}),
        file_of({"type": "message", "role": "user", "content": [], "timestamp": "t"}),  # Codex without its envelope
        file_of({"schemaVersion": "1.0", "source": {"provider": "pi"}, "event": {"id": "x"}, "meta": {}}),
        file_of({"id": "x", "type": "message", "timestampIso": "t", "role": "user", "text": "flat"}),
        file_of({**CLAUDE, "message": {"role": "user", "content": "x" * 100_000}}),
        file_of({"timestamp": "t", "type": "response_item", "payload": {"content": "x" * 100_000}}),
        json.dumps([HEADER, user("u", None, "a")]).encode(),
        b'{"type": "session",\n "id": "pretty"}\n',
    ],
)
def test_other_files_are_not(content: bytes) -> None:
    """Claude Code, Codex, canonical events, flat events, and what is nothing at all, under a session's own name."""
    assert not recognised(content, f"2026-01-02T03-04-05-678Z_{SESSION}.jsonl")


@given(st.binary(max_size=400), st.integers(0, 1000))
def test_recognising_never_raises(start: bytes, more: int) -> None:
    assert PiReader().recognises(FileHead(Path("x"), start, len(start) + more)) in {True, False}


@given(mutated([HEADER, V4, TITLE, user("u", None, "a"), {"kind": "entry", **user("u", None, "a")}]))
def test_a_first_line_of_any_shape_costs_only_itself(value: object) -> None:
    """Whatever stands before the header, the file is still known by the lines behind it."""
    assert recognised(file_of(json.dumps(value).encode(), HEADER))


@pytest.mark.parametrize("kind", [["message"], {"name": "message"}, 5, None])
def test_a_type_that_is_no_text_does_not_hide_the_header(kind: object) -> None:
    assert recognised(file_of({**user("u", None, "a"), "type": kind}, HEADER))


def test_the_last_line_counts_without_its_newline() -> None:
    """B37, E17: a finished file ends where it ends; a file of one line is read."""
    content = file_of(HEADER) + line(user("u", None, "a"))
    assert texts(PiReader().read(io.BytesIO(content), Path("x.jsonl"), ReadOptions())) == ["a"]


def test_options_reach_the_parser() -> None:
    content = file_of(HEADER, message("developer", "d", None, content="Be brief."), user("u", "d", "a"))
    plain = list(PiReader().read(io.BytesIO(content), Path("x.jsonl"), ReadOptions()))
    assert skipped(plain) == [("hidden", "message/developer", 1)]
    asked = list(PiReader().read(io.BytesIO(content), Path("x.jsonl"), ReadOptions(account="ana", include_hidden=True)))
    assert texts(asked) == ["Be brief.", "a"]
    assert {h.thread.account for h in heard(asked)} == {"ana"}


class OneWay(io.BytesIO):
    """A member of an archive: it can only be read on."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: object) -> int:
        raise io.UnsupportedOperation("seek")


def test_a_stream_that_cannot_go_back_is_read() -> None:
    content = file_of(HEADER, user("u", None, "a"))
    (found,) = heard(PiReader().read(OneWay(content), Path("in-archive.jsonl"), ReadOptions()))
    assert found.thread.thread_id == SESSION


def test_the_files_own_time_is_the_last_to_infer_from(tmp_path: Path) -> None:
    """2.4: entry, message, header, then the file."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(file_of(HEADER, user("u", None, "a")))
    with path.open("rb") as stream:
        (found,) = heard(PiReader().read(stream, path, ReadOptions()))
    assert found.nearby == (HEADER["timestamp"], path.stat().st_mtime)
